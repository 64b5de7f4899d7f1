"""Statements of a user's that bind without an order: a rule, a limit of one's own, a wish, a fragment that sets a bound.

Told by their build rather than their topic: a modal, a quantified subject, a word of limit.
"""

from __future__ import annotations

import re

from clew.ledger.orders import FORM


def _re(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_I = r"\b(?:i|we)"
_AM = r"\b(?:i['’]m|i\s+am|we['’]re|we\s+are)"
_SHOULD_BE_FINE = r"(?:work|do|be\s+(?:fine|ok|okay|good|enough|easy|possible|able|ready|done|there|an?|in\s+your|all|everything|straight\w*))\b"
_MODAL = _re(
    r"\b(?:must|shall)\s+(?!have\s+(?:been|\w+ed|got|gone)\b)(?:not\s+)?\w",
    rf"\bshould(?:n['’]t)?\s+(?!have\s+(?:been|\w+(?:ed|en|t))\b|{_SHOULD_BE_FINE}|i\b|we\b|it\s+be\b)(?:\w+ly\s+|not\s+|also\s+|still\s+|always\s+|never\s+|then\s+|now\s+|just\s+)*[a-z]",
    r"\b(?:ought|supposed|meant|needs?|required)\s+to\s+(?:be|stay|remain|have|look|work|match|fit|go|run|use|keep|include|support|stand|sit|live|come|end|start|load|handle|show|say|read|sound|feel)\b",
    r"\b(?:may|can)\s+(?:not|only|never)\b|\b(?:nothing|nobody|none|no\s+\w+)\s+may\b|\b(?:may|can)\s+\w+\s+.{0,40}?\bat\s+most\b|\b(?:is|are)\s+to\s+(?:be|stay|remain)\b",
    r"\b(?:gets?|takes?|has|have)\s+(?:no\s+more\s+than|at\s+(?:most|least)|exactly|precisely)\b",
)
# What the speaker can't, won't or only does.
_OWN_LIMIT = _re(
    r"\b(?:i|we|he|she|they|my\s+\w+|our\s+\w+)\s+(?:can|could)\s+only\b|\bwe\s+(?:have\s+)?agreed\s+(?:on|to|that|not)\b",
    _I
    + r"\s+(?:only|exclusively)\s+(?:use|want|need|have|eat|drink|fly|travel|work|trust|accept|buy|pay|take|support|allow|ship|deploy|read|speak)\b",
    _I
    + r"\s+(?:can['’]?t|cannot|can\s+not|won['’]t|will\s+not)\s+(?:do|make|pay|afford|spend|travel|fly|eat|drink|be|attend|accept|wait|come|use|have|take|exceed|go|allow|risk|change|break|lose|rely|depend|move|drive|work)\b(?!.{0,60}\b(?:because|since|error)\b)",
    _I
    + r"\s+(?:refuse|insist|hate|dislike|despise)\b|"
    + _I
    + r"\s+(?:don['’]?t|do\s+not)\s+(?:like|fly|eat|drink|accept|support|use|trust|allow|care\s+for|deploy|work)\b(?!\s+(?:it|this|that)\s*[.!]*$)",
    _AM
    + r"\s+(?:not\s+(?:willing|available|allowed|interested|comfortable|using|supporting|going\s+to\s+(?:use|adopt|pay|support))|allergic|only\s+(?:interested|available|looking)|vegetarian|vegan|limited|restricted|bound)\b",
    _I
    + r"\s+(?:have|need)\s+to\s+(?:be|leave|arrive|stay|finish|keep|have)\b.{0,80}?\b(?:by|before|until|at|within|no\s+later|under|in)\b",
)
_THING = r"(?:it|them|this|that|these|those|(?:the|my|our|its|their)\s+[\w'’-]+(?:\s+[\w'’/-]+){0,3})"
_WANT = (
    _I
    + r"\s*(?:['’]d|\s+would|\s+really|\s+also|\s+just|\s+only|\s+still|\s+do|\s+actually|\s+definitely|\s+think\s+i)*\s+(?:want|need|like|love|wish|hope)\s+"
)
_WISHES = _re(
    _WANT
    + r"to\s+(?:be\s+able|keep|stay|avoid|have|use|stick|limit|remain|retain|preserve|maintain|prevent|ensure|support|allow|type|sit|pay\s+(?:with|by|using)|be|only|leave\s+(?:it|this|that|them))\b(?!\s+(?:a\s+(?:look|chat)|you\b))",
    _WANT + r"(?:everything|every\s|each\s|any\s|all\s|no\s|nothing|none|both\s|only\s)",
    _WANT
    + _THING
    + r"\s+(?:to\s+(?!check|know|help)|in\s|as\s|on\s|at\s|with\b|without\b|by\s|before\s|under\s|\w+ed\b|short|small|simple|done\b|gone\b)",
    _WANT
    + r"(?:an?|the|one|two|three|\d+)\s+(?!(?:refund|question|help|favou?r|look)\b)[\w'’-]+(?:\s+[\w'’-]+){0,4}?\s+(?:for\s+(?:each|every|all)|per\s|without\b|under\s+\d|of\s+at\s+least|with\s+(?:no|only|at\s+least|one)|if\s|in\s+(?:each|every))",
    r"\b(?:i|we)\s+only\s+want\b|\bonly\s+want\s+(?:you\s+to|\w+\s+\w+\s+to)\b",
    r"^(?:i\s+)?wish\s+(?:it|this|that|they|the\s+\w+|we|there)\s+(?:could|would|did|had|was|were|didn|wasn|weren)\b",
    r"\bfe?els?\s+like\s+(?:it|this|that|we|they|the\s+\w+)\s+(?:should|needs?|ought)\b",
    r"\bit['’]?s?\s+(?:is\s+)?(?:very\s+|really\s+|also\s+)?(?:important|essential|crucial|vital|critical|imperative)\s+(?:that|to|for)\b|\b(?:important|crucial|essential)\s*:",
    _I
    + r"\s+(?:just\s+|really\s+)?(?:don['’]?t|do\s+not)\s+(?:want|need)\b|"
    + _I
    + r"(?:['’]d|\s+would)\s+(?:rather|prefer|hate|expect)\b",
    r"\b(?:would|['’]d|might)\s+be\s+(?:good|nice|great|better|best|helpful|useful|cool|ideal|preferable)\s+(?:if|to\s+(?:have|keep|be))\b",
    _I
    + r"(?:['’]ll|\s+will)\s+(?:use|pay\s+(?:with|by)|take|stick\s+(?:to|with))\s+(?!care\b|it\s+from\b|a\s+look\b)\S+\s+\S",
    r"\blet['’]?s\s+(?:stick\s+(?:to|with)|keep|stay\s+(?:with|on|in))\b",
)
_BROKEN = r"(?!.{0,80}?\b(?:works?|working|pass(?:es|ed|ing)?|fail\w*|looks?|seems?|happen\w*|crash\w*|broken?|breaks?|shows?|good|fine|green|done|gone|clear|changed|was|were|did|had|has\s+been|help\w*|went|came|left)\b)"
_STATED = _re(
    # in the present, of every one of a kind
    r"^(?:all|every\w*|each|any\w*|whatever|whoever|nobody|no\s+one|none|nothing)\b(?!\s*(?:i|we|you)\b)"
    + _BROKEN
    + r"(?=.{2,120}?\b(?:is|are|in|to|gets?|goes|go|needs?|uses?|returns?|runs?|stays?|can|may|will|ends?|starts?|begins?|lives?|belongs?|counts?|has|have|comes?|takes?|must|should)\b)\w+",
    # where things go and stay
    r"^(?!(?:it|this|that|he|she|they|i|we|you|there|the|what|which|who|when|if|then)\b)(?:[\w'’`…/.-]+\s+){1,6}?(?:goe?s?|belongs?|lives?|stays?|sits?|remains?)\s+(?:in|into|under|on|behind|next\s+to|at|with|inside|outside|below|above|as|out|within|small|short|simple|private|public)\b",
    r"(?<=[\w…`]\s)(?:stays?|remains?|belongs?)\s+(?:in|into|under|on|behind|as|out|unchanged|the\s+same|untouched|where)\b(?!.{0,60}\b(?:even|still|bug|after\s+i|when\s+i)\b)",
    # what something is held to be
    r"\b(?:is|are)\s+(?:reserved\s+for|off[\s-](?:limits|the\s+table)|out\s+of\s+(?:scope|bounds)|read[\s-]only|frozen|final|fixed|sacred|taboo|a\s+(?:must|no-go|hard\s+(?:limit|requirement))|non-negotiable|not\s+(?:negotiable|an\s+option|acceptable|up\s+for|subject\s+to)|unacceptable|in\s+(?:cents|utc|metres))\b(?!.{0,30}\berrors?\b)",
    r"\bcounts?\s+as\b|\bit(?:['’]s|\s+is)\s+(?:final|as[\s-]is)\b|\bsubject\s+to\s+(?:your\s+)?(?:feedback|change)\b|\b(?:zero|empty|null|missing)\s+(?:means|is\s+treated\s+as)\b",
    r"^(?:the\s+|my\s+|our\s+)?(?:audience|readers?|tone|style|target|goal|priority|format|language|requirement|rule|constraint|maximum|minimum|scope|preference|assumption|convention)s?\s+(?:\w+\s+)?(?:is|are|for\s+\S+\s+is)\b(?!.*\b(?:wrong|broken|unclear|ok)\b)",
    r"^(?:the\s+|my\s+|our\s+|its\s+)?(?:[\w-]+\s+){0,3}(?:window|quota|allowance|ceiling|cap|limit)\s+(?:is|of)\b.{0,20}\d|\byou\s+have\s+(?:until|an?\s+(?:hour|day|week)|\d+\s+\w+)\b",
)
# Without a verb: "No downtime during the cutover." "One commit per fix."
_FRAGMENT = _re(
    r"\b(?:nothing|none|nobody|no\s+[\w-]+)\s+(?:above|below|over|under|older|newer|later|earlier|longer|shorter|larger|bigger|smaller|more|less|beyond|but|else|except|after|before|during|outside|in|on|to|for|with|from|than)\b",
    r"^no\s+(?:new|other|extra|more|third[\s-]party|external|additional)\s+\w|^[\w\s-]{3,50}\brather\s+than\b|^at\s+least\b|^(?:short|small|simple|plain|minimal)\s+\w+,\s+no\b|^just\s+the\b|,\s+no\s+[\w-]+\W*$",
    r"\b(?:per|each)\s+\w+(?:\s+\w+)?\W*(?:please)?\W*$|\b(?:under|below|within|over|above|max(?:imum)?|at\s+most)\s+\d+\s+\w+\W*(?:please)?\W*$|\bby\s+default\W*$|\bif\s+there\s+(?:is|are)\s+(?:one|any)\b|\botherwise\b",
    r"\b(?:spelling|style|format|tone|units|notation|case|quotes|indentation|wording|voice|order|numbering|brackets|encoding)\W+please\b|\bin\s+" + FORM + r"\W+please\b",
)  # fmt: skip
_FINITE = _re(
    r"\b(?:is|are|was|were|am|been?|has|have|had|do|does|did|can|could|will|would|may|might|must|shall|should|isn|aren|wasn|weren|don|doesn|didn|won|got|gets?|says?|said|seems?|shows?|found|works?|worked|fails?|failed|happen\w*)\b",
    r"['’](?:s|re|m|ve|ll|d|t)\b",
)
_WORDS_OF_FRAGMENT = 14
# What is stated beside a complaint says what is, and not what shall be.
_COMPLAINS = _re(
    r"\b(?:is|are|was|were|looks?|seems?|comes?\s+out)\s+(?:\w+ly\s+|still\s+|all\s+|just\s+)*(?:wrong|broken|off|incorrect|failing|missing|inconsistent|buggy)\b(?!\s+(?:limits|the\s+table))"
)
# What takes it back: said by others, gone by, or asked.
_REPORTED = _re(
    r"^\W*(?:he|she|they|it|somebody|someone|people|the\s+[\w-]+(?:\s+[\w-]+)?|my\s+[\w-]+|[A-Z]\w+)\s+(?:also\s+|only\s+|just\s+)?(?:says?|said|told|tells|wrote|writes|claim(?:s|ed)|state[sd]|reads?|mention(?:s|ed)|suggest(?:s|ed)|complain\w*)\b",
    r"^\W*i\s+(?:just\s+)?(?:read|heard|was\s+told|thought|noticed|saw|tried|ran|got|reali[sz]ed|understand)\b(?!.*\bi\s+(?:don['’]?t\s+)?want\b)|^\W*(?:apparently|supposedly|according\s+to)\b",
    r"\b(?:should|must|would|could|might)(?:n['’]t|\s+not)?\s+have\s+(?:been\b|got\b|gone\b|had\b|\w+(?:ed|en)\b)|\bused\s+to\s+(?:have|be|do)\b",
)
_QUERY = _re(
    r"^\W*(?:(?:so|and|but|ok(?:ay)?|also|hmm+|wait|well|then|or)[\s,]+)*(?:why|what|which|who|whom|whose|where|how|is|are|was|were|do|does|did|am|has|have|had|should|shall|isn['’]?t|aren['’]?t|doesn['’]?t|didn['’]?t|don['’]t\s+(?:we|you|i)|can|could|would|will|may)\b"
)


def reported(said: str) -> bool:
    """Whether it hands on what others said or what was, without making it an order."""
    return _REPORTED.search(said) is not None


def rules(plain: str) -> bool:
    """Whether it lays down a rule or a limit."""
    if any(p.search(plain) is not None for p in (_MODAL, _OWN_LIMIT)) or _verbless(plain):
        return True
    return _STATED.search(plain) is not None and _COMPLAINS.search(plain) is None


def wishes(plain: str) -> bool:
    """Whether it says what its speaker wants of the result."""
    return _WISHES.search(plain) is not None


def queries(plain: str) -> bool:
    """Whether it is put as a question, with or without its mark."""
    return _QUERY.match(plain) is not None


def _verbless(plain: str) -> bool:
    """A fragment that sets a bound."""
    return (
        len(plain.split()) <= _WORDS_OF_FRAGMENT
        and _FRAGMENT.search(plain) is not None
        and _FINITE.search(plain) is None
    )
