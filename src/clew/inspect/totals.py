"""Many files added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.inspect.values import Cost, Inspection, Outcome, Share, Unreadable


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums of all readable files. `recorded` of them have their cost from recorded usage."""

    files: int
    unreadable: int
    bytes: int
    messages: int
    requests: int
    tokens: int
    sent: int
    peak: int
    recorded: int
    repeated_sent: int
    old_sent: int
    secrets: int
    problems: int
    compactions: int
    paid: Cost
    uncached: Cost
    missed_cost: float
    by_kind: tuple[Share, ...]
    by_tool: tuple[Share, ...]


def totals(outcomes: Sequence[Outcome]) -> Totals:
    """What all of them come to."""
    found = [o for o in outcomes if isinstance(o, Inspection)]
    return Totals(
        files=len(found),
        unreadable=sum(isinstance(o, Unreadable) for o in outcomes),
        bytes=sum(i.bytes for i in found),
        messages=sum(i.messages for i in found),
        requests=sum(i.requests for i in found),
        tokens=sum(i.tokens for i in found),
        sent=sum(i.sent for i in found),
        peak=max((i.peak for i in found), default=0),
        recorded=sum(i.costs.source == "recorded" for i in found),
        repeated_sent=sum(i.repeated_sent for i in found),
        old_sent=sum(i.old_sent for i in found),
        secrets=sum(i.secret_count for i in found),
        problems=sum(i.problem_count for i in found),
        compactions=sum(len(i.compactions) for i in found),
        paid=_cost(i.costs.paid for i in found),
        uncached=_cost(i.costs.uncached for i in found),
        missed_cost=round(sum(i.costs.missed_cost for i in found), 6),
        by_kind=_shares(s for i in found for s in i.by_kind),
        by_tool=_shares(s for i in found for s in i.by_tool),
    )


def _cost(costs: Iterable[Cost]) -> Cost:
    every = list(costs)
    return Cost(
        requests=sum(c.requests for c in every),
        read=sum(c.read for c in every),
        written=sum(c.written for c in every),
        uncached=sum(c.uncached for c in every),
        output=sum(c.output for c in every),
        input_cost=round(sum(c.input_cost for c in every), 6),
        cost=round(sum(c.cost for c in every), 6),
    )


def _shares(shares: Iterable[Share]) -> tuple[Share, ...]:
    rows: dict[str, Share] = {}
    for s in shares:
        known = rows.get(s.name, Share(s.name, 0, 0, 0))
        rows[s.name] = Share(s.name, known.count + s.count, known.tokens + s.tokens, known.sent + s.sent)
    return tuple(sorted(rows.values(), key=lambda s: (-s.sent, -s.tokens, s.name)))
