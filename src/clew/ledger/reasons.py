"""What tells a choice or a cause from a tale of next steps: a sentence's build, not its topic.

A cause joins a trouble to its reason; a contrast names what was taken and what was not; a verdict weighs one way against
others; a refusal says what won't be done; and under a heading such as "Design decisions" each item is one.
"""

from __future__ import annotations

import re
from itertools import islice

from clew.ledger.sentences import LONGEST, sentences

_JOINS = re.compile(
    r"\b(?:because|due\s+to|caused\s+by|as\s+a\s+result|therefore|hence|which\s+(?:means|is\s+why|causes?|caused))\b"
    r"|\bsince\b(?!\s+(?:the\s+)?(?:last|then|start|v?\d|yesterday|my\s+last))|[,;—–]\s*so\b(?!\s+(?:that\s+)?(?:i|we|let|you)\b)",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(?:not|never|no\s+longer|without|cannot|fail\w*|wrong\w*|miss(?:ing|ed|es)|stale|outdated|brok\w+|breaks?|los[te]s?|early|instead|only"
    r"|conflict\w*|errors?|bugs?|buggy|ignor\w+|overwr\w+|drop(?:s|ped)|skip(?:s|ped)|stuck|hangs?|empty|incorrect\w*|mismatch\w*|invalid|crash\w*|leak\w*"
    r"|strip(?:s|ped)|deletes?|nil|null|undefined|duplicat\w+|clobber\w*|regress\w*|unused|nothing)\b|n['’]t\b",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:was|were|didn['’]?t|\w{3,}ed)\b.{0,120}?\b(?:because|due\s+to)\b", re.IGNORECASE | re.DOTALL
)
_ADDRESSED = re.compile(
    r"\b(?:you|users?|people|anyone)\s*(?:['’]ll|['’]re|['’]d)?\s+(?:\w+\s+)?(?:won|can|will|may|would|don|should|could|see|have|want|need|get|edit|run|had|customi[sz]e)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"^\W*(?:instead\s+of|rather\s+than)\b.{3,160}?,|^\W*[A-Z][a-z]+\s+(?:the|an?|to|from|into|in|on|it|them|this|that|all|only|both|[*_]*…).*\binstead\W*$|\b(?:us(?:e|es|ed|ing)|now|compar\w+|updat\w+|chang\w+|replac\w+|switch\w+|keep\w*|kept|mov(?:e|es|ed|ing)|reus\w+|ma[dk]e\w*|making|pass\w*|add(?:s|ed|ing)?|stor\w+|takes?|taking|let\s+me|squash\w*|fix\w*|split\w*|wrap\w*|\w{3,}ed|\w{3,}s|spun|left|put|set|live)\b.*"
    r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|in\s+favou?r\s+of)\b",
    re.IGNORECASE | re.DOTALL,
)
_NOT_THAT = re.compile(
    r"\b(?:us(?:e|es|ing)|keep\w*|liv(?:e|es)|put|mov(?:e|ing)|ma[dk]e|making|split\w*|goes|belongs?|anchor\w*|as\s+the)\b.{2,80}?[\w…`'’*_]+,\s+not\s+(?!only\b|just\b|yet\b|sure\b|that\b|because\b|even\b|to\s+mention)\S+"
    r"|^\W*what\s+(?:\w+\s+){1,2}(?:is|was)\b.*?,\s*not\b",
    re.IGNORECASE | re.DOTALL,
)
_SUPPOSES = re.compile(r"\b(?:should(?:n['’]t)?|would|could|might|may|usually|wait|if|can['’]t)\b", re.IGNORECASE)
_GUESSES = re.compile(r"\b(?:could|might|may|usually|wait|can['’]t|bet)\b", re.IGNORECASE)
_ALOUD = re.compile(
    r"^\W*(?:wait|but\s+wait|maybe|hmm+|what\s+if|if|so\s+if|actually|let['’]s\s+(?:check|look|see|try))\b",
    re.IGNORECASE | re.MULTILINE,
)
_TURNS = 3  # turns of thought from which a message thinks aloud
_GOOD = r"(?:clean|simpl|bett|best|saf|right|correct|practical|preferr|preferab|cheap|nic|fast|easi|sens|good|enough|sufficient|sound|robust|reasonabl)\w*"
_WEIGHS = re.compile(
    rf"\b(?:option|approach|choice|plan|way|route|solution|alternative|variant|design)s?\s*[#(]?(?:\d+|[a-d]\b)?[)\s]*(?:\([^)]*\)\s*)?(?:\w+\s+)?(?:is|are|seems?|looks?|makes?|would\s+be|feels?)\s+(?:\w+\s+){{0,3}}?{_GOOD}\b"
    rf"|^\W*[A-D1-4]\s+is\s+(?:\w+\s+)?{_GOOD}\b|\b(?:cleaner|simpler|cheaper|safer|easier|better)\s+than\b|\b(?:is|are)\s+(?:cleaner|simpler|cheaper|safer|easier)\s+(?:here|for)\b|\bi(?:['’]d|\s+would)?\s+lean\b|\bmy\s+(?:vote|preference|pick|choice|recommendation)\b"
    r"|\bthe\s+only\s+(?:[\w-]+\s+)?(?:way|option|fix|choice|place\s+(?:that|where|to))\b|\b(?:is|are)\s+(?:not\s+)?worth\s+\w+ing\b|\b(?:is|are)\s+(?:already\s+)?decided\b"
    r"|\b(?:deliberately|intentionally|on\s+purpose|by\s+design)\b|^\W*(?:the\s+)?(?:trade-?off|choice|call|decision)\s+(?:i|we)\s+made\b"
    r"|\bnow\s+(?:falls?\s+back|lives?|owns?|belongs?|defaults?)\b|\bstays?\s+(?:as|in|on|out)\b"
    r"|^\W*(?:fixed|solved|resolved|addressed|redesigned|handled)\s+(?:it\s+|this\s+|that\s+)?(?:by|with|via)\b"
    r"|\bshould\s+(?:\w+ly\s+)?(?:be|live|stay|sit|belong|happen)\s+(?:\w+ly\s+)?(?:in|inside|under|handled|kept|part|left|owned|treated)\b",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"\bso\s+(?:that\s+)?(?:i|we|it|they|nothing|(?:the\s+)?[\w-]+)\s+(?:do(?:es)?n['’]t|do(?:es)?\s+not|won['’]t|will\s+not|can\s+never|stays?|keeps?|remains?|never)\b"
    r"|\b(?:per|following)\s+(?:your|our|(?:the\s+)?(?:rules?|plan|spec|agreed|reviewed|existing|same|convention))\b|\bas\s+(?:asked|agreed|requested|decided|planned|discussed)\b"
    r"|\b(?:after|before|for|at)\s+(?:each|every)\b.{0,60}?\bi(?:['’]ll|\s+will)\b"
    r"|\bsince\b.{5,120},.{2,80}\b(?:gives|lets|allows|suffices|is\s+enough)\b"
    r"|\bno\s+(?:[\w-]+\s+){1,4}(?:needed|required|necessary)\b.{0,20}(?:[—–]|\bbecause\b|\bsince\b)"
    r"|\bi['’]m\s+(?:now\s+)?(?:making|keeping|switching|replacing|simplifying|moving|reverting|reusing|splitting|dropping|using|treating|adding|taking|turning|framing|squashing|leaving|extracting|renaming|introducing|avoiding|deferring)\b.{2,160}?\b(?:to|as|into|with|at|instead|before|so|rather)\b"
    r"|\bi\s+would\s+(?:not\s+|also\s+|still\s+)*(?!not\b|also\b|still\b|need|be\b|have\b|like\b|love\b|say\b|guess|expect|want\b|know|assume|think\b|see\b|hope|imagine|ask\b)\w{3,}|\bi['’]d\s+(?:continue|start|reuse|rewrite|split|defer|ship|build|leave|treat|model|drop|skip|take|adopt|switch|merge|rely|extract)\b",
    re.IGNORECASE | re.DOTALL,
)
_FALLS_BACK = re.compile(
    r",\s*(?:then\s+)?(?:i|we)(?:['’]ll|\s+will)\s+(?:switch|fall\s+back|drop|default|use|reject|support|keep|skip)\b",
    re.IGNORECASE,
)
_SPELT = re.compile(
    r":[*_\s]*(?:yes|no|defer\w*|skip(?:ped)?|later|out\s+of\s+scope|not\s+now|decided)\b[*_]*(?:[,.;—–]|\s+for\s+now|$)",
    re.IGNORECASE,
)
# An order in the agent's own plan: what it keeps, leaves out or forbids itself.
_RULES = re.compile(
    r"^[\s*_-]*(?:must(?:\s+not)?|do\s+not|don['’]t|never|avoid|keep|reuse|rely\s+on|rewrite|defer|drop|stick\s+(?:to|with)|leave|prefer|reject)\s+(?!in\s+mind\b|an?\s+eye\b|going\b|you\b|worry\b|forget\b|hesitate\b)"
    r"(?=.*(?:…|\b(?:unless|but|instead|stays?)\b))\S+\s+\S+\s+\S+",
    re.IGNORECASE | re.DOTALL,
)
_VERDICT = re.compile(
    r"^\W*(?:(?:the|my|our|best|better|recommended|chosen|proposed|preferred|final|cleane?r?|cleanest|simplest|actual|real|right|correct)\s+)+"
    r"(?:solution|approach|fix|option|way|design|choice|plan|call)\b[^:.]{0,20}[:—–-]\W*\w|^\W*(?:verdict|conclusion|decision|resolution|recommendation|rationale)\b[^:.]{0,20}[:—–]\W*\w",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:i|we)\s+(?:won['’]?t|will\s+not|would\s+not|wouldn['’]?t|am\s+not\s+going\s+to|are\s+not\s+going\s+to)\s+(?!be\b|know|see\b|have\b|get\b|need\b)\w+|\bi['’]m\s+not\s+going\s+to\s+\w+"
    r"|\b(?:i|we|was|were|is|are|been)\s+(?:rejected|ruled\s+out)\b|^\W*(?:rejected|ruled\s+out)\b|\b(?:decided\s+against|not\s+worth)\b",
    re.IGNORECASE,
)
_BLAMES = re.compile(
    r"\b(?:the|these|those|this|all|both)\s+(?:[\w`./-]+\s+){0,3}(?:errors?|failures?|warnings?|diagnostics?|crash(?:es)?|differences?|breakage|regressions?)\s+"
    r"(?:is|are|was|were|comes?|came|stems?)\s+(?:(?:just|only|all|simply|actually|really|coming)\s+)*(?:(?:in|from|because|due|an?|the|expected|that|pre-existing|caused|unrelated|config\w*|harmless|false)\b|not\s+(?:in|from|ours|caused|related|due|a\b))"
    r"|\b(?:is|are|was|were)\s+(?:being\s+|getting\s+)(?:treated|parsed|interpreted|read|taken|misread|picked\s+up)\s+as\b|\bthere(?:['’]s|\s+is)\s+(?:\w+ly\s+)?an?\s+[*_]*(?:[\w-]+\s+){0,2}(?:bug|mismatch|race|regression|typo|leak|conflict|problem)\b"
    r"|[,;]\s*so\s+(?:i|we)\s+(?:still\s+)?(?:can['’]t|cannot|couldn['’]t)\b|\b(?:confirm|prove|show)(?:s|ed)\b.{3,80}\b(?:is|are|was|were)\s+(?:false|wrong|broken)\b"
    r"|\bthe\s+(?!next\s)(?:[\w-]+\s+){1,2}(?:cause|culprit|problem|issue|bug|blocker|reason|obstacle|snag|catch|failure|gap|risk)\s+(?:here\s+|now\s+)?(?:is|was)\b(?!\s+(?:fixed|gone|resolved|clear|unclear|now)\b)"
    r"|\b(?:bugs?|errors?|failures?|problems?|issues?|symptoms?|differences?)\s+(?:all\s+)?(?:stems?|comes?|came|results?|arises?|follows?)\s+from\b"
    r"|\b(?:it['’]s|it\s+(?:is|was)|this\s+(?:is|was)|that['’]s)\s+(?:(?:just|actually|simply|really|not|only)\s+)?an?\s+[*_]*(?:[\w-]+\s+){0,3}?(?:race(?:\s+condition)?|deadlock|off-by-one|typo|regression|leak|mismatch|bug|limitation|misconfiguration|false\s+positive|side\s+effect|artefact|artifact|oversight)\b"
    r"|\b(?:is|are|was|would\s+(?:still\s+)?be)\s+(?:still\s+)?(?:the\s+)?wrong\s+(?:for|model|approach|way|place|layer|fix|design|abstraction|tool)\b|\b(?:was|is)\s+not\b[^.;]{2,60};\s*it(?:['’]s|\s+(?:is|was))\b",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|[*_]{2})?(?:\d+[.)][ \t]*)?(?:[A-Za-z]+[ \t]+){0,2}?(?:decisions?|design[ \t]+choices|choices[ \t]+made|trade-?offs|rationale|non-goals|decision[ \t]+points|decided[ \t]+approach)\b[^\n|?]{0,30}$",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+")
_UNDER = 12  # items of one heading that are taken
_BELOW = 6_000  # characters below a heading that are looked at
_HEADINGS = 8  # headings of one message


def aloud(text: str) -> bool:
    """Whether a message thinks aloud: what it derives on the way is no finding yet."""
    return sum(1 for _ in islice(_ALOUD.finditer(text, 0, LONGEST), _TURNS)) >= _TURNS


def cause(said: str, *, thinking: bool = False) -> bool:
    """Whether it joins a trouble, or what happened, to its reason; while thinking aloud, only what happened counts."""
    if _BLAMES.search(said) is not None:
        return True
    if _JOINS.search(said) is None or _ADDRESSED.search(said) is not None or _SUPPOSES.search(said) is not None:
        return False
    return _HAPPENED.search(said) is not None or (not thinking and _TROUBLE.search(said) is not None)


def choice(said: str) -> bool:
    """Whether it takes one way before another, or turns one down."""
    if any(p.search(said) is not None for p in (_WEIGHS, _VERDICT, _REFUSES, _MEANS, _SPELT, _NOT_THAT)):
        return True
    if _RULES.search(said) is not None and not said.rstrip().endswith(":"):
        return True
    return _CONTRAST.search(said) is not None and _ADDRESSED.search(said) is None and _GUESSES.search(said) is None


def fallback(said: str) -> bool:
    """Whether a supposition ends in what will be done then."""
    return _FALLS_BACK.search(said) is not None


def listed(text: str) -> frozenset[str]:
    """The sentences that stand as items under a heading of decisions."""
    found: list[str] = []
    for heading in islice(_HEADING.finditer(text, 0, LONGEST), _HEADINGS):
        taken, begun = 0, False
        for line in text[heading.end() : heading.end() + _BELOW].split("\n")[1:]:
            if not line.strip():
                continue
            if _ITEM.match(line) is None:
                if begun and line.startswith((" ", "\t")):
                    continue
                break
            begun, taken = True, taken + 1
            found.extend(s for i, s in enumerate(sentences(line)) if i == 0)
            if taken >= _UNDER:
                break
    return frozenset(found)
