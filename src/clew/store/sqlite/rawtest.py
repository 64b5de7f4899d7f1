"""Turning wrong proposals down on a message's bytes, before they are read as JSON and folded.

A test may let a message through that doesn't match, never the reverse: it is only made of what every writer of JSON
writes alike, and only taken at its word where nothing in the message folds into such letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew.store.match import WORD, fold
from clew.store.query import Query, TermKind

_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_IDEOGRAPHS = re.compile(r"[\u4e00-\u9fff]+")
_BETWEEN = rb"(?:\\+[nrtbf]|\\+u[0-9a-f]{4}|[^a-z0-9])+"  # what may stand between two words, escaped or not

# Bytes of UTF-8 that belong to no letter which folds into another, and the blocks among them where some do, or are marks.
_INERT = bytes([*range(0xC0), 0xC2, 0xE2, *range(0xE4, 0xEA), 0xEE, 0xF0])
_SIGNS = (b"\xe2\x84\xaa", b"\xe2\x84\xab", b"\xe2\x83", b"\xe2\xb3", b"\xe2\xb5", b"\xe2\xb7")
_FAR = re.compile(rb"\xf0[^\x9f]")  # beyond the first 65,536 characters only emoji are safe
_ESCAPE = re.compile(
    rb"\\u(?!00(?:[0-2].|3[a-f]|40|5[b-e]|60|7[b-f]|[89ab].)|20[0-c].|21[3-9a-f].|2[2-9ab]..|[4-9]...|d83[c-e]|d[c-f]..)",
    re.IGNORECASE,
)  # of a character that may fold into a letter, or is one


@dataclass(frozen=True, slots=True)
class RawTest:
    """`letters` must stand in the lower-cased bytes, `rows` be found in them, `ideographs` stand in them unescaped."""

    letters: tuple[bytes, ...]
    rows: tuple[re.Pattern[bytes], ...]
    ideographs: tuple[bytes, ...]

    def may_match(self, raw: bytes) -> bool:
        if self.ideographs and b"\\u" not in raw and any(i not in raw for i in self.ideographs):
            return False
        if not (self.letters or self.rows) or not _telling(raw):
            return True
        lower = raw.lower()
        return all(n in lower for n in self.letters) and all(r.search(lower) for r in self.rows)


def raw_test(query: Query) -> RawTest:
    letters: list[bytes] = []
    rows: list[re.Pattern[bytes]] = []
    ideographs: list[bytes] = []
    for group in query.all:
        if len(group) == 1:
            folded = fold(group[0].text)
            ideographs += _longest(_IDEOGRAPHS.findall(folded))
            if group[0].kind is TermKind.FRAGMENT:
                letters += _longest(_NAME.findall(folded))
            else:
                rows += _row(WORD.findall(folded))
                letters += _longest([w for w in WORD.findall(folded) if w.isascii()])
    return RawTest(tuple(letters), tuple(rows), tuple(ideographs))


def _row(found: Sequence[str]) -> list[re.Pattern[bytes]]:
    if len(found) < 2 or not all(w.isascii() for w in found):
        return []
    return [re.compile(_BETWEEN.join(w.encode() for w in found))]


def _longest(runs: Sequence[str]) -> list[bytes]:
    return [max(runs, key=len).encode()] if runs else []


def _telling(raw: bytes) -> bool:
    """Whether every letter a to z, and every digit, of the message's text stands in its bytes as itself."""
    if not raw.isascii() and (raw.translate(None, _INERT) or any(s in raw for s in _SIGNS) or _FAR.search(raw)):
        return False
    return b"\\u" not in raw or not _ESCAPE.search(raw)
