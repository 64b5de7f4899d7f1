"""What a report is made of, as frozen values. They know nothing of terminals or pages; renderers know nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Format: TypeAlias = Literal["text", "path", "count", "tokens", "percent", "money", "bytes", "seconds", "spark"]
Tone: TypeAlias = Literal["plain", "good", "warn", "bad", "quiet"]
Value: TypeAlias = str | int | float | tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Series:
    """One named row of numbers. `color` names one of the palette's; without it the position decides."""

    name: str
    values: tuple[float, ...]
    color: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a place of the x axis (an index into the values)."""

    at: int
    label: str


@dataclass(frozen=True, slots=True)
class Stack:
    """Series stacked over x: growth over requests. `limit` is a line to compare with, such as the window. `x` are the
    numbers below the axis, one for each value.
    """

    title: str
    series: tuple[Series, ...]
    x: tuple[int, ...] = ()
    x_name: str = ""
    format: Format = "tokens"
    limit: float | None = None
    limit_name: str = ""
    marks: tuple[Mark, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """Series beside each other over the same x: a comparison."""

    title: str
    series: tuple[Series, ...]
    x: tuple[int, ...] = ()
    x_name: str = ""
    format: Format = "tokens"
    limit: float | None = None
    limit_name: str = ""
    marks: tuple[Mark, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. `share` (0 to 1) is shown beside the value, `note` after it."""

    label: str
    value: float
    share: float | None = None
    note: str = ""
    color: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Horizontal bars, drawn to the scale of the largest."""

    title: str
    bars: tuple[Bar, ...]
    format: Format = "tokens"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. Numbers stand right; one column may `stretch`, and is cut where the width doesn't suffice."""

    name: str
    format: Format = "text"
    stretch: bool = False

    @property
    def right(self) -> bool:
        return self.format not in ("text", "path", "spark")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values; `total` is a last row set apart."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    total: tuple[Value, ...] | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure with its name."""

    name: str
    value: Value
    format: Format = "text"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """A handful of figures that stand together."""

    facts: tuple[Fact, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """One sentence of a list."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Points:
    """Sentences below each other."""

    points: tuple[Point, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph."""

    text: str
    tone: Tone = "plain"


Block: TypeAlias = Stack | Lines | Bars | Table | Facts | Points | Words


@dataclass(frozen=True, slots=True)
class Report:
    """A title, the one sentence that matters, and what follows from top to bottom."""

    title: str
    headline: str
    blocks: tuple[Block, ...]
    subtitle: str = ""
