"""Replays and single steps as reports: prices beside memory, the window over time, each decision with its figures."""

from __future__ import annotations

from collections.abc import Sequence

from clew.engine.values import Epoch
from clew.replay import Replay
from clew.report.model import Block, Column, Lines, Mark, Point, Points, Report, Series, Table

_COLUMNS = (
    Column("policy"),
    Column("sent", "tokens"),
    Column("price", "percent"),
    Column("cached", "percent"),
    Column("recall", "percent"),
    Column("far", "percent"),
    Column("ready", "percent"),
    Column("epochs", "count"),
    Column("peak", "tokens"),
    Column("over", "count"),
    Column("invalid", "count"),
)


def of_replays(title: str, replays: Sequence[Replay], *, explain: bool = False) -> Report:
    """One session under several policies."""
    first = replays[0]
    blocks: list[Block] = [
        Table(
            "",
            _COLUMNS,
            tuple(_row(r) for r in replays),
            note="price: the input bill with a prefix cache, against sending everything. recall: of the names that the "
            "agent then used, those still in view; far: last said more than 8,000 tokens before; ready: calls with all "
            "of theirs. over: requests larger than the window",
        ),
        Lines(
            "tokens of each request",
            tuple(Series(r.policy, tuple(float(s.tokens) for s in r.steps)) for r in replays),
            x=tuple(range(1, len(first.steps) + 1)),
            x_name="request",
            limit=float(first.window),
            limit_name="window",
            marks=tuple(Mark(at, f"epoch {e.number}") for e, at in _epoch_steps(first))[:12],
        ),
    ]
    if explain and first.epochs:
        blocks.append(Points(tuple(Point(_decision(e)) for e in first.epochs), "each epoch and why"))
    elif first.epochs:
        blocks.append(Points(tuple(Point(line) for line in first.epochs[-1].receipt.lines()), "the last receipt"))
    return Report(title, _headline(first), tuple(blocks))


def _row(r: Replay) -> tuple[str | int | float, ...]:
    need = r.need
    return (
        r.policy, r.sent, r.share, r.hits, need.recall, need.far_recall, need.readiness, len(r.epochs), r.peak, r.over,
        r.invalid,
    )  # fmt: skip


def _headline(r: Replay) -> str:
    fits = "every request fits" if not r.over else f"{r.over} of {len(r.steps)} requests don't fit"
    return (
        f"{r.policy}: {len(r.steps)} requests for {r.share:.0%} of the price of sending everything, "
        f"{r.need.recall:.1%} of what the agent needed still in view; {fits} {r.window:,} tokens"
    )


def _epoch_steps(r: Replay) -> list[tuple[Epoch, int]]:
    """Each epoch with the index of the first request after it."""
    out = []
    for e in r.epochs:
        at = next((i for i, s in enumerate(r.steps) if s.epoch >= e.number), None)
        if at is not None:
            out.append((e, at))
    return out


def _decision(e: Epoch) -> str:
    receipt = e.receipt
    moved = f"messages {e.span.start}–{e.span.end - 1} into the handoff" if len(e.span) else "what stays is shortened"
    return (
        f"epoch {e.number} at message {e.at} ({e.urgency.value}: {receipt.why}): {moved}, "
        f"{receipt.before:,} → {receipt.after:,} tokens, {receipt.rewritten:,} rewritten, written by the {e.written_by}"
        + (f", tightened to level {e.level}" if e.level else "")
        + "; "
        + "; ".join(c.sentence for c in receipt.counts if c.detected)
    )


def as_json(replays: Sequence[Replay]) -> list[dict[str, object]]:
    """The same figures for programs."""
    return [
        {
            "policy": r.policy,
            "window": r.window,
            "requests": len(r.steps),
            "sent": r.sent,
            "price": round(r.share, 4),
            "cache_hits": round(r.hits, 4),
            "recall": round(r.need.recall, 4),
            "far": round(r.need.far_recall, 4),
            "ready": round(r.need.readiness, 4),
            "peak": r.peak,
            "over": r.over,
            "invalid": r.invalid,
            "prefix_breaks": r.prefix_breaks,
            "epochs": [
                {
                    "number": e.number,
                    "at": e.at,
                    "urgency": e.urgency.value,
                    "written_by": e.written_by,
                    "level": e.level,
                    "receipt": e.receipt.figures(),
                }
                for e in r.epochs
            ],
        }
        for r in replays
    ]
