"""What was replaced later is not shown as current: a rule that another took the place of, a value given anew."""

from __future__ import annotations

import re

from clew.handoff import template as t
from clew.handoff.slots import MARK
from clew.handoff.template import Sections
from clew.ledger.facts import Constraint, Ledger, Value

_CURRENT = (t.TASK, t.GOAL, t.CONSTRAINTS, t.STATE, t.PROGRESS, t.PENDING, t.REMAINING, t.CONTEXT)
_SETTINGS = frozenset({"port", "version", "amount", "money", "address"})
_PAST = re.compile(
    r"\b(?:was|were|earlier|previous(?:ly)?|formerly|initial(?:ly)?|original(?:ly)?|old|before|instead\s+of|no\s+longer|"
    r"replaced|superseded|changed\s+from|raised\s+from|lowered\s+from|rather\s+than|not\s+any\s+more|from)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"[$€£¥]\s?\d[\d,]*(?:\.\d+)?[kKM]?|\b\d[\d,]*(?:\.\d+)*(?:\s?(?:%|[€£]|USD|EUR|[kKMGT]i?B\b|ms\b))?|`[^`\n]+`|\b[\w.-]+/[\w./-]+|\b\w+\.\w{1,5}\b"
)
_MONEY = ("$", "€", "£", "¥")
_DENIED = re.compile(  # a value that a rule names only to say that it isn't the one
    r"\b(?:not|instead\s+of|rather\s+than|no\s+longer|(?:up\s+|down\s+)?from)\s+(?:the\s+)?\S*\d\S*", re.IGNORECASE
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
_WORD = re.compile(r"[^\W\d_]{4,}")


def current(sections: Sections, ledger: Ledger) -> tuple[Sections, list[str]]:
    """The sections with nothing stale shown as current, and what was changed."""
    changed: list[str] = []
    bodies = dict(sections.by_heading)
    for old in ledger.constraints:
        if not old.current:
            _drop_rule(bodies, old, _heir(ledger, old), changed)
            _drop_repeated(bodies, old, changed)
    for first, last in _renewed(ledger.values):
        _mark_value(bodies, first, last, changed)
    return Sections({h: b for h, b in bodies.items() if b.strip()}, sections.preamble), changed


def _heir(ledger: Ledger, old: Constraint) -> str:
    """The rule that took its place and holds now, or "" where it was only lifted."""
    rule = old
    for _ in range(len(ledger.constraints)):
        there = [c for c in ledger.constraints if c.source == rule.superseded_by]
        if not there:
            return ""
        rule = max(there, key=lambda c: (c.topic == old.topic, len(_words(c.text) & _words(old.text))))
        if rule.current:
            return rule.text
    return ""


def _drop_rule(bodies: dict[str, str], old: Constraint, heir: str, changed: list[str]) -> None:
    now = _values(_DENIED.sub(" ", heir))
    stale = {v for v in _values(old.text) if v not in now}
    fresh = [v for v in now if v not in _values(old.text)]
    topic = _words(old.text) & _words(heir) if heir else _words(old.text)
    for heading in _CURRENT:
        kept = []
        for line in bodies.get(heading, "").split("\n"):
            if " ".join(old.text.split()) in " ".join(line.split()):
                changed.append(line.strip())
                continue
            hit = [*(v for v in stale if v in _values(line)), *_spelled_out(stale, line)]
            about = not topic or topic & _words(line) or heading == t.CONSTRAINTS
            told = any(v in _values(line) for v in fresh) or _PAST.search(line)
            if hit and about and not told:
                changed.append(line.strip())
                kept.append(_replaced(line, hit, fresh))
                continue
            kept.append(line)
        if heading in bodies:
            bodies[heading] = "\n".join(kept).strip()


def _spelled_out(values: set[str], line: str) -> list[str]:
    """Amounts of money as the line spells them otherwise: with the currency in words, or behind "is" or "="."""
    out: list[str] = []
    for amount in (v.lstrip("$€£¥ ") for v in values if v[:1] in _MONEY):
        number = re.escape(amount)
        otherwise = re.compile(
            rf"\b(?:USD|EUR|GBP)\s?{number}(?![\w,]|\.\d)|(?<![\w$€£¥.,]){number}\s?(?:USD|EUR|GBP|dollars?|euros?|pounds?|bucks)\b"
            rf"|(?:(?<=[=:] )|(?<=\bis )|(?<=\bof )|(?<=[=:])){number}(?=\s*(?:[.;,)]?\s*$|[.;)]\s))",
            re.IGNORECASE,
        )
        out += otherwise.findall(line)
    return list(dict.fromkeys(out))


def _drop_repeated(bodies: dict[str, str], old: Constraint, changed: list[str]) -> None:
    """In the sections on what was done, a line that is the old rule and nothing more says as little of the past."""
    rule = _words_alone(old.text)
    for heading in [h for h in bodies if h not in _CURRENT]:
        lines = bodies[heading].split("\n")
        kept = [line for line in lines if _words_alone(_BULLET.sub("", line)) != rule]
        if len(kept) < len(lines):
            changed += [line.strip() for line in lines if line not in kept]
            bodies[heading] = "\n".join(kept).strip()


def _words_alone(line: str) -> str:
    """The line without marks and without what punctuation stands around its words."""
    return re.sub(r"^\W+|\W+$", "", " ".join(line.replace(MARK, " ").split()))


def _replaced(line: str, hit: list[str], fresh: list[str]) -> str:
    """The new value where there is exactly one for one; else only a mark that the old one is out of date."""
    new = fresh[0] if len(hit) == len(fresh) == 1 else "[superseded]"
    for value in hit:
        line = re.sub(rf"(?<![\w$€£¥]){re.escape(value)}(?!\w|[.,]\d)", lambda _: new, line)
    return line


def _renewed(values: tuple[Value, ...]) -> list[tuple[Value, Value]]:
    """Older and newest value of the same named thing, of the kinds that something has one of at a time."""
    named = [v for v in values if v.kind in _SETTINGS and len(v.name) > 3]
    newest: dict[tuple[str, str], Value] = {}
    for v in sorted(named, key=lambda v: v.source):
        newest[v.name.lower(), v.kind] = v
    return [(v, n) for v in named if (n := newest[v.name.lower(), v.kind]).text != v.text]


def _mark_value(bodies: dict[str, str], old: Value, new: Value, changed: list[str]) -> None:
    name = re.compile(rf"\b{re.escape(old.name)}\b", re.IGNORECASE)
    for heading in _CURRENT:
        lines = bodies.get(heading, "").split("\n")
        for i, line in enumerate(lines):
            stale = name.search(line) and _holds(line, old.text) and not _holds(line, new.text)
            if stale and not _PAST.search(line):
                changed.append(line.strip())
                lines[i] = f"{line} (later: {new.text})"
        if heading in bodies:
            bodies[heading] = "\n".join(lines)


def _holds(line: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", line) is not None


def _values(text: str) -> list[str]:
    return list(dict.fromkeys(v.strip("`").rstrip(".,") for v in _VALUE.findall(text)))


def _words(text: str) -> frozenset[str]:
    return frozenset(w[:5].lower() for w in _WORD.findall(text))
