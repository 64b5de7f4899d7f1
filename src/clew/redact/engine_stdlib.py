"""The engine that needs nothing: `bytes.find` for literals, one pass over long words for tokens."""

from __future__ import annotations

import re

from clew.redact.names import ANCHORS
from clew.redact.tokens import infixes, shapes
from clew.redact.triggers import CLOSERS, FIXED, LITERALS, NAME_TAIL, Kind, Place, heads

# What a token's first characters are made of; a token shorter than this in such characters is searched for by itself.
_WORD = "A-Za-z0-9_.:~%\\-"
_LONG = 14


class StdlibEngine:
    """Finds the same places as the fast engine, in plain Python."""

    name = "stdlib"

    def __init__(self) -> None:
        in_word = re.compile(f"[{_WORD}]")
        self._blank = bytes(c if c < 128 and in_word.match(chr(c)) else 32 for c in range(256))
        self._tail = re.compile(f"({NAME_TAIL})(?:{CLOSERS}([:=]))?".encode())
        self._names = re.compile(b"|".join(re.escape(a).encode() for a in _shortest(ANCHORS)))
        self._fixed = [(kind, re.compile(pattern.encode())) for kind, pattern, _ in FIXED]
        self._literals = [(kind, literal.encode()) for kind, literal in LITERALS]
        worded, apart = [], []
        for kind, table in ((Kind.PREFIX, shapes()), (Kind.INFIX, infixes())):
            for shape in table:
                steady = all(in_word.match(chr(c)) for c in range(33, 127) if re.match(f"[{shape.alphabet}]", chr(c)))
                for head in heads(shape.prefix):
                    fits = steady and all(in_word.match(c) for c in head) and shape.prefix_length + shape.least >= _LONG
                    (worded if fits else apart).append((kind, head))
        worded.append((Kind.PREFIX, "eyJ"))
        self._apart = sorted({(kind, head.encode()) for kind, head in apart})
        prefixes = _trie(sorted({head for kind, head in worded if kind is Kind.PREFIX}))
        marks = _trie(sorted({head for kind, head in worded if kind is Kind.INFIX}))
        # A token begins a word, or follows what is left of an escape at a word's beginning.
        begin = r"(?:(?<![A-Za-z0-9])|(?<= [nrtbf])|(?<= [0-9A-Fa-f]{2})|(?<= [ux][0-9A-Fa-f]{2})|(?<= u[0-9A-Fa-f]{4})|(?<=[0-9]m)|(?<= m)|(?<=%[0-9A-Fa-f]{2}))"
        self._heads = re.compile(f"{begin}(?={prefixes})".encode())
        self._marks = re.compile(f"(?={marks})".encode())

    def places(self, raw: bytes) -> set[Place]:
        """Every place in the text (one byte a character) where a rule is worth trying."""
        low = raw.lower()
        out: set[Place] = set()
        for kind, literal in self._literals:
            _find(low, literal, kind, out)
        for kind, literal in self._apart:
            _find(raw, literal, kind, out)
        for kind, pattern in self._fixed:
            out.update((match.start(), kind) for match in pattern.finditer(raw))
        self._named(low, out)
        self._words(raw, out)
        return out

    def _named(self, low: bytes, out: set[Place]) -> None:
        tail = self._tail.match
        for name in self._names.finditer(low):
            match = tail(low, name.end())
            assert match is not None
            if match[2] is not None:
                out.add((match.start(2), Kind.SEPARATOR))
            after = low[match.end(1) : match.end(1) + 1]
            if after == b" ":
                out.add((match.end(1), Kind.FLAG))
            elif after == b">":
                out.add((match.end(1), Kind.ELEMENT))

    def _words(self, raw: bytes, out: set[Place]) -> None:
        words = [word for word in raw.translate(self._blank).split() if len(word) >= _LONG]
        joined = b" " + b" ".join(words)
        hits = [(m.start(), Kind.PREFIX) for m in self._heads.finditer(joined)]
        hits += [(m.start(), Kind.INFIX) for m in self._marks.finditer(joined)]
        if not hits:
            return
        hits.sort()
        # Words stand in the text in this order, so one walk over both finds where each came from.
        begin, at, number = 1, raw.find(words[0]), 0
        for place, kind in hits:
            while place >= begin + len(words[number]):
                begin += len(words[number]) + 1
                number += 1
                at = raw.find(words[number], at + len(words[number - 1]))
            out.add((at + place - begin, kind))


def _find(text: bytes, literal: bytes, kind: Kind, out: set[Place]) -> None:
    position = text.find(literal)
    while position >= 0:
        out.add((position, kind))
        position = text.find(literal, position + 1)


def _shortest(names: tuple[str, ...]) -> list[str]:
    """Without those that contain another."""
    return [name for name in names if not any(other != name and other in name for other in names)]


def _trie(words: list[str]) -> str:
    """One expression for many literals in which no character is tried twice."""
    if "" in words:
        return ""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(first) + _trie(rest) for first, rest in groups.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
