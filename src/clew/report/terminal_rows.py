"""Tables and bars in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.report.canvas import Line, Look, Span, cells, fit
from clew.report.format import shown
from clew.report.model import Bars, Table, Value
from clew.report.palette import color

_GAP = 2
_LEAST = 10  # columns a text is never cut below while another is wider
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def table(block: Table, look: Look) -> Iterator[Line]:
    """Head, rows, and a total below a line. Texts give way first where the width doesn't suffice."""
    body = [_row(block, r, look) for r in block.rows]
    last = _row(block, block.total, look) if block.total is not None else None
    heads = [c.name for c in block.columns]
    widths = _widths(block, [heads, *body, *([last] if last else [])], look)
    yield _line(block, heads, widths, look, "dim")
    for row in body:
        yield _line(block, row, widths, look, "")
    if last is not None:
        rule = "-" if look.ascii else "─"
        yield (Span(rule * min(look.width, sum(widths) + _GAP * (len(widths) - 1)), "dim"),)
        yield _line(block, last, widths, look, "bold")


def _row(block: Table, row: Sequence[Value], look: Look) -> list[str]:
    return [shown(v, c.format, ascii_only=look.ascii) for v, c in zip(row, block.columns, strict=True)]


def _widths(block: Table, rows: Sequence[Sequence[str]], look: Look) -> list[int]:
    widths = [max(cells(row[i]) for row in rows) for i in range(len(block.columns))]
    room = look.width - _GAP * (len(widths) - 1)
    texts = [i for i, c in enumerate(block.columns) if not c.right]
    while sum(widths) > room:
        wide = max(
            texts, key=lambda i: (widths[i] - (0 if block.columns[i].stretch else _LEAST), widths[i]), default=-1
        )
        if wide < 0 or widths[wide] <= 1:
            break
        widths[wide] -= 1
    return widths


def _line(block: Table, row: Sequence[str], widths: Sequence[int], look: Look, style: str) -> Line:
    spans, room = [], look.width
    for i, (text, column, width) in enumerate(zip(row, block.columns, widths, strict=True)):
        width = min(width, room)  # noqa: PLW2901 - what is left where even numbers don't fit
        if width <= 0:
            break
        cell = fit(
            text, width, right=column.right, path=column.format == "path" and " " not in text, ascii_only=look.ascii
        )
        tint = f"fg:{color('blue', 0).ansi}" if column.format == "spark" and not style else style
        spans.append(Span(cell + " " * (_GAP if i + 1 < len(widths) else 0), tint))
        room -= width + _GAP
    return tuple(spans)


def bars(block: Bars, look: Look) -> Iterator[Line]:
    """Label, value, share and a bar to the scale of the largest."""
    if not block.bars:
        return
    values = [shown(b.value, block.format) for b in block.bars]
    shares = ["" if b.share is None else shown(b.share, "percent") for b in block.bars]
    notes = max(cells(b.note) for b in block.bars)
    label = min(max(cells(b.label) for b in block.bars), max(12, look.width // 3))
    value, share = max(map(cells, values)), max(map(cells, shares))
    room = look.width - label - value - (share + 2 if share else 0) - 4
    note = min(notes, max(0, room - 12)) if notes else 0
    room -= note + 2 if note else 0
    room = max(4, min(room, 60))
    most = max((b.value for b in block.bars), default=0) or 1
    for i, b in enumerate(block.bars):
        tint = f"fg:{color(b.color, 0).ansi}"
        spans = [
            Span(fit(b.label, label, ascii_only=look.ascii, path="/" in b.label and " " not in b.label) + "  "),
            Span(values[i].rjust(value), "bold"),
        ]
        if share:
            spans.append(Span("  " + shares[i].rjust(share), ""))
        spans.append(Span("  " + fit(_bar(b.value / most, room, look), room), tint))
        if note:
            spans.append(Span("  " + fit(b.note, note, ascii_only=look.ascii), "dim"))
        yield tuple(spans)


def _bar(share: float, room: int, look: Look) -> str:
    """At least a sliver for what is not nothing."""
    if share <= 0:
        return ""
    if look.ascii:
        return "#" * max(1, round(share * room))
    eighths = max(1, round(share * room * 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
