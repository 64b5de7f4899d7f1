"""Stacked growth and line comparison in a terminal: colours in eighths of a cell, textures where there is no colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.report.canvas import Line, Look, Span, cells, fit
from clew.report.format import shown
from clew.report.model import Lines, Series, Stack
from clew.report.palette import Color, color
from clew.report.scale import Scale, peak_of, scale_of, totals, width_of

_LOW, _HIGH = 12, 16  # rows, below and from a hundred columns on
_UPPER = " ▁▂▃▄▅▆▇█"
_MARKERS = "*o+x@%&"
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille cell, from the top


def stack(chart: Stack, look: Look) -> Iterator[Line]:
    """Columns of stacked series, with the limit as a broken line and marks below the axis."""
    count = width_of(chart)
    if not count or not peak_of(chart):
        yield (Span("nothing to draw", "dim"),)
        return
    scale = scale_of(chart)
    margin = _margin(chart, scale)
    room = max(8, look.width - margin - 1)
    places = _places(totals(chart), room)
    colors = [color(s.color, i) for i, s in enumerate(chart.series)]
    rows = _rows(look)
    columns = [_heights(chart.series, i, scale.top / rows) for i in places]
    for row in range(rows - 1, -1, -1):
        body = [_cell(c, row, colors, look) for c in columns]
        yield _framed(chart, scale, row, margin, _limited(body, scale, row, look), look)
    yield from _axis(chart, places, margin, look)
    yield from _legend(list(zip(chart.series, colors, strict=True)), look, margin, chart, scale)


def _rows(look: Look) -> int:
    return _HIGH if look.width >= 100 else _LOW


def _margin(chart: Stack | Lines, scale: Scale) -> int:
    labels = [shown(t, chart.format) for t in scale.ticks]
    return max(*(len(t) for t in labels), 4) + 1


def _row_of(value: float, scale: Scale, rows: int) -> int:
    """The row, counted from below, that a value stands in."""
    return min(rows - 1, int(max(0.0, value) / scale.top * rows))


def _places(heights: Sequence[float], room: int) -> list[int]:
    """For each column the value that stands there; where many share one, the highest, so that no peak is lost."""
    count = len(heights)
    if count <= room:
        return [place * count // room for place in range(room)]
    out = []
    for place in range(room):
        low = place * count // room
        high = max(low + 1, (place + 1) * count // room)
        out.append(max(range(low, high), key=lambda i: heights[i]))
    return out


def _heights(series: Sequence[Series], at: int, each: float) -> list[float]:
    """Where each series of a column ends, in rows from below."""
    out, total = [], 0.0
    for s in series:
        total += max(0.0, s.values[at])
        out.append(total / each)
    return out


def _cell(ends: Sequence[float], row: int, colors: Sequence[Color], look: Look) -> Span:
    """What of a column stands in one row."""
    if not ends or ends[-1] <= row:
        return Span(" ")
    if not look.color:
        middle = next((i for i, e in enumerate(ends) if e > row + 0.5), -1)
        if middle < 0 and not (row == 0 or ends[-1] - row >= 0.25):
            return Span(" ")
        middle = middle if middle >= 0 else next(i for i, e in enumerate(ends) if e > row)
        return Span(colors[middle].ascii if look.ascii else colors[middle].fill)
    low = next(i for i, e in enumerate(ends) if e > row)
    high = next((i for i, e in enumerate(ends) if e >= row + 1), -1)
    if low == high:
        return Span("#" if look.ascii else "█", f"fg:{colors[low].ansi}")
    eighths = max(1, min(8, round((ends[low] - row) * 8)))
    if high < 0:  # the top of the column: whichever fills most of what is left
        tallest = max(range(low, len(ends)), key=lambda i: ends[i] - max(row, ends[i - 1] if i else 0))
        eighths = max(1, min(8, round((ends[-1] - row) * 8)))
        return Span("#" if look.ascii else _UPPER[eighths], f"fg:{colors[tallest].ansi}")
    glyph = "#" if look.ascii else _UPPER[eighths]
    return Span(glyph, f"fg:{colors[low].ansi} bg:{colors[high].ansi}")


def _limited(body: list[Span], scale: Scale, row: int, look: Look) -> list[Span]:
    """The row with the limit drawn where nothing else stands."""
    if scale.limit is None or _row_of(scale.limit, scale, _rows(look)) != row:
        return body
    dash = "-" if look.ascii else "╌"
    return [Span(dash, "bad") if s.text == " " else s for s in body]


def _framed(chart: Stack | Lines, scale: Scale, row: int, margin: int, body: Sequence[Span], look: Look) -> Line:
    label = ""
    for tick in scale.ticks:
        if _row_of(tick, scale, _rows(look)) == row:
            label = shown(tick, chart.format)
    edge = "|" if look.ascii else ("┤" if label else "│")
    return (Span(label.rjust(margin - 1) + " " + edge, "dim"), *_joined(body))


def _joined(body: Sequence[Span]) -> list[Span]:
    """Neighbours of one style as one span."""
    out: list[Span] = []
    for span in body:
        if out and out[-1].style == span.style:
            out[-1] = Span(out[-1].text + span.text, span.style)
        else:
            out.append(span)
    return out


def _axis(chart: Stack | Lines, places: Sequence[int], margin: int, look: Look) -> Iterator[Line]:
    width = len(places)
    line, corner = ("-", "+") if look.ascii else ("─", "└")
    sign = "^" if look.ascii else "▲"
    drawn = [line] * width
    for mark in chart.marks:
        at = next((i for i, place in enumerate(places) if place >= mark.at), width - 1)
        drawn[at] = sign
    yield (Span(" " * margin + corner + "".join(drawn), "dim"),)
    x = chart.x or tuple(range(1, width_of(chart) + 1))
    left, middle, right = f"{x[0]:,}", f"{x[places[width // 2]]:,}", f"{x[-1]:,}"
    name = f" {chart.x_name}" if chart.x_name else ""
    text = list((left + name).ljust(width))
    for word, at in () if len(x) == 1 else ((middle, width // 2 - len(middle) // 2), (right, width - len(right))):
        if at > len(left + name) + 2 and (word == right or at + len(middle) + 2 < width - len(right)):
            text[at : at + len(word)] = word
    yield (Span(" " * (margin + 1) + "".join(text[: max(width, len(left + name))]), "dim"),)


def _legend(
    rows: Sequence[tuple[Series, Color]], look: Look, margin: int, chart: Stack | Lines, scale: Scale
) -> Iterator[Line]:
    items: list[tuple[Span, str]] = []
    for i, (series, tint) in enumerate(rows):
        if isinstance(chart, Lines) and not look.color:
            glyph = _MARKERS[i % len(_MARKERS)]
        else:
            glyph = (tint.ascii if look.ascii else tint.fill) if not look.color else ("#" if look.ascii else "█")
        items.append((Span(glyph, f"fg:{tint.ansi}"), series.name))
    if scale.limit is not None and chart.limit_name:
        items.append(
            (Span("-" if look.ascii else "╌", "bad"), f"{chart.limit_name} {shown(scale.limit, chart.format)}")
        )
    if chart.marks:
        items.append((Span("^" if look.ascii else "▲", "dim"), chart.marks[0].label))
    row: list[Span] = [Span(" " * (margin + 1))]
    used = margin + 1
    for mark, name in items:
        size = cells(name) + 4
        if used + size > look.width and len(row) > 1:
            yield tuple(row)
            row, used = [Span(" " * (margin + 1))], margin + 1
        row += [mark, Span(" " + fit(name, min(cells(name), look.width - margin - 3), ascii_only=look.ascii) + "  ")]
        used += size
    yield tuple(row)


def plot(chart: Lines, look: Look) -> Iterator[Line]:
    """Series as lines: dots of braille in colour, a marker for each where there is none."""
    count = width_of(chart)
    if not count or not peak_of(chart):
        yield (Span("nothing to draw", "dim"),)
        return
    scale = scale_of(chart)
    margin = _margin(chart, scale)
    room = max(8, look.width - margin - 1)
    braille = look.color and not look.ascii
    places = [i * count // room for i in range(room)] if count > room else _places([1.0] * count, room)
    rows = _rows(look)
    grid = [[Span(" ")] * len(places) for _ in range(rows)]
    for n, series in enumerate(chart.series):
        tint = color(series.color, n)
        if braille:
            _dots(grid, series, scale, f"fg:{tint.ansi}")
        else:
            for x, place in enumerate(places):
                if place < len(series.values):
                    row = _row_of(series.values[place], scale, rows)
                    grid[row][x] = Span(_MARKERS[n % len(_MARKERS)], f"fg:{tint.ansi}")
    for row in range(rows - 1, -1, -1):
        yield _framed(chart, scale, row, margin, _limited(grid[row], scale, row, look), look)
    yield from _axis(chart, places, margin, look)
    tints = [(s, color(s.color, i)) for i, s in enumerate(chart.series)]
    yield from _legend(tints, look, margin, chart, scale)


def _dots(grid: list[list[Span]], series: Series, scale: Scale, style: str) -> None:
    width, tall, before = len(grid[0]) * 2, len(grid) * 4, -1
    count = len(series.values)
    for x in range(width if count else 0):
        value = max(0.0, series.values[min(count - 1, x * count // width)])
        y = min(tall - 1, int(value / scale.top * tall))
        low, high = (y, y) if before < 0 else (min(y, before), max(y, before))
        for dot in range(low, high + 1):
            row, inside = divmod(dot, 4)
            known = grid[row][x // 2]
            bits = ord(known.text) - 0x2800 if known.style == style else 0
            grid[row][x // 2] = Span(chr(0x2800 + (bits | _DOTS[3 - inside][x % 2])), style)
        before = y
