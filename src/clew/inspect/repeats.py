"""The same thing asked for again: files read over and over, commands run twice, results that came word for word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from clew.inspect.gather import Chain, Entry
from clew.inspect.values import Repeat

_LEAST = 30  # tokens: "done" twice is no repeat; nor is what a change to a file answers
_SHOWN = 25


@dataclass(slots=True)
class _Group:
    kind: str
    target: str
    times: int = 0
    same: int = 0
    total: int = 0
    tokens: int = 0
    sent: float = 0.0
    contents: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Repeats:
    """The groups, the costliest first, and the sum of every copy in the file."""

    shown: tuple[Repeat, ...]
    tokens: int
    sent: int
    copies: int


def repeats(chains: Iterable[Chain]) -> Repeats:
    """Groups by what was asked for; a copy is a result that an earlier one of its chain equals."""
    found: list[_Group] = []
    for chain in chains:
        groups: dict[str, _Group] = {}
        seen: set[str] = set()
        for entry in chain.entries:
            if entry.kind == "result" and entry.tokens >= _LEAST and entry.content and entry.label.verb != "change":
                _take(groups, seen, entry)
        found += groups.values()
    # A file counts as repeated by its readings, anything else only where the same words came back.
    repeated = [g for g in found if g.times > 1 and (g.same or g.kind == "file")]
    repeated.sort(key=lambda g: (-g.sent, -g.tokens, -g.total, g.target))
    return Repeats(
        tuple(Repeat(g.kind, g.target, g.times, g.same, g.total, g.tokens, round(g.sent)) for g in repeated[:_SHOWN]),
        sum(g.tokens for g in found),
        round(sum(g.sent for g in found)),
        sum(g.same for g in found),
    )


def _take(groups: dict[str, _Group], seen: set[str], entry: Entry) -> None:
    label = entry.label
    key = label.key or f"{label.tool}\0{label.target}"
    group = groups.setdefault(key, _Group(label.kind or "result", label.target or label.tool or "unknown tool"))
    group.times += 1
    group.total += entry.tokens
    if entry.content in seen:
        group.same += 1
        group.tokens += entry.tokens
        group.sent += entry.sent
    seen.add(entry.content)
