"""Whether a text matches a query, decided on the text itself: the indexes only propose."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from clew.store.query import Query, Term, TermKind

WORD = re.compile(r"[^\W_]+")
_SAME = r"\x00-\xbf\u2002-\u20cf\u212c-\u2199\u232b-\u2adb\u2e00-\u3029\u30ff-\ua66e\ue000-\uf8ff\U0001f000-\U0001faff"
_OTHERS = re.compile(f"[^{_SAME}]+")  # what may be, or hold, a combining mark: not punctuation, drawings, ideographs
# What may fold otherwise in a text than alone: beyond the alphabets of Europe, letters may come together once the marks
# between them are gone, and a sigma has a form of its own at a word's end.
_IN_CONTEXT = re.compile(f"[^{_SAME}\u00c0-\u03a2\u03a4-\u0530\u1e00-\u2fff\uf900-\uffff]")
_ASCII = bytes(range(128))
_ENOUGH = 64  # times a term is counted: beyond, a score hardly moves, and long texts would be read for nothing


def fold(text: str) -> str:
    """Without case and diacritics, as the word index sees it."""
    if text.isascii():
        return text.lower()
    folded = fold_bytes(text.encode("utf-8", "surrogatepass"))
    if folded is None:
        return _OTHERS.sub(_folded_run, text).lower()
    return folded.decode("utf-8", "surrogatepass")


def fold_bytes(data: bytes) -> bytes | None:
    """The same of a text in UTF-8; None where the text must be read for it, or it is none."""
    try:
        rest = set(data.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return None
    if any(_IN_CONTEXT.match(c) for c in rest):
        return None
    for c in rest:
        if (folded := _folded_alone(c)) != c:
            data = data.replace(c.encode(), folded.encode())
    return data.lower()


@lru_cache(maxsize=4096)
def _folded_alone(character: str) -> str:
    return _OTHERS.sub(_folded_run, character).lower()


def _folded_run(run: re.Match[str]) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFD", run[0]) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", plain)


def words(text: str) -> list[str]:
    return WORD.findall(fold(text))


def fit(query: Query, text: str) -> float | None:
    """How well a text fits: how often, for its length, each group is met. None where it doesn't match."""
    return fit_folded(query, fold(text))


def fit_folded(query: Query, folded: str) -> float | None:
    room = 1.0 + len(folded) / 2000.0
    total = 0.0
    for group in query.all:
        times = sum(_times(term, folded) for term in group)
        if not times:
            return None
        total += times / (times + room) * 2.0
    return None if any(next(places(term, folded), None) for term in query.none) else total


def _times(term: Term, folded: str) -> int:
    n = 0
    for _ in places(term, folded):
        n += 1
        if n == _ENOUGH:
            break
    return n


def places(term: Term, folded: str) -> Iterator[tuple[int, int]]:
    """Where a term stands in an already folded text, from the left."""
    if term.kind is TermKind.FRAGMENT:
        return _runs(fold(term.text), folded)
    parts = words(term.text)
    if len(parts) == 1:
        return _whole(parts[0], folded, open_end=term.kind is TermKind.PREFIX)
    return _rows(term, folded)


def _runs(sought: str, folded: str) -> Iterator[tuple[int, int]]:
    at = folded.find(sought) if sought else -1
    while at >= 0:
        yield at, at + len(sought)
        at = folded.find(sought, at + len(sought))


def _whole(word: str, folded: str, *, open_end: bool) -> Iterator[tuple[int, int]]:
    for start, end in _runs(word, folded):
        if _bounded(folded, start) and (open_end or end == len(folded) or not folded[end].isalnum()):
            yield start, end


def _rows(term: Term, folded: str) -> Iterator[tuple[int, int]]:
    pattern = _pattern(term)
    found = pattern.search(folded) if pattern else None
    while pattern and found:
        fits = _bounded(folded, found.start())
        if fits:
            yield found.span()
        found = pattern.search(folded, found.end() if fits else found.start() + 1)


def _bounded(folded: str, start: int) -> bool:
    return not start or not folded[start - 1].isalnum()


@lru_cache(maxsize=512)
def _pattern(term: Term) -> re.Pattern[str] | None:
    """Words in a row. It begins with the first of them, not with a look behind, so that `re` can leap to it."""
    parts = words(term.text)
    if not parts:
        return None
    body = r"[\W_]+".join(re.escape(p) for p in parts)
    return re.compile(body if term.kind is TermKind.PREFIX else body + r"(?![^\W_])")
