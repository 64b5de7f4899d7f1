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
    ("units", r"\b(?:metric|imperial)\b"),
    (
        "branch",
        r"\b(?:branch off|on (?:the )?\S+ branch|(?:on|to) (?:the )?branch (?!off)\S|commit (?:directly )?to (?:main|master))",
    ),
    (
        "language",
        r"\b(?:in|auf|en|use) (?:english|german|french|spanish|chinese|japanese|deutsch|englisch|français|español)\b",
    ),
    ("http client", r"\b(?:axios|fetch api|requests|httpx|aiohttp)\b"),
    ("framework", r"\b(?:react|vue|svelte|angular|django|flask|fastapi|express)\b"),
)
_RUNTIME = re.compile(
    r"\b(python|node(?:\.js)?|java|go|ruby|php|rust|swift|typescript|postgres(?:ql)?)\s?v?\d", re.IGNORECASE
)
_PLACES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _CHOICES)
_AMOUNTS = re.compile(
    r"\b(?P<what>budget|deadline|limit|timeout|port|line (?:length|width)|max(?:imum)?(?: \w+)?|min(?:imum)?(?: \w+)?|coverage|"
    r"price|cost|retries|version|team size|memory|width|height|concurrency|workers|batch size|frist|délai|presupuesto|límite|"
    r"plazo|preis|kosten|prix)\b|(?P<cjk>预算|预算|截止|上限|期限|予算|締め切り|ポート|端口)",
    re.IGNORECASE,
)
_KINDS = (
    ("money", re.compile(r"[$€£¥]\s?\d|\d\s?[$€£¥]|\b\d[\d,.]*\s?(?:dollars?|euros?|usd|eur|gbp|bucks|元|円|块)", re.IGNORECASE)),
    ("time", re.compile(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\btonight\b|\bby \d{1,2}(?::\d\d)?\s?(?:am|pm)?\b|\bend of (?:day|week)\b",
        re.IGNORECASE)),
    ("characters", re.compile(r"\b\d+ (?:chars?|characters|columns)\b", re.IGNORECASE)),
    ("lines", re.compile(r"\b\d+ (?:lines?|loc|zeilen|lignes|líneas)\b|\d+\s?行", re.IGNORECASE)),
    ("words", re.compile(r"\b\d+ (?:words|sentences|paragraphs|bullets?|pages?)\b", re.IGNORECASE)),
    ("times", re.compile(r"\b\d+ (?:times|retries|attempts|tries)\b", re.IGNORECASE)),
    ("share", re.compile(r"\b\d[\d.]*\s?(?:%|percent\b)", re.IGNORECASE)),
    ("span", re.compile(r"\b\d[\d.]*\s?(?:ms|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?|weeks?)\b", re.IGNORECASE)),
    ("number", re.compile(r"\b\d[\d,.]*\b")),
)  # fmt: skip
_USE = re.compile(
    r"\b(?:use|using|prefer|pick|choose|go with|switch to|stick (?:to|with)|want)\s+(?:the |a |an )?([\w./+-]+)"
    r"(?:[^.]*?\b(?:instead of|not|over|rather than|and not)\s+(?:the |a |an |use |using )?([\w./+-]+))?",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:actually|instead|change (?:it|that|the)|make (?:it|that)|scratch that|correction|on second thought|now|no longer|from now on"
    r"|rather|let's|raise|lower|increase|decrease|update|switch|moved|extended|postponed|shifted|bumped|dropped|up to|after all|(?:is|are) (?:fine|ok|okay) (?:too|now|as well|instead)|lieber|doch|plutôt|finalmente|mejor|改成|改为|やっぱり|変更)\b|改成|改为|やっぱり",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\b(?:actually|scratch that|correction|on second thought|no,? wait|wait,? no|i mean|sorry|doch lieber|plutôt)\b|やっぱり|不对",
    re.IGNORECASE,
)
_LIFTS = re.compile(
    r"\b(?:you (?:can|may)|it'?s (?:ok|okay|fine) (?:to|now)|feel free to|go ahead and|(?:is|are) (?:ok|okay|fine|allowed)(?: now)?|doesn'?t matter"
    r"|du (?:darfst|kannst)|ihr (?:dürft|könnt)|tu peux|vous pouvez|puedes|pueden)\b|可以|(?:て|で)も(?:いい|構い|かまい)",
    re.IGNORECASE,
)
_RELEASE_WORDS = re.compile(
    r"\b(?:no|longer|need(?:n['’]?t)?|don['’]?t|doesn['’]?t|have|forget|ignore|drop|scrap|disregard|never|mind|about|what|said|rule|limit|constraint|requirement|restriction|part|bit"
    r"|instruction|any\s?more|now|after all)\b",
    re.IGNORECASE,
)
# What was demanded is so no longer, whatever it was.
_RELEASES = re.compile(
    r"\b(?:no (?:longer )?need (?:to|for)|(?:no longer|don'?t|do not|needn'?t) (?:need|have) to|(?:forget|ignore|drop|scrap|disregard|never ?mind)(?: about)? (?:what i said|(?:the|my|that)\b.{0,60}?\b(?:rule|limit|constraint|requirement|restriction|deadline|budget|part|bit|instruction)))\b",
    re.IGNORECASE,
)
_BRANCH = re.compile(
    r"\bbranch off (?:of )?(?:the )?([\w./-]*\w)|\b(?:on|to) (?:the )?branch (?!off)([\w./-]*\w)|\b(?:commit|push) (?:directly )?to ([\w./-]*\w)|\bon (?:the )?(\S+) branch\b",
    re.IGNORECASE,
)
_SENDS_OFF = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|ok(?:ay)?|sure|great|good|perfect|alright|now|please|then|let'?s)[\s,.!]+)*"
    r"(?:go\s+ahead|go\s+for\s+it|proceed|start\s+(?:with\s+)?(?:implement\w*|coding|the\s+\w+)|implement\s+(?:it|this|that|the)|do\s+it|ship\s+it)\b",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(r"\b(?:yet|for now|just now|until i|before i|right now)\b", re.IGNORECASE)
_FORBIDS = re.compile(
    r"\b(?:never|don['’]?t|do not|must not|mustn['’]?t|avoid|no|without|not|wait|hold off|nicht|keine?n?|niemals|ne|pas|jamais|nunca)\b|n['’](?=\w)|不|别|禁止|ない",
    re.IGNORECASE,
)
_FORBIDS_HERE = re.compile(
    r"\b(?:never|don['’]?t|do not|must not|mustn['’]?t|avoid|no|without|wait|hold off)\b", re.IGNORECASE
)
_BOUND = re.compile(
    r"\b(?:up to|at most|at least|raise|lower|increase|decrease|extend|more|less|limit|max\w*)\b", re.IGNORECASE
)
_ANAPHORA = re.compile(r"\b(?:it|that|this|them)\b", re.IGNORECASE)
_VALUES = re.compile(
    r"(?<!\S)(?=\S{0,30}\d)\S+|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b", re.IGNORECASE
)
# Verbs that stand for one another where one is forbidden and the other allowed.
_ACTS = tuple(
    frozenset(a.split("|"))
    for a in (
        "change|modify|touch|edit|alter|update|rewrite",
        "add|install|introduce|include|use",
        "remove|delete|drop",
        "commit|push|merge|release|deploy|publish",
        "run|execute|start",
        "create|write|make",
    )
)
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_SHARED_PAIRS = 2
_FILLERS = frozenset(
    (
        "yet",
        "anything",
        "anyth",
        "nothing",
        "noth",
        "until",
        "before",
        "without",
        "either",
        "under",
        "for",
        "here",
        "mustn",
        "don't",
        "bitte",
        "nicht",
    )
)
_NOW = re.compile(r"\b(?:now|go ahead|you (?:can|may)|ready)\b", re.IGNORECASE)
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
    runtime = _RUNTIME.search(sentence)
    if runtime is not None:
        return f"{runtime[1].lower()} version"
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


def alters(new: str, old: str) -> bool:
    """Whether a sentence speaks as a change of another: it takes up its words, points at it, or has no subject of its own."""
    if not changes(new):
        return False
    if words(new) & words(old) or _ANAPHORA.search(new) is not None or _BOUND.search(new) is not None:
        return True
    return not words(_VALUES.sub(" ", _CHANGES.sub(" ", new)))


def corrects(sentence: str) -> bool:
    """Whether it takes back what was said in the same breath."""
    return _CORRECTS.search(sentence) is not None


def lifts(sentence: str) -> bool:
    """Whether it allows what was forbidden."""
    return _LIFTS.search(sentence) is not None


def released(sentence: str) -> frozenset[str]:
    """What a sentence says need not be any more, by its words; empty where it says no such thing."""
    found = _RELEASES.search(sentence)
    if found is None:
        return frozenset()
    clause = re.split(r"[,;.!]", sentence[found.start() :], maxsplit=1)[0]
    return parts(_RELEASE_WORDS.sub(" ", clause))


def same_act(allowed: str, forbidden: str) -> bool:
    """Whether a permission is of the very thing that was forbidden: its verb, or one that stands for it."""
    found = _LIFTS.search(allowed)
    rest = allowed[found.end() :] if found is not None else allowed
    if not rest.isascii() and _CJK.search(rest) is not None:
        return len(_pairs(rest) & _pairs(forbidden)) >= _SHARED_PAIRS
    verb = re.match(r"\s*(?:now |also |again |jetzt |to )*([^\W\d_]{3,})", rest, re.IGNORECASE)
    if verb is None:
        return False
    said = verb[1].lower()
    names = {said[:5], *(v[:5] for act in _ACTS if said in act for v in act)}
    return re.search(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})", forbidden.lower()) is not None


def acts(sentence: str) -> frozenset[int]:
    """What is done in it, of the things that verbs of work stand for."""
    found = words(sentence) | {w.lower() for w in re.findall(r"[^\W\d_]{3,}", sentence)}
    return frozenset(n for n, act in enumerate(_ACTS) if any(v in found or _stem(v) in found for v in act))


def objects(forbidden: str) -> frozenset[str]:
    """What a prohibition in English is of, besides its verb: all of it has to be named to be allowed."""
    if _FORBIDS_HERE.search(forbidden) is None:
        return frozenset()
    acts = frozenset(_stem(v) for act in _ACTS for v in act)
    return frozenset(w for w in words(forbidden) if w not in acts and w not in _FILLERS)


def _pairs(text: str) -> frozenset[str]:
    """Neighbouring letters of a text that is written without spaces."""
    letters = "".join(_CJK.findall(text))
    return frozenset(letters[i : i + 2] for i in range(len(letters) - 1))


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


def ends_wait(sentence: str) -> bool:
    """Whether it orders or allows now what may have been held back."""
    return _NOW.search(sentence) is not None and _FORBIDS.search(sentence) is None


def forbids(sentence: str) -> bool:
    return _FORBIDS.search(sentence) is not None


def words(sentence: str) -> frozenset[str]:
    """The words that carry its meaning, without endings."""
    found = (w.strip("./-") for w in re.findall(r"[\w./-]{3,}", sentence.lower()))
    return frozenset(_stem(w) for w in found if w not in _STOP and len(w) > 2)


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|ed|es|s)$", "", word)


def parts(sentence: str) -> frozenset[str]:
    """The words of a sentence, those joined by hyphens taken apart."""
    return words(sentence.replace("-", " "))


def masked(sentence: str) -> str:
    """The sentence without its numbers: two that say the same but for these are on one thing."""
    return " ".join(re.sub(r"\d[\d,.]*", "#", sentence.lower()).split())
