"""Orders of a user's that bind: an imperative alone is a request, and one that names a lasting state, or says how, how much,
in what, in which order or what not, is a rule.
"""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE | re.DOTALL
# How an order may begin before its verb, and where in a sentence one may begin.
_LEAD = (
    r"^(?:(?:please|pls|and|also|then|just|but|so|now|always|again|yes|no|ok(?:ay)?|instead|for\s+now|from\s+(?:now|here)\s+on"
    r"|in\s+general|by\s+default)[\s,:]+)*"
)
_CLAUSE = rf"(?:{_LEAD}|[,;:—–-]\s+(?:(?:and|but|so|then|please|just)\s+)*|\b(?:and|but)\s+(?:please\s+)?)"


def _one_of(*parts: str) -> str:
    return "(?:" + "|".join(parts) + ")"


# Verbs that name a lasting state, whatever their object.
_LASTING = _one_of(
    r"keep\s+(?!going|on\b|digging|trying|up\b|in\s+mind\s+that\s+i\b|looking|working)",
    r"stick\s+(?:to|with)\b",
    r"stay\s+(?!tuned|put\s+there)\w",
    r"treat\s+\S.{1,80}?\s(?:as|like)\b",
    r"leave\s+\S.{0,60}?\b(?:out|alone|as|where|untouched|intact|unchanged|in\s+place|off|at\s+least|empty|be)\b",
    r"(?:avoid|exclude|omit|preserve|maintain|retain|prefer|prioriti[sz]e|prefix|suffix)\s+\w",
    r"(?:refrain\s+from|adhere\s+to|comply\s+with|conform\s+to|mind\s+the)\b",
    r"(?:limit|restrict|round|pin)\s+\S.{0,60}?\bto\b",
    r"cap\s+\S.{0,60}?\bat\b",
    r"respect\s+(?:the|our|my|all|any)\b",
    r"assume\s+(?!(?:that\s+)?(?:we|you|i)\b)(?:that\s+)?\w",
    r"refer\s+to\s+\S.{0,60}?\b(?:by|as)\b",
    r"stop\s+\w+ing\b",
    r"be\s+(?!(?:back|right\s+back|there|done|able|aware|it)\b)\w+",
    r"follow\s+(?:the|our|my|this|these|that|those|existing)\s+\S",
)
_HOLDS = re.compile(_CLAUSE + _LASTING, _FLAGS)

# Verbs of doing: they bind where the sentence narrows how. A list, since nothing else tells an order from "Tests only fail…".
_VERBS = (
    r"add|answer|append|apply|ask|assign|base|begin|book|break|build|bring|call|check|cite|close|"
    r"collect|color|combine|commit|compare|compress|compute|connect|convert|copy|count|create|cut|deal|"
    r"dedupe|define|deliver|deploy|describe|design|display|do|document|download|draw|drop|email|embed|"
    r"encode|end|enter|export|expose|fetch|fill|filter|find|fix|focus|format|generate|get|give|go|"
    r"group|handle|hide|highlight|hold|host|implement|import|include|index|insert|install|join|label|"
    r"let|link|list|load|log|mail|make|mark|merge|mention|migrate|mock|model|move|name|number|open|"
    r"order|organise|organize|output|parse|pass|pay|pick|place|plan|post|present|print|process|produce|"
    r"publish|push|put|query|quote|rank|read|refactor|refund|release|remove|rename|render|repeat|"
    r"replace|reply|report|represent|request|reserve|respond|restart|return|reuse|roll|run|save|say|"
    r"scale|schedule|search|select|send|separate|serve|set|ship|show|sign|sort|split|spread|start|"
    r"state|store|structure|style|submit|summarise|summarize|switch|take|tag|tell|test|throw|trim|trust|"
    r"turn|type|update|upload|use|validate|verify|version|wait|wire|wrap|write|work"
)
_TONGUE = (
    r"english|german|french|spanish|italian|portuguese|dutch|polish|russian|turkish|chinese|japanese|"
    r"korean|hindi|arabic|hebrew|swedish|danish|norwegian|finnish|czech|greek|ukrainian|vietnamese|thai"
)
# Forms that a result may have to take.
FORM = _one_of(
    r"(?:an?\s+)?(?:\w+\s+)?(?:json|ya?ml|csv|tsv|xml|html|markdown|latex|pdf|tables?|prose|bullets?|bullet\s+points)",
    r"plain\s*text|utf-?8|utc|iso\S*|caps|lowercase|uppercase|bold|italics",
    r"(?:camel|snake|kebab|pascal|title|sentence|lower|upper)[\s_-]?case",
    r"cents|met(?:re|er)s?|kilomet\w+|miles|celsius|metric(?:\s+units)?|euros?|dollars|usd|eur",
    r"(?:the\s+)?(?:first|second|third|present|past|active|passive|imperative)\s+(?:person|tense|voice|mood)",
    r"(?:chronological|alphabetical|reverse|descending|ascending)(?:\s+order)?",
    r"(?:simple|formal|informal|plain|short|full)\s+\w+",
)
_NARROWS = _one_of(
    # how far
    r"\b(?:only|nothing\s+(?:else|more|but)|nowhere\s+else|throughout|everywhere|verbatim|by\s+default|as[\s-]is|at\s+(?:most|least|all\s+times))\b",
    r"\bno\s+(?:more|less|fewer|later|longer|earlier|other)\b|\bfrom\s+(?:now|here)\s+on\b|\bwithin\s+(?:the|an?|\d)",
    # how many at a time, and for which
    r"\bone\s+(?:[\w-]+\s+){0,2}at\s+a\s+time\b|\bin\s+(?:batches|parallel|order|chunks|small|stages|steps|pieces)\b|\bone\s+[\w-]+\s+(?:per|for\s+each)\b",
    r"\b(?:per|for\s+(?:each|every)|(?:after|before)\s+(?:each|every|any)|next\s+to\s+(?:each|every|the)|alongside)\b",
    # what not
    r"\b(?:instead|rather\s+than|without|unless|until|except)\b",
    r"(?:,|\band|\bbut)\s+not\s+(?!sure|yet\b|just\b|only\b|working)\w",
    # on which branch
    r"\bon\s+(?:the\s+)?(?:branch\s+\S|\S+\s+branch\b)",
    # in what form
    rf"\bin\s+(?:{_TONGUE})\b|\b(?:in|as|into)\s+{FORM}\b",
    # when, and what must hold after
    r"\bbefore\s+(?:you|i|we|any|\w+ing)\b|\bbased\s+(?:only|solely)\s+on\b|\bso\s+that\s+(?:each|every|no|nothing|all|it\s+(?:never|always|doesn|stays|can))",
)
_NARROWED = re.compile(rf"{_CLAUSE}(?:don['’]t\s+)?(?:{_VERBS})\b(?=.{{0,200}}?{_NARROWS})", _FLAGS)
_IN_ORDER = re.compile(
    rf"{_LEAD}(?:\w+\s+){{1,8}}first(?:\s+and\b|,?\s+then\b|\W*$)|{_LEAD}first\b.{{3,120}}?\bthen\b"
    rf"|{_CLAUSE}(?:tag|label|number|sign|end|begin|start|mark|log|wrap|name|cite|quote|document|annotate|format|link)\s+(?:each|every\w*|all)\b",
    _FLAGS,
)


def restricts(plain: str) -> bool:
    """Whether it is an order that holds a state or says how."""
    return any(p.search(plain) is not None for p in (_HOLDS, _NARROWED, _IN_ORDER))
