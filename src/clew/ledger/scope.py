"""What a constraint is for, where it says so: "the billing port", "tabs in Makefiles", "postgres for orders"."""

from __future__ import annotations

import re

_TOPIC = r"(?:budget|deadline|limit|timeout|ports?|coverage|price|cost|retries|version|memory|concurrency|quota|cap)\b"
_FOR = re.compile(r"\b(?:for|in|of|on)\s+(?:(?:the|our|my|its|all|every|each)\s+)?([^\W\d][\w./-]*)", re.IGNORECASE)
_OF_TOPIC = re.compile(rf"\b([^\W\d][\w-]*)[\s-]+(?={_TOPIC})", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\A\W*(?:the|our|my)\s+([^\W\d][\w-]*)\s+(?:service|server|app|api|client|pool|job|worker|team|page|module|package)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b[^\W\d]+(?:_[^\W\d]+)*_\d+\b")
# Words in these places that narrow nothing down.
_GENERIC = """
    a an the this that it its our my your their his her is be at to of in on for and or keep set use raise lower make put let have
    total overall whole entire new old current maximum minimum max min hard soft upper general advance detail case fact short end
    now then month monthly day daily week weekly year yearly night evening morning time cents dollars euros place order
    please all any every each no not only with same default most least under below above port budget deadline limit timeout
    monday tuesday wednesday thursday friday saturday sunday tomorrow today tonight english german french spanish chinese japanese
"""
_ANY = frozenset(_GENERIC.split())


def scope(sentence: str) -> frozenset[str]:
    """The words that narrow down what it is for; none where it holds for everything."""
    found = [m[1] for pattern in (_FOR, _OF_TOPIC, _SUBJECT) for m in pattern.finditer(sentence)]
    found += _NAMED.findall(sentence)
    return frozenset(w.lower().strip("./-") for w in found) - _ANY


def apart(one: str, other: str) -> bool:
    """Whether both say what they are for, and it is not the same."""
    a, b = scope(one), scope(other)
    return bool(a) and bool(b) and not (a & b)
