"""The engine that needs nothing: `bytes.find` for literals, one pass over long words for tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from clew.redact.names import ANCHORS
from clew.redact.tokens import JWT_HEAD, Shape, heads, infixes, shapes
from clew.redact.triggers import (
    CALLED,
    CLOSERS,
    FALLBACK,
    FALLBACK_BACK,
    FIXED,
    LISTED,
    LITERALS,
    NAME_TAIL,
    PROSE,
    SAID_NAMES,
    SAYS,
    STEMS,
    Kind,
    Place,
)

# What a token's first characters are made of; a token shorter than this in such characters is searched for by itself.
_WORD = "A-Za-z0-9_.:~%+/=$^#!\\-"
_LONG = 13
# Stems shared by prefixes that are searched for by themselves.
_APART_STEMS = ("{S", "Atz")
# Where `setx`, `set -gx`, `setenv`, `config set`, `env`, `arg` and `#define` end.
_DEFINERS = frozenset([b"etx", b" -x", b"-gx", b"env", b"set", b"arg", b"ine"])
# From the end of what follows a name back to what separates it from its value, by group.
_BACK = {2: 1, 3: 1, 4: 2, 5: FALLBACK_BACK}
_SAID = frozenset(name.encode() for name in SAID_NAMES)
_PROSE = re.compile(PROSE.encode())
_SAYS = re.compile(f"{SAYS}(?= )".encode())
_AFTER_NAME = frozenset([b" ", b"\t", b"`", b"*", b"|"])
_CELL_END = re.compile(rb"[`*]{0,2} {0,40}")
_ITEM = re.compile(r"\[(?:\\.|[^\]\\])+\]|\\.|.")

# Literals that share a stem: kind, the literal, how far in the stem begins.
Literals = list[tuple[Kind, bytes, int]]
Stems = dict[bytes, Literals]


class StdlibEngine:
    """Finds the same places as the fast engine, in plain Python."""

    name = "stdlib"

    def __init__(self) -> None:
        in_word = re.compile(f"[{_WORD}]")
        self._blank = bytes(c if c < 128 and in_word.match(chr(c)) else 32 for c in range(256))
        self._tail = re.compile(f"({NAME_TAIL})(?:{CLOSERS}([:=])|{LISTED}(,)|{CALLED}()|{FALLBACK}())?".encode())
        self._fixed = [(kind, re.compile(pattern.encode())) for kind, pattern, _ in FIXED]
        worded = {JWT_HEAD}
        apart: set[tuple[Kind, bytes]] = set()
        for shape in shapes():
            steady = _within(in_word, shape.alphabet) and shape.prefix_length + shape.least >= _LONG
            for head in heads(shape.prefix):
                if _made_of(in_word, shape.prefix) and (steady or len(head) >= _LONG):
                    worded.add(head)
                else:
                    apart.add((Kind.PREFIX, head.encode()))
        # What holds the part of a name that is searched for anyway needs no search of its own.
        named = {(kind, head) for kind, head in apart if any(a.encode() in head for a in ANCHORS)}
        stems = _by_stem([*((kind, literal.encode()) for kind, literal in LITERALS), *sorted(named)], STEMS)
        self._names = [(a.encode(), stems.pop(a.encode(), [])) for a in ANCHORS]
        self._stems = _searches(stems)
        self._apart = _searches(_by_stem(sorted(apart - named), _APART_STEMS))
        prefixes = _trie(sorted(worded))
        self._heads = re.compile(f"[^A-Za-z0-9](?={prefixes})".encode())
        # What is left at a word's beginning of an escape, which ends in letters or digits: `\\n`, a colour; and `%3D`.
        self._escaped = re.compile(
            f" (?:[nrtbf]|u[0-9A-Fa-f]{{4}}|x[0-9A-Fa-f]{{2}}|[0-9]{{0,12}}m)(?={prefixes})".encode()
        )
        self._percent = re.compile(f"%[0-9A-Fa-f]{{2}}(?={prefixes})".encode())
        self._marks = _by_first([s for s in infixes() if _steady(in_word, s)])
        self._apart_marks = _by_first([s for s in infixes() if not _steady(in_word, s)])

    def places(self, raw: bytes) -> set[Place]:
        """Every place in the text (one byte a character) where a rule is worth trying."""
        low = raw.lower()
        out: set[Place] = set()
        for search in self._stems:
            search(low, out)
        for search in self._apart:
            search(raw, out)
        for kind, pattern in self._fixed:
            out.update((match.start(), kind) for match in pattern.finditer(raw))
        for pattern in self._apart_marks:
            out.update((match.start(), Kind.INFIX) for match in pattern.finditer(raw))
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
                if match.lastindex in _BACK:
                    out.add((match.end() - _BACK[match.lastindex], Kind.SEPARATOR))
                end = match.end(1)
                after = low[end : end + 1]
                if after == b" " and name in _SAID:
                    _said(low, end, out)
                if after in _AFTER_NAME:
                    _blank(low, end, out)
                elif after == b">":
                    out.add((end, Kind.ELEMENT))
                elif (after in {b'"', b"'"}) and low[end + 1 : end + 2] == b">":
                    out.add((end + 1, Kind.ELEMENT))
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


def _said(low: bytes, end: int, out: set[Place]) -> None:
    """A name in a sentence that goes on to say what it is."""
    prose = _PROSE.match(low, end)
    assert prose is not None
    for says in _SAYS.finditer(low, end, prose.end() + 5):
        if says.start() <= prose.end():
            out.add((says.end(), Kind.SAID))


def _blank(low: bytes, end: int, out: set[Place]) -> None:
    """A name and a blank: a flag's, or one that a word before it defines, or a cell's of a table."""
    bar = low.find(b"|", end, end + 43)
    if bar >= 0 and _CELL_END.fullmatch(low, end, bar) is not None:
        out.add((bar, Kind.CELL))
    if low.rfind(b"-", max(0, end - 64), end) >= 0 and low[end : end + 1] == b" ":
        out.add((end, Kind.FLAG))
    start = low.rfind(b" ", max(0, end - 160), end)
    if start > 0 and low[max(0, start - 12) : start].rstrip(b" ")[-3:] in _DEFINERS:
        out.add((end, Kind.DEFINE))


def _searches(stems: Stems) -> list[Callable[[bytes, set[Place]], None]]:
    """One search a stem: an expression where all that share it begin with it, else a comparison at each."""
    return [
        _expression(stem, literals)
        if len(literals) > 1 and all(offset == 0 and kind is literals[0][0] for kind, _, offset in literals)
        else partial(_find, stem, literals)
        for stem, literals in stems.items()
    ]


def _expression(stem: bytes, literals: Literals) -> Callable[[bytes, set[Place]], None]:
    rest = _trie(sorted({literal[len(stem) :].decode() for _, literal, _ in literals}))
    pattern = re.compile(f"{re.escape(stem.decode())}(?={rest})".encode())
    kind = literals[0][0]

    def search(text: bytes, out: set[Place]) -> None:
        out.update((match.start(), kind) for match in pattern.finditer(text))

    return search


def _find(stem: bytes, literals: Literals, text: bytes, out: set[Place]) -> None:
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


def _by_first(marks: list[Shape]) -> list[re.Pattern[bytes]]:
    """One expression for all marks that begin alike; only that character is consumed, so that none hides another."""
    table: dict[str, list[str]] = {}
    for shape in marks:
        first, *rest = _ITEM.findall(shape.prefix)
        table.setdefault(first, []).append(
            f"(?<={shape.left}{first}){''.join(rest)}[{shape.alphabet}]{{{shape.least}}}"
        )
    return [re.compile(f"{first}(?={'|'.join(rests)})".encode()) for first, rests in table.items()]


def _steady(in_word: re.Pattern[str], mark: Shape) -> bool:
    """Whether a token with that mark always holds a long word that the mark is in."""
    kind, length = mark.left_run
    if not (_made_of(in_word, mark.prefix) and _within(in_word, mark.alphabet) and _within(in_word, kind)):
        return False
    return length + mark.prefix_length + mark.least >= _LONG


def _made_of(in_word: re.Pattern[str], prefix: str) -> bool:
    """Whether all that a prefix (a regular expression of single characters) can be stands in words."""
    items = _ITEM.findall(prefix)
    return all(_within(in_word, item[1:-1]) if item[0] == "[" else in_word.match(item[-1]) for item in items)


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
