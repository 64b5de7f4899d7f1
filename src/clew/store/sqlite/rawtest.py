"""Turning wrong proposals down on a message's bytes, before they are read as JSON and folded.

A test may let a message through that doesn't match, never the reverse: it is only made of what every writer of JSON
writes alike, and only taken at its word where nothing in the message folds into such letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from clew.store.match import WORD, fold, fold_bytes
from clew.store.query import Query, TermKind

_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_IDEOGRAPHS = re.compile(r"[\u4e00-\u9fff]+")
# What may stand between two words: at least one sign, and the letters of escapes such as \n and \u001b.
_BETWEEN = rb"[^a-z0-9]+(?:(?:[nrtbf]|u[0-9a-f]{4})[^a-z0-9]*)*"
_LAST, _FIRST = b"(?:" + _BETWEEN + b')?"', b'"(?:' + _BETWEEN + b")?"  # after a part's last word, before its first

_ASCII = bytes(range(128))
# Of what is left without ASCII: what may fold into letters and signs of ASCII, and marks that folding takes out. Not punctuation,
# drawings, ideographs, emoji.
_FOLDING = re.compile(
    rb"[\xc0\xc1\xc4-\xc9\xcc\xcd\xd2\xd6-\xe1\xf1-\xff]|\xc3[^\x86\x90\x97\x98\x9e\x9f\xa6\xb0\xb7\xb8\xbe]|\xe2(?:\x84[\xaa\xab]|\x89[\xa0\xae\xaf]|[\x83\xb3\xb5\xb7])"
    rb"|\xe3(?:\x80[\xaa-\xaf]|\x82[\x99\x9a])|\xea[\x99-\xaf]|\xef(?:[\xac\xad]|\xb8[\xa0-\xaf])|\xf0[^\x9f]"
)
_MARKS = re.compile(
    rb"[\xcc\xcd\xd2\xd6-\xe1\xea-\xed\xf1-\xff]|\xe2[\x83\xb3\xb5\xb7]|\xe3(?:\x80[\xaa-\xaf]|\x82[\x99\x9a])|\xef[\xa4-\xad\xb8]"
    rb"|\xf0[^\x9f-\xaa]"
)  # of what is left, marks between ideographs, and other forms of them
_ESCAPE = re.compile(
    rb"\\u(?!00(?:[0-2].|3[a-fA-F]|40|5[b-eB-E]|60|7[b-fB-F]|[89abAB].)|20[0-9a-cA-C].|21[3-9a-fA-F].|22[0-57-9a-fA-F].|2[3-9abAB].."
    rb"|[4-9]...|[dD]83[c-eC-E]|[dD][c-fC-F]..|[eE]...|[fF][0-8]..)[0-9a-fA-F]{4}"
)  # of a character that may fold into a letter, or is one

_INSIDE = re.compile(r"[a-z0-9_./()=@+;#$%^*~`|?!-]+")  # stands in JSON as itself, and nowhere but within one string
_NUMBER = re.compile(r"[0-9.e+-]+")  # JSON may spell it otherwise
_SPELLED = re.compile(rb"\\u00(?!22|26|27|3c|3e|5c|7f)[2-7][0-9a-f]")  # of these, by escape


@dataclass(frozen=True, slots=True)
class _Row:
    """Words in a row, in one part of a message or across some: a call's name and its arguments, one text and the next.
    Between parts JSON has words of its own, in whatever order: then the first of the row end a part, the last begin one.
    """

    whole: re.Pattern[bytes]
    heads: tuple[re.Pattern[bytes], ...]
    tails: tuple[re.Pattern[bytes], ...]

    def found(self, lower: bytes) -> bool:
        if self.whole.search(lower):
            return True
        return any(h.search(lower) for h in self.heads) and any(t.search(lower) for t in self.tails)


@dataclass(frozen=True, slots=True)
class RawTest:
    """`letters` must stand in the lower-cased bytes, `rows` be found in them, `ideographs` stand in them unescaped,
    `pieces` stand in them but for how JSON may write a slash. `simple` says that nothing but ASCII is looked for.
    """

    letters: tuple[bytes, ...]
    pieces: tuple[bytes, ...]
    rows: tuple[_Row, ...]
    ideographs: tuple[bytes, ...]
    simple: bool

    def may_match(self, raw: bytes) -> bool:
        if any(i not in raw for i in self.ideographs) and b"\\u" not in raw:
            return bool(_MARKS.search(raw.translate(None, _ASCII)))
        if not self.letters and not self.rows and not self.pieces:
            return True
        lower = raw.lower()
        escapes = b"\\u" in raw
        if self._found(lower) or self._spelled_otherwise(lower, escapes) or (escapes and _ESCAPE.search(raw)):
            return True
        if raw.isascii() or not _FOLDING.search(raw.translate(None, _ASCII)):
            return False
        folded = fold_bytes(raw)
        return folded is None or self._found(folded) or self._spelled_otherwise(folded, escapes)

    def _found(self, lower: bytes) -> bool:
        if not all(n in lower for n in (*self.letters, *self.pieces)):
            return False
        return all(r.found(lower) for r in self.rows)

    def _spelled_otherwise(self, lower: bytes, escapes: bool) -> bool:
        if self.pieces and escapes and _SPELLED.search(lower):
            return True
        slashed = any(b"/" in p for p in self.pieces) and b"\\/" in lower
        return slashed and all(p in lower.replace(b"\\/", b"/") for p in self.pieces)

    def folded(self, raw: bytes, text: str) -> str:
        """The message's text, folded as far as this query needs: the full way is ten times slower."""
        if self.simple and not text.isascii() and _telling(raw, b"\\u" in raw):
            return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
        return fold(text)


def raw_test(query: Query) -> RawTest:
    letters: list[bytes] = []
    inside: list[bytes] = []
    rows: list[_Row] = []
    ideographs: list[bytes] = []
    for group in query.all:
        if len(group) == 1:
            folded = fold(group[0].text)
            ideographs += _longest(_IDEOGRAPHS.findall(folded))
            pieces = WORD.findall(folded)
            if group[0].kind is TermKind.FRAGMENT and _INSIDE.fullmatch(folded) and not _NUMBER.fullmatch(folded):
                inside.append(folded.encode())
                pieces = []
            elif group[0].kind is TermKind.FRAGMENT:
                letters += _longest(_NAME.findall(folded))
                pieces = list(takewhile(lambda p: not p[0].isdigit(), pieces))
            else:
                letters += _longest([p for p in pieces if p.isascii()])
            rows += _row(pieces)
    simple = all(t.text.isascii() for t in (*(t for g in query.all for t in g), *query.none))
    return RawTest(tuple(letters), tuple(inside), tuple(rows), tuple(ideographs), simple)


def _row(found: Sequence[str]) -> list[_Row]:
    if len(found) < 2 or not all(w.isascii() for w in found):
        return []
    return [_compiled(tuple(w.encode() for w in found))]


@lru_cache(maxsize=64)
def _compiled(found: tuple[bytes, ...]) -> _Row:
    heads = tuple(re.compile(_BETWEEN.join(found[:n]) + _LAST) for n in range(1, len(found)))
    tails = tuple(re.compile(_FIRST + _BETWEEN.join(found[n:])) for n in range(1, len(found)))
    return _Row(re.compile(_BETWEEN.join(found)), heads, tails)


def _longest(runs: Sequence[str]) -> list[bytes]:
    return [max(runs, key=len).encode()] if runs else []


def _telling(raw: bytes, escapes: bool) -> bool:
    """Whether every letter a to z, and every digit, of the message's text stands in its bytes as itself."""
    if not raw.isascii() and _FOLDING.search(raw.translate(None, _ASCII)):
        return False
    return not escapes or not _ESCAPE.search(raw)
