"""Whether a text matches a query, decided on the text itself: the indexes only propose."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from clew.store.query import Query, Term, TermKind

_WORD = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """Without case and diacritics, as the word index sees it."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c))).lower()


def words(text: str) -> list[str]:
    return _WORD.findall(fold(text))


def matches(query: Query, text: str) -> bool:
    folded = fold(text)
    if any(count(term, folded) for term in query.none):
        return False
    return all(any(count(term, folded) for term in group) for group in query.all)


def score(query: Query, text: str) -> float:
    """How well a matching text fits: how often, for its length, each group is met."""
    folded = fold(text)
    room = 1.0 + len(folded) / 2000.0
    total = 0.0
    for group in query.all:
        times = sum(count(term, folded) for term in group)
        total += times / (times + room) * 2.0
    return total


def count(term: Term, folded: str) -> int:
    """How often a term stands in an already folded text."""
    if term.kind is TermKind.FRAGMENT:
        sought = fold(term.text)
        return folded.count(sought) if sought else 0
    pattern = _pattern(term)
    return sum(1 for _ in pattern.finditer(folded)) if pattern else 0


@lru_cache(maxsize=512)
def _pattern(term: Term) -> re.Pattern[str] | None:
    parts = words(term.text)
    if not parts:
        return None
    body = r"[\W_]+".join(re.escape(p) for p in parts)
    end = "" if term.kind is TermKind.PREFIX else r"(?![^\W_])"
    return re.compile(rf"(?<![^\W_]){body}{end}")
