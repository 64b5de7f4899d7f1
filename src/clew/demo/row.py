"""The demo's requests in figures, and how they are shown: a line for each, and a few facts at the end."""

from __future__ import annotations

from dataclasses import dataclass

from clew.inspect.figures import money, percent, plural, tokens
from clew.report.model import Fact, Facts

_COLUMNS = (
    ("request", 7), ("turn", 5), ("agent has", 11), ("sent", 7), ("read", 7), ("written", 9), ("uncached", 10),
    ("epochs", 8), ("price", 9),
)  # fmt: skip
HEAD = "".join(f"{name:>{width}}" for name, width in _COLUMNS) + "  of sending all"


@dataclass(frozen=True, slots=True)
class Way:
    """The model that the demo's agent believes to talk to, and in which format."""

    model: str
    wire: str
    window: int = 64_000


WAYS = {"openai": Way("gpt-5", "openai-chat"), "anthropic": Way("claude-sonnet-4-6", "anthropic")}


@dataclass(frozen=True, slots=True)
class Row:
    """A request as the agent meant it (`whole`) and as the provider billed it. Costs are USD, of all requests so far,
    input and output; `whole_cost` is what they would have cost with everything sent, under the same cache rules.
    """

    request: int
    turn: int
    whole: int
    sent: int
    read: int
    written: int
    uncached: int
    epochs: int
    cost: float
    whole_cost: float

    @property
    def share(self) -> float:
        return self.cost / self.whole_cost if self.whole_cost else 1.0


@dataclass(frozen=True, slots=True)
class Played:
    """A session played through the gateway over HTTP. `refused` are the requests the provider refused, `same` says
    whether every reply reached the agent as it was scripted.
    """

    way: Way
    rows: tuple[Row, ...]
    refused: int
    same: bool
    seconds: float

    @property
    def last(self) -> Row:
        return self.rows[-1]

    @property
    def over(self) -> int:
        """Requests that would not have fitted the window."""
        return sum(r.whole > self.way.window for r in self.rows)


def line(row: Row) -> str:
    """The row under `HEAD`."""
    shown = (
        str(row.request), str(row.turn), tokens(row.whole), tokens(row.sent), tokens(row.read), tokens(row.written),
        tokens(row.uncached), str(row.epochs), money(row.cost),
    )  # fmt: skip
    cells = "".join(f"{text:>{width}}" for text, (_, width) in zip(shown, _COLUMNS, strict=True))
    return f"{cells}  {percent(row.cost, row.whole_cost):>4} of {money(row.whole_cost)}"


def summary(played: Played) -> Facts:
    """The whole run as a few figures."""
    last = played.last
    refused = plural(played.refused, "request") if played.refused else "none"
    return Facts(
        (
            Fact("requests", len(played.rows), "count"),
            Fact("larger than the window without Clew", played.over, "count"),
            Fact("refused by the provider", refused),
            Fact("epochs", last.epochs, "count"),
            Fact("price", last.cost, "money", f"({percent(last.cost, last.whole_cost)} of {money(last.whole_cost)})"),
            Fact("replies", "as scripted" if played.same else "CHANGED"),
            Fact("took", played.seconds, "seconds"),
        ),
        f"through the gateway: {played.way.model}, a window of {tokens(played.way.window)}",
    )


def as_json(played: Played) -> dict[str, object]:
    """The same for programs."""
    last = played.last
    return {
        "model": played.way.model,
        "window": played.way.window,
        "requests": len(played.rows),
        "over": played.over,
        "refused": played.refused,
        "epochs": last.epochs,
        "sent": sum(r.sent for r in played.rows),
        "read": sum(r.read for r in played.rows),
        "written": sum(r.written for r in played.rows),
        "uncached": sum(r.uncached for r in played.rows),
        "whole": sum(r.whole for r in played.rows),
        "cost": round(last.cost, 6),
        "whole_cost": round(last.whole_cost, 6),
        "share": round(last.share, 4),
        "as_scripted": played.same,
        "seconds": round(played.seconds, 2),
    }
