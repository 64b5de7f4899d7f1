"""Axes: how high, and where the labels stand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from clew.report.model import Lines, Stack

_ROOM = 1.02


@dataclass(frozen=True, slots=True)
class Scale:
    """The top of the y axis, the values that get a label, and whether the limit lies on the picture."""

    top: float
    ticks: tuple[float, ...]
    limit: float | None


def scale_of(chart: Stack | Lines, ticks: int = 4) -> Scale:
    """The limit is drawn where the values come near it; where they fill less than a third it would only squash them."""
    peak = peak_of(chart)
    top = max(peak * _ROOM, 1.0)
    limit = chart.limit if chart.limit and chart.limit <= top * 3 else None
    if limit is not None:
        top = max(top, limit * _ROOM)
    step = _step(top, ticks)
    return Scale(top, tuple(step * i for i in range(int(top / step) + 1)), limit)


def peak_of(chart: Stack | Lines) -> float:
    """The highest value there is to draw."""
    if isinstance(chart, Stack):
        return max(totals(chart), default=0.0)
    return max((v for s in chart.series for v in s.values), default=0.0)


def totals(chart: Stack) -> list[float]:
    """The height of the stack at each x."""
    return [sum(column) for column in zip(*(s.values for s in chart.series), strict=False)]


def width_of(chart: Stack | Lines) -> int:
    """How many values there are along x."""
    return max((len(s.values) for s in chart.series), default=0)


def _step(top: float, ticks: int) -> float:
    """1, 2, 2.5 or 5 times a power of ten; whole numbers only, from one on."""
    rough = top / max(1, ticks)
    power = 10.0 ** max(0, math.floor(math.log10(rough)))
    steps = (1, 2, 2.5, 5, 10) if power > 1 else (1, 2, 5, 10)
    return next(m * power for m in steps if m * power >= rough * 0.999)
