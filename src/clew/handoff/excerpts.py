"""Pieces of a message's own lines around the names worth keeping, each with a neighbour it stood with.

A name alone says little; beside what it stood with in the original it says what it was: a symbol and its file, a number
and what it counts. Pieces are folded into lines short enough to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from clew.ledger.names import DEFINES, NUMBERED, Line, names_in

_GAP = 24  # characters between two wanted names that are kept with them
_REACH = 300  # how far the neighbour of a lone name may stand
_WHOLE, _WHOLE_NAMES = 40, 6  # a line this short, with no more names, is shown whole
_PIECE, _LINE, _LINE_NAMES = 340, 360, 11
_CODE_LINE = 2_000  # a longer line is data rather than something to quote from


@dataclass(slots=True)
class Seen:
    """The names a page and those before it show, and those of them that stand beside another."""

    named: set[str] = field(default_factory=set)
    paired: set[str] = field(default_factory=set)

    def note(self, text: str) -> None:
        for line in text.split("\n"):
            here = names_in(line)
            self.named |= here
            if len(here) > 1:
                self.paired |= here


def excerpts(lines: Sequence[Line], wanted: Iterable[str], lead: str, kinds: tuple[str, ...], seen: Seen) -> list[str]:
    """Lines that show the wanted names; what they show is noted in `seen`."""
    keep = set(wanted) - seen.paired
    if not keep:
        return []
    pieces = list(_pieces([line for line in lines if line.kind in kinds], keep, seen))
    for piece in pieces:
        seen.note(piece)  # what shares a line with a piece by being folded into it stands beside nothing
    return list(_folded(pieces, lead))


def _pieces(lines: Sequence[Line], keep: set[str], seen: Seen) -> Iterator[str]:
    chosen = _best_lines(lines, keep, seen)
    shown: set[str] = set()
    texts: dict[int, str] = {}
    for j in sorted(chosen, key=lambda j: (-len(chosen[j]), j)):
        missing = chosen[j] - shown
        if missing:
            texts[j] = _stretch(lines[j], missing)
            shown |= names_in(texts[j])
    for j in sorted(texts):
        yield texts[j]


def _best_lines(lines: Sequence[Line], keep: set[str], seen: Seen) -> dict[int, set[str]]:
    """For each name the line that says most about it: with other wanted names, with neighbours, its definition."""
    best: dict[str, tuple[int, int]] = {}
    for j, line in enumerate(lines):
        hits = [n for n, _, _ in line.names if n in keep]
        if not hits or (len(line.names) == 1 and hits[0] in seen.named):
            continue
        worth = min(len(hits), 4) + 2 * (len(line.names) > 1) + (DEFINES.match(line.text) is not None)
        worth -= 3 * (len(line.text) > _CODE_LINE)
        for name in hits:
            if name not in best or worth > best[name][0]:
                best[name] = (worth, j)
    out: dict[int, set[str]] = {}
    for name, (_, j) in best.items():
        out.setdefault(j, set()).add(name)
    return out


def _stretch(line: Line, wanted: set[str]) -> str:
    """The line itself where it is short, else what stands around the wanted names."""
    text = line.text.strip()
    if len(text) <= _WHOLE and len(line.names) <= _WHOLE_NAMES:
        return text
    runs: list[list[int]] = []

    def take(k: int) -> None:
        _, start, end = line.names[k]
        if runs and start <= runs[-1][1] + _GAP:
            runs[-1][1] = max(end, runs[-1][1])
        else:
            runs.append([start, end])

    for k, (name, start, end) in enumerate(line.names):
        if name not in wanted:
            continue
        before = start - line.names[k - 1][2] if k else _REACH + 1
        after = line.names[k + 1][1] - end if k + 1 < len(line.names) else _REACH + 1
        beside = (runs and start <= runs[-1][1] + _GAP) or (k + 1 < len(line.names) and line.names[k + 1][0] in wanted)
        if not beside and before < after and before <= _REACH:
            take(k - 1)
        take(k)
        if not beside and after <= before and after <= _REACH:
            take(k + 1)
    out = " … ".join(line.text[a:b] for a, b in runs)[:_PIECE]
    number = NUMBERED.match(line.text) if line.kind == "result" else None
    return f"{number[1]}: {out}" if number is not None and runs[0][0] > number.end(1) else out


def _folded(pieces: Iterable[str], lead: str) -> Iterator[str]:
    current, held = "", frozenset[str]()
    for piece in pieces:
        here = names_in(piece)
        if current and (len(held | here) > _LINE_NAMES or len(current) + len(piece) > _LINE):
            yield lead + current
            current, held, lead = "", frozenset(), " " * len(lead)
        current = f"{current} | {piece}" if current else piece
        held |= here
    if current:
        yield lead + current
