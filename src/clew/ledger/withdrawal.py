"""Taking back: how a user ends a request, the newest one or the one that is named; and thanks, which ask for nothing."""

from __future__ import annotations

import re

from clew.ledger import topics

_LEAD = r"\A\W*(?:(?:ok(?:ay)?|no|wait|actually|please|hmm|oh|sorry|hold on|so|but|and|also)[,.!]*\s+)*"
# Words that end whatever is open. What follows may be a new request, or name what is meant: that is looked at apart.
_STOPS = re.compile(
    _LEAD
    + r"(?P<verb>stop(?: (?:it|that|this|now|there|please|here|everything))?(?! \w+ing\b)|never ?mind|forget (?:it|that|this|about (?:it|that|this))"
    r"|scrap (?:it|that|this)|abort(?: (?:it|that|this))?|drop (?:it|that|this)|cancel(?: (?:it|that|this|everything))?"
    r"|don'?t (?:do (?:it|that|this)|bother)|leave it(?: (?:as is|be))?|no need(?! (?:to|for)\b)"
    r"|(?:ignore|disregard) (?:that|this|it|(?:my |the )?(?:last|previous) (?:message|request|one|question))"
    r"|undo(?: (?:it|that|this|everything|the last|your|all|these|those))?"
    r"|roll(?: (?:it|that|this|everything))? ?back(?: (?:it|that|this|everything|the|your|all))?"
    r"|revert(?: (?:it|that|this|everything|the last|your|all|these|those))?"
    r"|stopp|halt|abbrechen|vergiss (?:es|das)|lass (?:es|das)|mach(?:e)? das rückgängig|arrête|laisse tomber|annule(?: ça)?"
    r"|para|olvídalo|déjalo|deshaz(?: eso)?|停(?:止|下)?|算了|不用了|撤销|取消|回滚|止めて|やめて|キャンセル|元に戻して|中止)"
    r"(?=\W|\Z)",
    re.IGNORECASE,
)
_BACK = re.compile(r"undo|roll|revert|rückgängig|annule|deshaz|撤销|回滚|元に戻", re.IGNORECASE)
_NEWEST = re.compile(r"\b(?:last|previous)\b", re.IGNORECASE)
_OBJECT = re.compile(r"\A\s+(?:the |my |reservation|order|booking|subscription|flight|[A-Z0-9]{5,})")
# "Don't add the cache": its verb must be the request's own. "Forget the cache": its object must be the request's.
_NOT_DO = re.compile(
    _LEAD
    + r"(?:do not|don['’]?t|no need to|you (?:don['’]t|do not|needn['’]t) (?:need|have) to)\s+(?P<what>[^,;.!?]{3,60})",
    re.IGNORECASE,
)
_NOT_IT = re.compile(
    _LEAD + r"(?:forget(?: about)?|skip|scrap|drop|never ?mind|leave out|no need for)\s+(?P<what>[^,;.!?]{3,60})",
    re.IGNORECASE,
)
_REST = re.compile(
    r"\b(?:for now|any ?more|now|after all|yet|either|instead|then|please|actually|the|a|an|that|this)\b", re.IGNORECASE
)
_POLITE = re.compile(
    r"\A\W*(?:(?:can|could|would|will) you|please|also|and|then|ok(?:ay)?|now|let['’]?s|i (?:want|need) you to)[,\s]+",
    re.IGNORECASE,
)
_ONE_THING = 160  # characters up to which a request is of one thing that its object stands for
_THANKS = re.compile(
    r"\A\W*(?:(?:ok(?:ay)?|great|nice|perfect|awesome|cool|wow|excellent|amazing|brilliant|lovely|good job|well done|lgtm|looks? (?:good|great)|love it|many|very|much|so|a lot|again|man|mate|dude|you too|for (?:your|the|all your) (?:help|patience|time|support)|that['’]?s all(?: (?:i (?:needed|need)|for now))?|talk soon|bye|goodbye|have a (?:great|nice|good|wonderful|lovely) (?:day|one|evening|weekend)|#{3}STOP#{3}"
    r"|thanks?(?: you)?|thx|ty|cheers|merci|danke(?: schön)?|vielen dank|gracias|obrigad[oa]|谢谢|多谢|ありがとう(?:ございます)?)[\s,.!！。…👍🙏🎉❤️😊🙂:)]*)+\Z",
    re.IGNORECASE,
)
_THANKING = re.compile(
    r"thank|thx|\bty\b|cheers|merci|dank|gracias|obrigad|谢|ありがとう|job|well done|awesome|amazing|excellent|love it|lovely|brilliant|wow",
    re.IGNORECASE,
)


def stop(text: str) -> tuple[str, str] | None:
    """The words with which a message ends what is open, and what follows them; None where it doesn't."""
    found = _STOPS.match(text)
    rest = text[found.end() :] if found is not None else ""
    return None if found is None or _OBJECT.match(rest) is not None else (found["verb"], rest)


def goes_back(verb: str) -> bool:
    """Whether it asks for work to be undone, which is a request of its own."""
    return _BACK.match(verb) is not None


def newest_only(verb: str) -> bool:
    return _NEWEST.search(verb) is not None


def names(text: str, request: str) -> bool:
    """Whether a message takes back this very request by naming it."""
    found = _NOT_DO.match(text)
    if found is not None:
        said, asked = _verb(found["what"]), _verb(request)
        return bool(said) and said == asked and _words(found["what"]) <= topics.words(request)
    found = _NOT_IT.match(text)
    what = _words(found["what"]) if found is not None else frozenset()
    return bool(what) and len(request) <= _ONE_THING and what <= topics.words(request)


def thanks(text: str) -> bool:
    """Whether it only thanks or praises."""
    return len(text) <= _ONE_THING and _THANKING.search(text) is not None and _THANKS.match(text) is not None


def _words(what: str) -> frozenset[str]:
    return topics.words(_REST.sub(" ", what))


def _verb(text: str) -> str:
    """The first word of an order, without what is said in front of it out of politeness."""
    while (polite := _POLITE.match(text)) is not None:
        text = text[polite.end() :]
    first = re.match(r"\W*([^\W\d_]{2,})", text)
    return first[1].lower() if first is not None else ""
