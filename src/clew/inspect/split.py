"""Where the tokens went: by kind, by tool, by file, and the largest single parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest

from clew.inspect.gather import Chain, Entry, Shrunk
from clew.inspect.values import KINDS, Heavy, Share, Touched

_SHOWN = 25
_OLD = 10  # requests after which a result counts as old


@dataclass(slots=True)
class _Sum:
    count: int = 0
    tokens: int = 0
    sent: float = 0.0

    def add(self, entry: Entry) -> None:
        self.count += 1
        self.tokens += entry.tokens
        self.sent += entry.sent


@dataclass(slots=True)
class _File:
    reads: int = 0
    changes: int = 0
    tokens: int = 0
    sent: float = 0.0


def entries(chains: Iterable[Chain]) -> Iterator[tuple[str, Entry]]:
    """All that was ever in a view: what was said, and what compactions put in its place."""
    for chain in chains:
        for entry in chain.entries:
            yield chain.name, entry
        for event in chain.events:
            if isinstance(event, Shrunk):
                for entry in event.entries:
                    yield chain.name, entry


def by_kind(chains: Iterable[Chain], unseen: int) -> tuple[Share, ...]:
    """By kind, the most sent first; `unseen` is what requests held and the file doesn't show."""
    sums = {kind: _Sum() for kind in KINDS}
    for _, entry in entries(chains):
        sums[entry.kind].add(entry)
    rows = [Share(kind, s.count, s.tokens, round(s.sent)) for kind, s in sums.items() if s.count]
    if unseen:
        rows.append(Share("unseen", 0, 0, unseen))
    return _ranked(rows)


def by_tool(chains: Iterable[Chain]) -> tuple[Share, ...]:
    """By tool, calls and results together; counted are the calls."""
    sums: dict[str, _Sum] = {}
    for _, entry in entries(chains):
        if entry.kind in ("call", "result"):
            row = sums.setdefault(entry.label.tool or "unknown tool", _Sum())
            row.add(entry)
            row.count -= entry.kind == "result"
    return _ranked(Share(name, s.count, s.tokens, round(s.sent)) for name, s in sums.items())


def _ranked(rows: Iterable[Share]) -> tuple[Share, ...]:
    return tuple(sorted(rows, key=lambda s: (-s.sent, -s.tokens, s.name)))


def by_file(chains: Iterable[Chain]) -> tuple[tuple[Touched, ...], int]:
    """The files that took most, and how many there were."""
    files: dict[str, _File] = {}
    for _, entry in entries(chains):
        label = entry.label
        if not label.path:
            continue
        row = files.setdefault(label.path, _File())
        row.tokens += entry.tokens
        row.sent += entry.sent
        if entry.kind == "call":
            row.reads += label.verb == "read"
            row.changes += label.verb == "change"
    rows = (Touched(path, f.reads, f.changes, f.tokens, round(f.sent)) for path, f in files.items())
    return tuple(nlargest(_SHOWN, rows, key=lambda t: (t.sent, t.tokens, t.path))), len(files)


def heaviest(chains: Iterable[Chain]) -> tuple[Heavy, ...]:
    """The parts that cost most over all requests."""
    most = nlargest(_SHOWN, entries(chains), key=lambda e: (e[1].sent, e[1].tokens, -e[1].position))
    return tuple(
        Heavy(e.kind, e.label.tool, e.label.target, chain, e.position, e.line, e.tokens, e.requests, round(e.sent))
        for chain, e in most
        if e.tokens
    )


def old(chains: Iterable[Chain]) -> int:
    """Tokens of tool results in requests that came more than ten after the one that brought them first."""
    total = 0.0
    for _, entry in entries(chains):
        if entry.kind == "result" and entry.requests > _OLD:
            total += entry.sent * (entry.requests - _OLD) / entry.requests
    return round(total)
