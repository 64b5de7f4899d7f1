"""The engine that needs nothing: `bytes.find` for literals, one pass over long words for tokens."""

from __future__ import annotations

import re

from clew.redact.names import ANCHORS
from clew.redact.tokens import JWT_HEAD, infixes, shapes
from clew.redact.triggers import CLOSERS, FIXED, LISTED, LITERALS, NAME_TAIL, STEMS, Kind, Place, heads

# What a token's first characters are made of; a token shorter than this in such characters is searched for by itself.
_WORD = "A-Za-z0-9_.:~%\\-"
_LONG = 14
# Stems shared by prefixes that are searched for by themselves.
_ITEM = re.compile(r"\[[^\]]+\]|\\.|.")
_APART_STEMS = ("eyJ", "TT3", "fm1", "fm2")


# Literals that share a stem: kind, the literal, how far in the stem begins.
Literals = list[tuple[Kind, bytes, int]]
Stems = dict[bytes, Literals]


class StdlibEngine:
    """Finds the same places as the fast engine, in plain Python."""

    name = "stdlib"

    def __init__(self) -> None:
        in_word = re.compile(f"[{_WORD}]")
        self._blank = bytes(c if c < 128 and in_word.match(chr(c)) else 32 for c in range(256))
        self._tail = re.compile(f"({NAME_TAIL})(?:{CLOSERS}([:=])|{LISTED}(,))?".encode())
        self._fixed = [(kind, re.compile(pattern.encode())) for kind, pattern, _ in FIXED]
        worded: list[str] = []
        apart: list[tuple[Kind, bytes]] = []
        for shape in shapes():
            steady = _within(in_word, shape.alphabet) and shape.prefix_length + shape.least >= _LONG
            for head in heads(shape.prefix):
                if all(in_word.match(c) for c in head) and (steady or len(head) >= _LONG):
                    worded.append(head)
                else:
                    apart.append((Kind.PREFIX, head.encode()))
        apart.append((Kind.PREFIX, JWT_HEAD.encode()))
        # What holds the part of a name that is searched for anyway needs no search of its own.
        named = [(kind, head) for kind, head in apart if any(a.encode() in head for a in ANCHORS)]
        stems = _by_stem([*((kind, literal.encode()) for kind, literal in LITERALS), *named], STEMS)
        self._names = [(a.encode(), stems.pop(a.encode(), [])) for a in ANCHORS]
        self._stems = list(stems.items())
        self._apart = list(_by_stem(sorted(set(apart) - set(named)), _APART_STEMS).items())
        prefixes = _trie(sorted(set(worded)))
        self._heads = re.compile(f"(?<![A-Za-z0-9])(?={prefixes})".encode())
        # What is left at a word's beginning of an escape, which ends in letters or digits: `\\n`, `%3D`, a colour.
        self._escaped = re.compile(
            f" (?:[nrtbf]|u[0-9A-Fa-f]{{4}}|x?[0-9A-Fa-f]{{2}}|[0-9]{{0,3}}m)(?={prefixes})".encode()
        )
        self._percent = re.compile(f"%[0-9A-Fa-f]{{2}}(?={prefixes})".encode())
        # Only the first character is consumed, so that a mark which begins within another is seen too.
        self._marks = [
            re.compile(f"{_ITEM.sub(_look_ahead, s.prefix, count=1)}[{s.alphabet}]{{{s.least}}})".encode())
            for s in infixes()
        ]

    def places(self, raw: bytes) -> set[Place]:
        """Every place in the text (one byte a character) where a rule is worth trying."""
        low = raw.lower()
        out: set[Place] = set()
        _find(low, self._stems, out)
        _find(raw, self._apart, out)
        for kind, pattern in self._fixed:
            out.update((match.start(), kind) for match in pattern.finditer(raw))
        self._named(low, out)
        self._words(raw, out)
        return out

    def _named(self, low: bytes, out: set[Place]) -> None:
        tail = self._tail.match
        for name, literals in self._names:
            position = low.find(name)
            while position >= 0:
                match = tail(low, position + len(name))
                assert match is not None
                if match.lastindex != 1:
                    out.add((match.end() - 1, Kind.SEPARATOR))
                after = low[match.end(1) : match.end(1) + 1]
                if after == b" ":
                    out.add((match.end(1), Kind.FLAG))
                elif after == b">":
                    out.add((match.end(1), Kind.ELEMENT))
                for kind, literal, offset in literals:
                    if position >= offset and low.startswith(literal, position - offset):
                        out.add((position - offset, kind))
                position = low.find(name, position + 1)

    def _words(self, raw: bytes, out: set[Place]) -> None:
        words = [word for word in raw.translate(self._blank).split() if len(word) >= _LONG]
        joined = b" " + b" ".join(words)
        hits = [(m.end(), Kind.PREFIX) for p in (self._heads, self._escaped, self._percent) for m in p.finditer(joined)]
        hits += [(m.start(), Kind.INFIX) for p in self._marks for m in p.finditer(joined)]
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


def _look_ahead(first: re.Match[str]) -> str:
    return f"{first[0]}(?="


def _find(text: bytes, stems: list[tuple[bytes, Literals]], out: set[Place]) -> None:
    for stem, literals in stems:
        position = text.find(stem)
        while position >= 0:
            for kind, literal, offset in literals:
                if position >= offset and text.startswith(literal, position - offset):
                    out.add((position - offset, kind))
            position = text.find(stem, position + 1)


def _by_stem(literals: list[tuple[Kind, bytes]], stems: tuple[str, ...]) -> Stems:
    """For each stem, the literals that hold it and how far in; a literal that holds none is its own."""
    table: Stems = {}
    for kind, literal in literals:
        stem = next((s.encode() for s in stems if s.encode() in literal), literal)
        table.setdefault(stem, []).append((kind, literal, literal.index(stem)))
    return table


def _within(in_word: re.Pattern[str], alphabet: str) -> bool:
    return all(in_word.match(chr(c)) for c in range(33, 127) if re.match(f"[{alphabet}]", chr(c)))


def _trie(words: list[str]) -> str:
    """One expression for many literals in which no character is tried twice."""
    if "" in words:
        return ""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(first) + _trie(rest) for first, rest in groups.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
