"""The piece of a message around what was found, with marks on it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from clew.store.match import fold, places
from clew.store.query import Query

_PLACES = 64  # of each term that are looked at
_SPACE = re.compile(r"\s+")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]|" + _CONTROLS.pattern
)  # what a terminal would obey instead of showing, and what turns the direction of writing


@dataclass(frozen=True, slots=True)
class Snippet:
    """A line of text; `marks` are the places in it, from and up to, that match."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def marked(self, before: str = "\u00bb", after: str = "\u00ab") -> str:
        pieces, at = [], 0
        for start, end in self.marks:
            pieces += [self.text[at:start], before, self.text[start:end], after]
            at = end
        return "".join([*pieces, self.text[at:]])


def plain(text: str) -> str:
    """Text that is safe to show anywhere: no control sequences, lines and tabs kept."""
    return _ESCAPES.sub("", text.replace("\r\n", "\n")) if _CONTROLS.search(text) else text


def snippet(text: str, query: Query, *, width: int = 240) -> Snippet:
    """`width` characters of an already masked text, chosen so that most of the query is seen."""
    text = unicodedata.normalize("NFC", plain(text))
    found = _found(text, query)
    start = _best_start(found, width)
    first = max(0, start - width // 4) if found else 0
    end = min(len(text), first + width)
    first = max(0, min(first, end - width))
    marks = [(s, min(e, end)) for s, e in _merged((s, e) for s, e, _ in found) if first <= s < end]
    return _one_line(text, first, end, marks)


def _found(text: str, query: Query) -> list[tuple[int, int, int]]:
    """Start, end and number of the group for each place, from the left."""
    folded = fold(text)
    at = _offsets(text, folded)
    if len(at) != len(folded):
        return []
    places_ = [
        (at[s], at[e - 1] + 1, n)
        for n, group in enumerate(query.all)
        for term in group
        for s, e in islice(places(term, folded), _PLACES)
    ]
    return sorted(places_)


def _offsets(text: str, folded: str) -> range | list[int]:
    """Which character of the text each folded one comes from. Folding only ever takes characters away."""
    if len(folded) == len(text):
        return range(len(text))
    return [i for i, c in enumerate(text) if fold(c)]


def _best_start(found: list[tuple[int, int, int]], width: int) -> int:
    """Where the run begins that shows most groups; the first of several."""
    best, chosen = 0, found[0][0] if found else 0
    for n, (start, _, _) in enumerate(found):
        seen = set()
        for s, e, group in found[n:]:
            if s >= start + width * 3 // 4:
                break
            if e <= start + width * 3 // 4:
                seen.add(group)
        if len(seen) > best:
            best, chosen = len(seen), start
    return chosen


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for s, e in spans:
        if merged and s < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(e, merged[-1][1]))
        else:
            merged.append((s, e))
    return merged


def _one_line(text: str, first: int, end: int, marks: list[tuple[int, int]]) -> Snippet:
    """White space becomes single spaces, and the marks follow."""
    out = "…" if first else ""
    moved, at = [], first
    for s, e in marks:
        out += _SPACE.sub(" ", text[at:s])
        begin = len(out)
        out += _SPACE.sub(" ", text[s:e])
        moved.append((begin, len(out)))
        at = e
    out += _SPACE.sub(" ", text[at:end]) + ("…" if end < len(text) else "")
    return Snippet(out, tuple(moved))
