"""Decisions: choices made, ways turned down and causes found, with their reasons; options that are only laid out are none."""

from __future__ import annotations

import re

from clew.ledger.facts import Decision
from clew.ledger.reasons import aloud, cause, choice, fallback, listed
from clew.ledger.sentences import sentences, unquoted
from clew.ledger.settled import abroad, announces, settles

_LONGEST, _SHORTEST = 500, 8
_LONGEST_PASTE = 4_000  # characters of a user message up to which its sentences are taken for the user's own choices
_WILL = r"(?:i['’]?ll|i\s+will|i['’]?m\s+going\s+to|i\s+am\s+going\s+to|we['’]?ll|we\s+will|let['’]?s)"
_ADVERB = r"(?:\s+(?:now|just|also|therefore|instead|simply|then|first))*"
# To choose one of these ways is a decision as it stands; to do any other thing is one if a reason stands by.
_CHANGE = (
    r"(?:use|switch|go\s+(?:with|for)|keep|stick|replace|adopt|treat|introduce|drop|skip|store|split|refactor|rename"
    r"|convert|reuse|leave|avoid|buffer|fall\s+back|default|proceed\s+with(?!\s+(?:check|look|verif|search|review|test))|target|pin|cache|inline|merge|rebase|cancel|upgrade|downgrade|refund|book)"
)
_WHY = r"\b(?:because|since|so\s+that|so\s+(?:it|the|we|that|this|recording)|instead|rather\s+than|to\s+(?:avoid|match|keep|prevent|ensure|allow|support|preserve)|which\s+(?:keeps|avoids|makes|is|means)|for\s+(?:\w+\s+)?(?:consistency|clarity|simplicity|compatibility|safety|performance|parity|readability|robustness|reliability|correctness))\b"
_COMMITS = re.compile(
    rf"\b{_WILL}{_ADVERB}\s+{_CHANGE}\b(?!\s+(?:a\s+(?:look|temp\w*)|another\s+look|sure|back|through|ahead\s+and\s+(?:check|run|look)))"
    rf"|\b{_WILL}{_ADVERB}\s+(?:add|put|move|place|extract)\s+(?!.{{0,30}}\b(?:tests?|cases?|entry|import|print)\b).{{2,80}}?\s(?:to|into|in|under)\s+(?:the\s+)?…"
    r"|\blet\s+me\s+(?:move|switch|keep|revert|convert|rename|drop|split|merge)\b.{2,80}?\s(?:to|into|out|with|from|instead)\b(?!\s+the\s+(?:start|top|next)\b)"
    rf"|\b(?:i['’]?m|i\s+am)\s+going\s+to\s+(?!need|check|look|run|test|verify|read|see|search|try|investigate|start)\w+"
    rf"|\b(?:{_WILL}|let\s+me|i['’]?m|i\s+am)\s+(?:\w+\s+){{1,2}}?.{{0,160}}?{_WHY}",
    re.IGNORECASE,
)
_BY_HAND = re.compile(
    r"\buse\s+.{1,60}?\s+to\s+(?:insert|replace|do\s+the\s+\w+|remove|modify|edit|construct|write|append|patch|apply|find|search|check|make\s+the)\b"
    r"|^\W*(?:now\s+)?(?:run|check|verify|look)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    rf"\b(?:{_WILL}|let\s+me|i['’]?m|i\s+am)\s+(?:\w+ly\s+|also\s+|now\s+|just\s+|first\s+|going\s+to\s+)*(?:check|look|see|verify|run|re-?run|read|find|search|explore|understand|investigate|trace|test|review|examine|inspect"
    r"|fetch|get|start|begin|try|confirm|view|open|list|map|scan|analy[sz]e|dig|figure|think|wait|ask|summari[sz]e|show|double[- ]check|need|do|call|spawn|launch|set\s+up|hold|commit|push|validate|isolate|format|sweep|pull|request|committing|pushing|requesting|formatting|pulling|sweeping|validating|isolating|resolving|waiting|re-?running|starting|fetching|inspecting|tracing|opening|searching|refreshing|comparing|checking|looking|running|reading|verifying|testing|reviewing|doing|going\s+to\s+(?:check|verify|run|test|look))\b",
    re.IGNORECASE,
)
_CHOSE = re.compile(
    r"\b(?:decided\s+(?:to|on|that)|going\s+with|went\s+with|opted\s+(?:for|to)|settled\s+on|(?:i|we)\s+(?:chose|picked)|chose\s+to|chosen\s+(?:approach|option))\b"
    r"|\bdecision\b[*_]*\s*:|\brecommend(?:ation)?\b[*_]*\s*(?::|is\b)|\bi(?:['’]d|\s+would)?\s+(?:recommend|suggest)\b|\bi(?:['’]d|\s+would)\s+(?:use|pick|choose|go\s+(?:with|for)|keep|prefer|avoid|aim\s+for)\b"
    r"|\b(?:best|better|proper|correct|right|simplest|cleanest|safest|real)\s+(?:\w+\s+)?(?:fix|solution|approach|plan|way|option)\s+(?:\w+\s+){0,3}?(?:is|was|would\s+be|will\s+be)\b"
    r"|\bthe\s+(?:\w+\s+)?fix\s*[*_]*\s*(?:is|was|should\s+be)\b(?!\s+(?:complete|done|in|ready|working|correct|right|now)\b)|^\W*(?:the\s+)?(?:\w+\s+)?fix\s*[*_]*\s*:|^\W*fix\s+is\s|^\W*(?:\w+ing\b.*|it\s+)makes\s+(?:the\s+most\s+|more\s+)?sense\b|\b(?:so|therefore|thus),?\s+(?:i|we)\s+(?:should|must)\b(?!\s+(?:have|insert|check|look|verify|find|see))"
    r"|\bi\s+need\s+to\s+change\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\broot\s+cause\b(?!\s+(?:of\s+)?(?:unknown|unclear))|\b(?:the|this)\s+(?:actual\s+|real\s+|underlying\s+|core\s+|main\s+|only\s+)?(?:cause|culprit|problem|issue|bug|error|failure|reason)\s*(?:\w+\s+){0,3}?(?:is|was|are|comes|came|stems|lies|happens(?!\s+when)|occurs(?!\s+when))\b(?!\s+(?:about|not\s+clear|unclear|now|fixed|gone|resolved|confirmed|likely\s+to))"
    r"|\bi\s+see\s+(?:the\s+)?(?:issue|problem|what\s+\w+(?:\s+\w+)?)\s*(?:[:,;—–-]|\bwith\b|\bin\b|\bis\b)\s*\S+\s+\S+|\bfound\s+(?:the\s+)?(?:it|issue|bug|problem|cause|culprit|root)\b\s*(?:[:!—–-]|in\b)\s*\S"
    r"|\b(?:fail(?:s|ed|ing)?|br(?:oke|eaks|oken)|crash(?:es|ed)|happen(?:s|ed)|error(?:s|ed)|hangs?|panics?|occur(?:s|red))\b.{0,80}?\b(?:because|due\s+to|since)\b|^\W*this\s+(?:only\s+)?happens\s+when\b"
    r"|\b(?:is|was|are|were)\s+(?:caused\s+by|due\s+to|because)\b|\b(?:that|this|which)['’]?s?\s+(?:is\s+)?why\b|\bturns\s+out\b|\bexposed\s+an?\b|\bonly\s+happens?\s+when\b|\bthe\s+(?:bug|culprit|catch)\s*[*_]*\s*:"
    r"|\b(?:looks|seems)\s+like\s+i\b|\bi\s+(?:accidentally|mistakenly|forgot)\b|^\W*this\s+is\s+(?:in|because|caused)\s+\S+|\b(?:confirms|proves)\s+(?:that\b|…\s+\w+s\b)|\b(?:this|that|which)\s+explains\s+(?:why|the)\b|^\W*(?:the|this|your|our|…|it)\b[^!]*(?:n['’]t|\bnot|\bnever)\s[^!]*!\W*$"
    r"|\b(?:pre-?existing|unrelated)\b.{0,60}\b(?:issue|failure|to\s+(?:my|our|these|this))\b|\b(?:my|our|these)\s+changes?\b.{0,30}\bunrelated\b",
    re.IGNORECASE,
)
_YES = (
    r"(?:(?:ok(?:ay)?|yes|yeah|yep|yup|sure|right|alright|good|great|cool|perfect|thanks|no|so|hmm|please)[,.!:]?\s+)*"
)
_USER_CHOICE = re.compile(
    rf"^\W*{_YES}(?:let['’]?s\s+(?!see|check|look|test|review|discuss|think|commit|push|run|talk|find|debug|investigate|say|continue|wait|get\b|please|go\W*$|try\s+again|write|create|open|start(?!\s+with)|begin|update|document|publish|move\s+on|clean)[a-z]{{2,}}"
    r"|(?:do|go\s+with|take|pick|use|choose|implement)\s+(?:option\s+)?(?:#?\d+\b|[A-D]\b|option\b|both\b|the\s+(?:first|second|third|last|latter|former)\b)"
    r"|go\s+(?:with|for)\b|option\s+(?:\d|[a-d])\b|we(?:['’]ll|\s+will)?\s+(?:go\s+with|use|decided)\b|i(?:['’]ve)?\s+(?:decided|chose|choose|pick)\b)"
    r"|^\W*(?:(?:ok(?:ay)?|yes|yeah|yep|sure)[,.!:]?\s+)+(?:please\s+)?(?:go\s+ahead|proceed|do\s+(?:it|that|this|so|both|all|option|\d)|cancel|book|start\s+implementing|upgrade|downgrade|refund|use)\b"
    r"|^\W*(?:please\s+)?go\s+ahead\s+(?:with|and)\b"
    r"|\b(?:i|we)\s+(?:really\s+)?(?:don['’]?t|do\s+not)\s+(?:really\s+)?think\b.{1,80}?\b(?:is|are|should|needs?|makes?|worth|right|works?)\b|\b(?:i|we)\s+(?:really\s+)?want\s+to\s+(?:use|go\s+with|keep|take|stick\s+(?:to|with))\b"
    r"|\b(?:out\s+of\s+scope|future\s+consideration|not\s+right\s+now|leave\s+(?:it|that|this)\s+for\s+later)\b"
    r"|\bi['’]?m\s+(?:fine|ok(?:ay)?|happy|good)\s+(?:with\s+)?\w+ing\b|\bso\s+(?:we|you|it)\s+(?:don['’]?t|do\s+not)\s+need\b|\bi\s+want\s+.{3,100}?(?:,\s*not\b|\bbecause\b|\binstead\s+of\b|\brather\s+than\b)"
    r"|\bi(?:['’]?d|\s+would)\s+(?:rather|prefere?|(?:like\s+to\s+)?(?:look\s+at|go\s+with|use|keep))\b|\bi\s+(?:actually\s+|really\s+)?prefer\b|\b(?:i\s+)?decided\s+to\b|\bgoing\s+with\b",
    re.IGNORECASE,
)
_TURNED_DOWN = re.compile(
    r"\b(?:discarded|dismissed|considered\s+but|could\s+(?:also\s+)?(?:use|go\s+with)|alternatively|one\s+option|another\s+option|option\s+[a-z\d]\s*:|might\s+be|could\s+be"
    r"|would\s+you\s+like|do\s+you\s+want|should\s+(?:i|we)\b|if\s+(?:you|we)\s+(?:want|prefer|go|like|need))\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|possibly|likely|otherwise|hypothesis|assume|i\s+(?:guess|wonder|suspect)|not\s+sure|let['’]?s\s+say)\b|\bwhy\s+(?:did|does|is|was)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:\bbecause\b|\bsince\b|\bso\s+that\b|\bin\s+order\s+to\b|\bto\s+(?:avoid|match|prevent)\b|\bdue\s+to\b|\bweil\b|\bdamit\b|\bparce\s+que\b|\bporque\b|因为|なので|ため)\s*(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_THOUGHT = re.compile(r"^(?:THOUGHT|Thought|Reasoning|Plan)\s*:\s*")
_IF = re.compile(
    r"^\W*(?:but\s+|and\s+|so\s+)?(?:if|what\s+(?:if|about)|suppose|assuming)\b|^\W*(?:now\s+)?(?:let['’]?s|i['’]?ll|i\s+will)\s+(?:\w+\s+){0,2}(?:implement|apply|fix)\s+(?:the|this|that|it)(?:\s+(?:fix|issue|bug|it))?[.!:]*$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:make|do|add|apply|implement|use)\s+(?:the|these|those|this|that|it|them|my)(?:\s+\w+)?(?:\s+now)?\s*[.:!]*$",
    re.IGNORECASE,
)
_FEWEST = 4  # words under which a sentence says too little to be a decision ("I see the issue.")
_SCAFFOLD = re.compile(
    r"\b(?:debug\w*|logging|log\s+lines?|prints?\s+(?:at|in|to|before|after)|print\s+statements?|lines?\s+\d+|replace\s+(?:the|these)\s+lines?|syntax\s+error|placeholder|for\s+now|this\s+change)\b"
    r"|`?\bsed\b|\b(?:before|after)\s+\d+|\bagain\b"
    r"|\b(?:revert|re-?apply|apply|undo)\s+(?:the|this|that|my|these|changes?|`)",
    re.IGNORECASE,
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_GIVEN = re.compile(r"\b(?:because|since)\b", re.IGNORECASE)
_AT_ONCE = 6  # characters within which a sentence begins with a look at something
_LEAD_IN = 6  # words under which a sentence that ends in a colon only leads in what follows
_WORDS = re.compile(r"\w+\W+\w+")


class Decisions:
    """The decisions of one conversation, each once, in the order they were made."""

    def __init__(self) -> None:
        self.facts: list[Decision] = []
        self._known: set[str] = set()

    def user(self, position: int, text: str) -> None:
        if len(text) > _LONGEST_PASTE:
            return
        for sentence in sentences(text):
            said = unquoted(sentence) if len(sentence) <= _LONGEST else ""
            if _USER_CHOICE.search(said) and not _asks(said) and _WORDS.search(said):
                self._add(sentence, position)

    def answered(self, position: int, text: str) -> None:
        """A question of the agent's with the user's answer."""
        self._add(text[:_LONGEST], position)

    def assistant(self, position: int, text: str) -> None:
        settled, thinking, led_in = listed(text), text.startswith("THOUGHT") or aloud(text), False
        for sentence in sentences(text):
            if len(sentence) > _LONGEST:
                continue
            said = _THOUGHT.sub("", unquoted(sentence))
            long = len(said.split()) >= _FEWEST or _UNSPACED.search(said) is not None
            told = led_in and long and states(said)
            if sentence in settled or told or (long and decided(said, thinking=thinking)):
                self._add(_THOUGHT.sub("", sentence), position)
            led_in = not thinking and announces(said)

    def _add(self, sentence: str, position: int) -> None:
        plain = " ".join(sentence.lower().split())
        if not _SHORTEST <= len(sentence) <= _LONGEST or plain in self._known:
            return
        self._known.add(plain)
        reason = _REASON.search(sentence)
        self.facts.append(Decision(sentence, position, reason[1].strip() if reason is not None else ""))


def decided(said: str, *, thinking: bool = False) -> bool:
    """Whether an agent's sentence, quotations blanked out, states a choice or a cause."""
    if _asks(said) or said.startswith("|") or _TURNED_DOWN.search(said) is not None:
        return False
    if said.rstrip(" *_").endswith((":", "：")) and len(said.split()) < _LEAD_IN:
        return False
    if _IF.match(said) is not None:
        return fallback(said)
    looks = _LOOKS.search(said)
    if looks is not None and looks.start() <= _AT_ONCE:
        return _CAUSE.search(said[looks.end() :]) is not None and not thinking and _UNSURE.search(said) is None
    by_hand = looks is not None or _BY_HAND.search(said) is not None
    if not by_hand and not thinking and choice(said):
        return True
    if _UNSURE.search(said) is not None:
        return False
    if any(p.search(said) is not None for p in (_CAUSE, _CHOSE)) or abroad(said):
        return True
    if by_hand:
        return False
    if not thinking and settles(said):
        return True
    if cause(said, thinking=thinking) or choice(said):
        return True
    return (
        (_GIVEN if thinking else _COMMITS).search(said) is not None
        and _COMMITS.search(said) is not None
        and (_SCAFFOLD.search(said) is None or _GIVEN.search(said) is not None)
        and _VAGUE.search(said) is None
    )


def states(said: str) -> bool:
    """Whether it states anything, rather than asks or goes to look."""
    return not _asks(said) and _LOOKS.search(said) is None and _UNSURE.search(said) is None


def _asks(said: str) -> bool:
    return said.rstrip(" *_\"')").endswith(("?", "？"))
