"""What users stated, and which of it still holds: a later statement on the same thing takes an earlier one's place.

Two statements are on the same thing where they say the same but for their values; or where they set the same sort of value
(an amount, a date, a person, a code, a branch, a time zone) and share a word that few others have, and the later one speaks
as a change; or where they stand under one label ("FACT:"), set the same sort of value and share most of their words. Of
sorts that a conversation has only one of, the newest stands. Two prohibitions of different things both hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from clew.ledger import topics

_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_WORDED = (
    r"(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|hundred|thousand)[ -]?)+"
)
_SORTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("money", re.compile(rf"(?i)[$€£¥]\s?\d[\d,.]*|\b(?:\d[\d,.]*|{_WORDED})\s?(?:dollars?|euros?|usd|eur|gbp|bucks)\b")),
    ("total", re.compile(r"(?i)\b(?:total (?:spending|budget|cost)|budget\b.{0,30}\btotal)\b")),
    ("zone", re.compile(r"\b(?:UTC|GMT|(?:Pacific|Eastern|Central|Mountain|pacific|eastern|local) [Tt]ime|[A-Z][a-z]+/[A-Z]\w+)\b|(?i:\btime ?zone\b)")),
    ("date", re.compile(rf"(?i)\b\d{{4}}-\d\d-\d\d\b|\b{_MONTH} \d{{1,2}}\b|\b\d{{1,2}}\.? {_MONTH}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b")),
    ("units", re.compile(r"(?i)\b(?:metric|imperial)\b")),
    ("style", re.compile(r"(?i)\b(?:answer|response|reply) style\b|\bin \S+ style\b")),
    ("manner", re.compile(r"(?i)\b(?:answers?|replies|responses?|tone)\b")),
    ("phase", re.compile(r"(?i)\b(?:phase|stage|milestone) \d+\b")),
    ("base", re.compile(r"(?i)\b(?:base commit|(?:based on|branched from) commit)\b")),
    ("branch", re.compile(r"(?<![\w/:.])[a-z][\w.-]*/[\w.-]*\d[\w.-]*\b")),
    ("url", re.compile(r"https?://\S+")),
    ("region", re.compile(r"\b(?:af|ap|ca|cn|eu|il|me|mx|sa|us)-(?:north|south|east|west|central){1,2}-?\d\b")),
    ("language", re.compile(r"\b(?:Python|Rust|Go|TypeScript|JavaScript|Kotlin|Swift|Java|Ruby|PHP|Scala|Elixir|Haskell|C\+\+|C#)(?!\w)")),
    ("next", re.compile(r"(?i)^\W*(?:after (?:this|that),? )?(?:(?:the|our|my) )?next (?:step|up)\b")),
    ("code", re.compile(r"(?<![\w/-])[A-Za-z]{2,}-\d+\b|\b(?=[a-f\d]*\d)(?=[a-f\d]*[a-f])[0-9a-f]{7,40}\b")),
    ("person", re.compile(r"\b(?!(?:Only|The|We|Use|Never|Please|Do|Our|No|This|That|Report|For|From|Branch|Keep)\b)[A-Z][a-z]+ [A-Z][a-z]+\b")),
)  # fmt: skip
_SINGLE = frozenset({"zone", "units", "style", "phase", "base", "total", "next"})  # a conversation has one at a time
_MOVED = frozenset({"branch"})  # one at a time too, where the later statement speaks as a change
_CHANGED = re.compile(
    r"\b(?:now|no longer|new|update[sd]?|changed?|moved|switched|rebased|renamed|replaced|rotat(?:ed|ion)|retired|previous|instead"
    r"|from now on|rather|anymore|correction|actually|belongs)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^\s*([A-Z][A-Z ]{2,30}):\s+")
_VALUE = re.compile(r"\S*\d\S*|(?<=[\w,;:] )[A-Z]\w*")
_NEAR = 0.5  # of a statement's weight of words, that another has to share to be on the same thing
_MOST = 0.6  # of the shorter one's words, that two statements under one label share to be on the same thing
_NAMES = re.compile(r"\S*\d\S*|(?<=[\w,;:] )[A-Z][a-z]\w*")  # of values; "API" says what a statement is about
_SAYS_LITTLE = frozenset(  # of what it is about
    [
        "user",
        "users",
        "language",
        "languages",
        "date",
        "day",
        "current",
        "does",
        "want",
        "wants",
        "write",
        "writes",
        "send",
        "sends",
        "report",
        "reports",
    ]
)


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a user stated: the message, its words, the label it was given ("FACT"), and what it sets."""

    source: int
    text: str
    label: str = ""
    sorts: frozenset[str] = frozenset()

    @property
    def body(self) -> str:
        """The words after the label."""
        return _LABEL.sub("", self.text, count=1) if self.label else self.text

    @property
    def changes(self) -> bool:
        """Whether it speaks as one that alters something said before."""
        return _CHANGED.search(self.body) is not None or topics.changes(self.body)


def read(source: int, text: str) -> Statement:
    label = _LABEL.match(text)
    body = text[label.end() :] if label is not None else text
    found = frozenset(name for name, pattern in _SORTS if pattern.search(body))
    return Statement(source, text, label[1].strip() if label is not None else "", found)


def current(statements: Iterable[Statement]) -> list[Statement]:
    """Those that no later one replaced, in order; of the same words said twice the last."""
    listed = list({" ".join(s.text.lower().split()): s for s in statements}.values())
    listed.sort(key=lambda s: s.source)
    roots = [_roots(s.body) for s in listed]
    common = Counter(w for words in roots for w in words)
    masks = [_masked(s.body) for s in listed]
    gone: set[int] = set()
    for j, new in enumerate(listed):
        if "?" in new.text:
            continue
        earlier = [i for i in range(j) if i not in gone]
        same = {i for i in earlier if masks[i] == masks[j] != listed[i].body}
        gone |= same or _replaced(new, roots[j], earlier, listed, roots, common)
    return [s for i, s in enumerate(listed) if i not in gone]


def _replaced(
    new: Statement,
    words: frozenset[str],
    earlier: Sequence[int],
    listed: Sequence[Statement],
    roots: Sequence[frozenset[str]],
    common: Counter[str],
) -> set[int]:
    if kin := _under_one_label(new, earlier, listed):
        return kin
    changed = new.changes
    rivals = [i for i in earlier if _comparable(new, listed[i], changed=changed)]
    scored = [(sum(1 / common[w] for w in words & roots[i]), i) for i in rivals]
    best = max(scored, default=(0.0, -1))
    rest = max((score for score, i in scored if i != best[1]), default=0.0)
    single = _SINGLE | _MOVED if changed or _kin(new, listed[best[1]]) else _SINGLE
    only = len(rivals) == 1 and bool(new.sorts & listed[best[1]].sorts & single)
    clear = best[0] >= _NEAR or (changed and best[0] > 2 * rest)
    return {best[1]} if only or clear else set()


def _comparable(new: Statement, old: Statement, *, changed: bool) -> bool:
    """Whether both set a value of one sort, and the later one speaks as a change or the sort is one there is one of."""
    shared = new.sorts & old.sorts
    return bool(shared & (_SINGLE | _MOVED if _kin(new, old) else _SINGLE)) or (changed and bool(shared))


def _kin(new: Statement, old: Statement) -> bool:
    """Whether both are entries of one register of the user's ("GOAL: …")."""
    return bool(new.label) and new.label == old.label


def _under_one_label(new: Statement, earlier: Sequence[int], listed: Sequence[Statement]) -> set[int]:
    """Those that a user's register ("FACT: …", "RULE: …") says anew: the same sort of value of the same thing."""
    words = _subject(new.body)
    out = set()
    for i in earlier:
        old = listed[i]
        if not _kin(new, old) or not old.sorts & new.sorts:
            continue
        others = _subject(old.body)
        shared = words.keys() & others.keys()
        if len(shared) < _MOST * max(1, min(len(words), len(others))):
            continue
        if not any(_contrast(words[w], others[w], shared) for w in shared):
            out.add(i)
    return out


def _contrast(one: str, other: str, shared: AbstractSet[str]) -> bool:
    """Whether the words before a shared one tell two things apart ("primary region", "backup region")."""
    return bool(one and other) and one != other and one not in shared and other not in shared


def _subject(text: str) -> dict[str, str]:
    """The words of a statement that name what it is about, each with the word right before it where that is another."""
    out: dict[str, str] = {}
    before = ""
    for token in re.findall(r"[^\W_][\w'’-]*|[:;,.]", _NAMES.sub(" ; ", text).lower()):
        plain = token.removesuffix("'s").removesuffix("’s")
        root = "" if plain in _SAYS_LITTLE else next((_stem(w) for w in topics.words(plain)), "")
        if root:
            out.setdefault(root, before)
        before = root
    return out


def _masked(text: str) -> str:
    """The sentence without its values."""
    return " ".join(_VALUE.sub("_", text).lower().split())


def _roots(text: str) -> frozenset[str]:
    """The words that say what it is about, cut to their stems; values are none."""
    plain = _VALUE.sub(" ", text).lower()
    return frozenset(_stem(w) for x in topics.words(plain) for w in re.split(r"[-/]", x) if len(w) > 2)


def _stem(word: str) -> str:
    return re.sub(r"er$", "", word)[:5]
