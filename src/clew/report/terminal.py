"""A report as lines for a terminal or a pipe, at any width from 40 columns on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TextIO, assert_never

from clew.report import terminal_chart, terminal_rows
from clew.report.canvas import Line, Look, Span, cells, clean, fit, wrapped
from clew.report.format import shown
from clew.report.model import Bars, Block, Facts, Lines, Points, Report, Stack, Table, Tone, Words

_NARROWEST = 40
_TONES: dict[Tone, str] = {"plain": "", "good": "good", "warn": "warn", "bad": "bad", "quiet": "dim"}


def lines(report: Report, look: Look) -> Iterator[Line]:
    """The whole report, line by line, none wider than the look."""
    width = look.width
    yield (Span(fit(report.title, width, path=True, ascii_only=look.ascii).rstrip(), "bold"),)
    if report.subtitle:
        yield from (_said(text, "dim") for text in wrapped(report.subtitle, width))
    yield ()
    yield from (_said(text, "bold") for text in wrapped(report.headline, width))
    for block in report.blocks:
        yield ()
        yield from block_lines(block, look)


def block_lines(block: Block, look: Look) -> Iterator[Line]:
    """One block with its heading."""
    title = "" if isinstance(block, Words) else block.title
    if title:
        yield _heading(title, look)
    match block:
        case Stack():
            yield from terminal_chart.stack(block, look)
        case Lines():
            yield from terminal_chart.plot(block, look)
        case Bars():
            yield from terminal_rows.bars(block, look)
        case Table():
            yield from terminal_rows.table(block, look)
        case Facts():
            yield from _facts(block, look)
        case Points():
            yield from _points(block, look)
        case Words(text, tone):
            yield from (_said(line, _TONES[tone]) for line in wrapped(text, look.width))
        case _:
            assert_never(block)
    note = block.note if isinstance(block, (Stack, Lines, Bars, Table)) else ""
    yield from (_said(line, "dim") for line in (wrapped(note, look.width) if note else ()))


def plain(drawn: Sequence[Line]) -> str:
    """Lines without styles, each with its end."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in drawn)


def look_of(file: TextIO, *, color: bool | None = None, width: int | None = None) -> Look:
    """How to draw for this file. Colours on a terminal only, unless `color` says otherwise; NO_COLOR and TERM=dumb are
    obeyed. COLUMNS sets the width of what is piped.
    """
    terminal = file.isatty()
    if color is None:
        color = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if width is None:
        asked = os.environ.get("COLUMNS", "")
        if asked.isdigit() and int(asked):
            width = int(asked)
        else:
            try:
                width = os.get_terminal_size(file.fileno()).columns if terminal else 100
            except (OSError, ValueError):
                width = 100
    encoding = (file.encoding or "ascii").lower().replace("-", "")
    charset = "unicode" if encoding.startswith(("utf", "gb18030")) else "ascii"
    return Look(max(_NARROWEST, min(width, 200)), color, "unicode" if charset == "unicode" else "ascii")


def write(report: Report, file: TextIO, look: Look) -> None:
    """Writes the report as the look says; what the file's encoding doesn't have becomes a question mark."""
    drawn = list(lines(report, look))
    if not look.color:
        text = plain(drawn)
        encoding = file.encoding or "ascii"
        file.write(text.encode(encoding, "replace").decode(encoding))
        return
    from rich.console import Console  # only a terminal pays for it
    from rich.text import Text

    console = Console(file=file, width=look.width, force_terminal=True, highlight=False, soft_wrap=True)
    for line in drawn:
        text_line = Text(no_wrap=True)
        for span in line:
            text_line.append(span.text, style=_rich(span.style))
        console.print(text_line)


def _rich(style: str) -> str:
    out = []
    for word in style.split():
        kind, _, number = word.partition(":")
        match kind:
            case "fg":
                out.append(f"color({number})")
            case "bg":
                out.append(f"on color({number})")
            case "warn":
                out.append("yellow")
            case "bad":
                out.append("red")
            case "good":
                out.append("green")
            case _:
                out.append(kind)
    return " ".join(out)


def _said(text: str, style: str) -> Line:
    return (Span(text, style),)


def _heading(title: str, look: Look) -> Line:
    rule = "-" if look.ascii else "─"
    text = clean(title)
    rest = max(0, look.width - cells(text) - 4)
    return (Span(f"{rule * 2} ", "dim"), Span(text, "bold"), Span(f" {rule * rest}", "dim"))


def _facts(block: Facts, look: Look) -> Iterator[Line]:
    """Names over values, in as many columns as fit."""
    pairs = []
    for fact in block.facts:
        value = shown(fact.value, fact.format, ascii_only=look.ascii)
        pairs.append((fact.name, value + (f" {fact.note}" if fact.note else "")))
    while pairs:
        used = 0
        row: list[tuple[str, str, int]] = []
        for name, value in pairs:
            size = max(cells(name), cells(value))
            if row and used + size > look.width:
                break
            row.append((name, value, min(size, look.width)))
            used += size + 3
        pairs = pairs[len(row) :]
        yield tuple(Span(fit(name, size, ascii_only=look.ascii) + "   ", "dim") for name, _, size in row)
        yield tuple(Span(fit(value, size, ascii_only=look.ascii) + "   ", "bold") for _, value, size in row)


def _points(block: Points, look: Look) -> Iterator[Line]:
    sign = "*" if look.ascii else "•"
    for point in block.points:
        for i, text in enumerate(wrapped(point.text, look.width - 2)):
            lead = Span(f"{sign} " if i == 0 else "  ", _TONES[point.tone] or "dim")
            yield (lead, Span(text, "dim" if point.tone == "quiet" else ""))
