"""What a constraint is about, as far as a later one on the same thing has to replace it."""

from __future__ import annotations

import re

# Choices that exclude each other: a later one takes the earlier one's place.
_CHOICES: tuple[tuple[str, str], ...] = (
    ("indentation", r"\btabs?\b(?! (?:key|bar|switch|order))|\b(?:\w+ )?spaces\b|\bindent"),
    ("package manager", r"\b(?:npm|pnpm|yarn|bun|pip|poetry|uv|conda|pipenv)\b"),
    ("quotes", r"\b(?:single|double)[- ]quot"),
    ("database", r"\b(?:postgres(?:ql)?|mysql|mariadb|sqlite|mongo(?:db)?|dynamodb|redis)\b"),
    ("naming", r"\b(?:camel|snake|kebab|pascal)[- ]?case\b"),
    ("formatter", r"\b(?:black|ruff format|yapf|prettier|biome|gofumpt)\b"),
    ("test runner", r"\b(?:pytest|unittest|jest|vitest|mocha)\b"),
    ("seat", r"\b(?:window|aisle|middle) seats?\b"),
    ("cabin", r"\b(?:basic economy|premium economy|economy|business|first)(?: class)\b"),
    ("merging", r"\b(?:rebase|squash|merge commits?|fast-forward)\b"),
    ("branch", r"\b(?:branch off|on (?:the )?\S+ branch|commit (?:directly )?to (?:main|master))\b"),
    (
        "language",
        r"\b(?:in|auf|en|use) (?:english|german|french|spanish|chinese|japanese|deutsch|englisch|français|español)\b",
    ),
    ("http client", r"\b(?:axios|fetch api|requests|httpx|aiohttp)\b"),
    ("framework", r"\b(?:react|vue|svelte|angular|django|flask|fastapi|express)\b"),
)
_PLACES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _CHOICES)
_AMOUNTS = re.compile(
    r"\b(?P<what>budget|deadline|limit|timeout|port|line (?:length|width)|max(?:imum)?(?: \w+)?|min(?:imum)?(?: \w+)?|coverage|"
    r"price|cost|retries|version|team size|memory|width|height|concurrency|workers|batch size|frist|délai|presupuesto|límite|"
    r"plazo|preis|kosten|prix)\b|(?P<cjk>预算|预算|截止|上限|期限|予算|締め切り|ポート|端口)",
    re.IGNORECASE,
)
_KINDS = (
    ("money", re.compile(r"[$€£¥]\s?\d|\b\d[\d,.]*\s?(?:dollars?|euros?|usd|eur|gbp|bucks|元|円|块)", re.IGNORECASE)),
    ("time", re.compile(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\btonight\b|\bby \d{1,2}(?::\d\d)?\s?(?:am|pm)?\b|\bend of (?:day|week)\b",
        re.IGNORECASE)),
    ("characters", re.compile(r"\b\d+ (?:chars?|characters|columns)\b", re.IGNORECASE)),
    ("number", re.compile(r"\b\d[\d,.]*\b")),
)  # fmt: skip
_USE = re.compile(
    r"\b(?:use|using|prefer|pick|choose|go with|switch to|stick (?:to|with)|want)\s+(?:the |a |an )?([\w./+-]+)"
    r"(?:[^.]*?\b(?:instead of|not|over|rather than|and not)\s+(?:the |a |an |use |using )?([\w./+-]+))?",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:actually|instead|change (?:it|that|the)|make (?:it|that)|scratch that|correction|on second thought|now|no longer|from now on"
    r"|rather|let's|raise|lower|increase|decrease|update|switch|lieber|doch|plutôt|finalmente|mejor|改成|改为|やっぱり|変更)\b|改成|改为|やっぱり",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\b(?:actually|scratch that|correction|on second thought|no,? wait|wait,? no|i mean|sorry|doch lieber|plutôt)\b|やっぱり|不对",
    re.IGNORECASE,
)
_LIFTS = re.compile(
    r"\b(?:you (?:can|may)|it'?s (?:ok|okay|fine) (?:to|now)|feel free to|go ahead and|no need to|forget (?:what i said|the)|ignore (?:what i said|the)"
    r"|(?:is|are) (?:ok|okay|fine|allowed)(?: now)?|doesn'?t matter)\b",
    re.IGNORECASE,
)
_BRANCH = re.compile(
    r"\bbranch off (?:of )?(?:the )?([\w./-]*\w)|\b(?:commit|push) (?:directly )?to ([\w./-]*\w)|\bon (?:the )?(\S+) branch\b",
    re.IGNORECASE,
)
_SENDS_OFF = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|ok(?:ay)?|sure|great|good|perfect|alright|now|please|then|let'?s)[\s,.!]+)*"
    r"(?:go\s+ahead|go\s+for\s+it|proceed|start\s+(?:with\s+)?(?:implement\w*|coding|the\s+\w+)|implement\s+(?:it|this|that|the)|do\s+it|ship\s+it)\b",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(r"\b(?:yet|for now|just now|until i|before i|right now)\b", re.IGNORECASE)
_FORBIDS = re.compile(r"\b(?:never|don'?t|do not|must not|mustn'?t|avoid|no|without|not)\b", re.IGNORECASE)
_STOP = frozenset(
    [
        "the",
        "a",
        "an",
        "to",
        "of",
        "in",
        "on",
        "for",
        "and",
        "or",
        "it",
        "is",
        "be",
        "that",
        "this",
        "with",
        "you",
        "i",
        "we",
        "my",
        "our",
        "your",
        "do",
        "don",
        "not",
        "never",
        "always",
        "only",
        "must",
        "should",
        "please",
        "use",
        "make",
        "sure",
        "any",
        "all",
        "at",
        "by",
        "from",
        "can",
        "may",
        "now",
        "ok",
        "okay",
        "fine",
        "again",
        "so",
        "just",
        "will",
        "have",
        "has",
        "are",
        "need",
        "keep",
        "want",
        "them",
        "they",
        "its",
        "also",
        "when",
        "if",
        "then",
        "than",
        "as",
        "no",
    ]
)


def topic(sentence: str) -> str:
    """A word for what the sentence settles, or empty where nothing tells."""
    amount = _AMOUNTS.search(sentence)
    if amount is not None and any(c.isdigit() for c in sentence):
        return (amount["what"] or amount["cjk"]).lower()
    if amount is not None and kind(sentence) == "time":
        return (amount["what"] or amount["cjk"]).lower()
    hits = [name for name, pattern in _PLACES if pattern.search(sentence)]
    return hits[0] if len(hits) == 1 else ""


def kind(sentence: str) -> str:
    """What sort of value it sets: money, time, number, or none."""
    return next((name for name, pattern in _KINDS if pattern.search(sentence)), "")


def chosen(sentence: str) -> frozenset[str]:
    """What a "use X, not Y" is between."""
    return frozenset(
        w.lower().strip(".,") for m in _USE.finditer(sentence) for w in m.groups() if w and w.lower() not in _STOP
    )


def changes(sentence: str) -> bool:
    """Whether it speaks as one that takes back or alters something said before."""
    return _CHANGES.search(sentence) is not None


def corrects(sentence: str) -> bool:
    """Whether it takes back what was said in the same breath."""
    return _CORRECTS.search(sentence) is not None


def lifts(sentence: str) -> bool:
    """Whether it allows what was forbidden."""
    return _LIFTS.search(sentence) is not None


def allowed(sentence: str) -> str:
    """The verb that a sentence allows, in small letters."""
    found = _LIFTS.search(sentence)
    verb = (
        re.match(r"\s*(?:now |also |again |to )*([a-z]{3,})", sentence[found.end() :], re.IGNORECASE)
        if found is not None
        else None
    )
    return verb[1].lower() if verb is not None else ""


def branch(sentence: str) -> str:
    """Which branch it says to start from or to work on."""
    named = _BRANCH.search(sentence)
    return next((g.lower() for g in named.groups() if g), "") if named is not None else ""


def sends_off(sentence: str) -> bool:
    """Whether it tells the agent to begin with what was held back."""
    return _SENDS_OFF.search(sentence) is not None


def for_now(sentence: str) -> bool:
    """Whether it forbids a thing only until the user says so."""
    return _FOR_NOW.search(sentence) is not None and forbids(sentence)


def forbids(sentence: str) -> bool:
    return _FORBIDS.search(sentence) is not None


def words(sentence: str) -> frozenset[str]:
    """The words that carry its meaning, without endings."""
    return frozenset(
        re.sub(r"(?:ing|ed|es|s)$", "", w) for w in re.findall(r"[\w./-]{3,}", sentence.lower()) if w not in _STOP
    )
