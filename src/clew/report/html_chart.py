"""Charts as SVG: areas, lines, a limit, marks, and the numbers behind them for the pointer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate

from clew.jsonio import dumps
from clew.report.format import buckets, shown
from clew.report.model import Lines, Series, Stack
from clew.report.palette import PALETTE, color
from clew.report.scale import Scale, peak_of, scale_of, width_of

_WIDTH, _HEIGHT = 960, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 16, 30
_INNER = _WIDTH - _LEFT - _RIGHT
_TALL = _HEIGHT - _TOP - _BOTTOM


def stack(chart: Stack) -> Iterator[str]:
    """Areas on each other."""
    if not width_of(chart) or not peak_of(chart):
        yield "<p class=quiet>nothing to draw</p>"
        return
    scale = scale_of(chart)
    count = width_of(chart)
    below = [0.0] * count
    areas = []
    for i, series in enumerate(chart.series):
        above = [low + max(0.0, v) for low, v in zip(below, series.values, strict=True)]
        areas.append(_area(below, above, scale, _class(series, i), series.name))
        below = above
    yield from _framed(chart, scale, areas)


def plot(chart: Lines) -> Iterator[str]:
    """Lines beside each other."""
    if not width_of(chart) or not peak_of(chart):
        yield "<p class=quiet>nothing to draw</p>"
        return
    scale = scale_of(chart)
    count = width_of(chart)
    drawn = [
        f'<polyline class="line {_class(s, i)}" points="'
        + " ".join(f"{_x(n, count):.1f},{_y(v, scale):.1f}" for n, v in enumerate(s.values))
        + f'"><title>{escape(s.name)}</title></polyline>'
        for i, s in enumerate(chart.series)
    ]
    yield from _framed(chart, scale, drawn)


def spark(values: Sequence[float]) -> str:
    """A small area without axes."""
    points = buckets(tuple(values), 40)
    most = max(points, default=0) or 1
    step = 80 / max(1, len(points) - 1)
    line = " ".join(f"{n * step:.1f},{20 - 19 * max(0, v) / most:.1f}" for n, v in enumerate(points))
    return f'<svg viewBox="0 0 80 20" class=tiny><polygon class="c-blue" points="0,20 {line} 80,20"/></svg>'


def _class(series: Series, position: int) -> str:
    tint = color(series.color, position)
    return next(f"c-{name}" for name, value in PALETTE.items() if value is tint)


def _x(at: float, count: int) -> float:
    return _LEFT + (_INNER * at / (count - 1) if count > 1 else _INNER / 2)


def _y(value: float, scale: Scale) -> float:
    return _TOP + _TALL * (1 - max(0.0, value) / scale.top)


def _area(low: Sequence[float], high: Sequence[float], scale: Scale, tint: str, name: str) -> str:
    count = len(high)
    ends = (lambda n: (_LEFT, _LEFT + _INNER)[n]) if count == 1 else None
    xs = [ends(0), ends(1)] if ends else [_x(n, count) for n in range(count)]
    tops, floors = ([high[0]] * 2, [low[0]] * 2) if count == 1 else (list(high), list(low))
    there = [f"{x:.1f},{_y(v, scale):.1f}" for x, v in zip(xs, tops, strict=True)]
    back = [f"{x:.1f},{_y(v, scale):.1f}" for x, v in zip(reversed(xs), reversed(floors), strict=True)]
    return f'<polygon class="{tint}" points="{" ".join(there + back)}"><title>{escape(name)}</title></polygon>'


def _framed(chart: Stack | Lines, scale: Scale, drawn: Sequence[str]) -> Iterator[str]:
    count = width_of(chart)
    x = chart.x or tuple(range(1, count + 1))
    yield from _legend(chart, scale)
    data = {
        "x": list(x),
        "names": [s.name for s in chart.series],
        "tints": [_class(s, i) for i, s in enumerate(chart.series)],
        "values": [[shown(v, chart.format) for v in s.values] for s in chart.series],
        "totals": [shown(t, chart.format) for t in _totals(chart)],
        "name": chart.x_name,
        "left": _LEFT, "right": _WIDTH - _RIGHT, "width": _WIDTH,
    }  # fmt: skip
    yield f"<div class=chart data-chart='{escape(dumps(data).decode(), quote=True)}'>"
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(chart.title)}">'
    for tick in scale.ticks:
        y = _y(tick, scale)
        yield f'<line class=grid x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class=axis x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{shown(tick, chart.format)}</text>'
    yield from drawn
    if scale.limit is not None:
        y = _y(scale.limit, scale)
        label = f"{chart.limit_name} {shown(scale.limit, chart.format)}".strip()
        yield f'<line class=limit x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class=limit x="{_LEFT + 6}" y="{y - 5:.1f}">{escape(label)}</text>'
    yield from _marks(chart, count)
    yield from _below(chart, x)
    yield f'<line class=pointer x1="0" x2="0" y1="{_TOP}" y2="{_TOP + _TALL}"/>'
    yield "</svg><div class=tip hidden></div></div>"


def _totals(chart: Stack | Lines) -> list[float]:
    if isinstance(chart, Lines):
        return []
    return [list(accumulate(column))[-1] for column in zip(*(s.values for s in chart.series), strict=True)]


def _marks(chart: Stack | Lines, count: int) -> Iterator[str]:
    for mark in chart.marks:
        x = _x(mark.at, count)
        yield f'<line class=mark x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + _TALL}"/>'
        anchor = "end" if x > _WIDTH * 0.8 else "start"
        shift = 4 if anchor == "end" else -4
        yield f'<text class=mark x="{x + shift:.1f}" y="{_TOP - 5}" text-anchor="{anchor}">{escape(mark.label)}</text>'


def _below(chart: Stack | Lines, x: Sequence[int]) -> Iterator[str]:
    count = len(x)
    wanted = sorted({round(i * (count - 1) / 6) for i in range(7)})
    for n in wanted:
        anchor = "start" if n == 0 and count > 1 else "end" if n == count - 1 and count > 1 else "middle"
        label = f"{chart.x_name} {x[n]:,}".strip() if n == 0 else f"{x[n]:,}"
        yield f'<text class=axis x="{_x(n, count):.1f}" y="{_HEIGHT - 8}" text-anchor="{anchor}">{escape(label)}</text>'


def _legend(chart: Stack | Lines, scale: Scale) -> Iterator[str]:
    yield "<p class=legend>"
    for i, s in enumerate(chart.series):
        yield f'<span><i class="{_class(s, i)}"></i>{escape(s.name)}</span>'
    if scale.limit is None and chart.limit and chart.limit_name:
        yield f"<span class=quiet>{escape(chart.limit_name)} {shown(chart.limit, chart.format)}, above the picture</span>"
    yield "</p>"
