"""Reports as one page that needs nothing else: styles, charts and the few lines of script stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import assert_never

from clew.report import html_chart
from clew.report.format import shown
from clew.report.html_style import SCRIPT, STYLE
from clew.report.model import Bars, Block, Facts, Lines, Points, Report, Stack, Table, Value, Words

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(reports: Sequence[Report], title: str = "") -> str:
    """The page: the first report in full, the others below it, folded up."""
    first, *others = reports
    name = escape(title or first.title)
    body = ["<main>", *_report(first)]
    for report in others:
        body.append(f"<details><summary><b>{text(report.title)}</b><span>{text(report.headline)}</span></summary>")
        body += _report(report, nested=True)
        body.append("</details>")
    body.append("</main>")
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{name}</title><style>{STYLE}</style></head><body>",
            *body,
            f"<script>{SCRIPT}</script></body></html>\n",
        )
    )


def fragment(block: Block) -> str:
    """One block, for a page that brings its own frame (`html_style.STYLE` and `SCRIPT`)."""
    return "\n".join(_block(block))


def text(value: str) -> str:
    """Text as HTML; lone surrogates, which have no bytes, are replaced."""
    return escape(value.encode("utf-8", "replace").decode())


def _report(report: Report, *, nested: bool = False) -> Iterator[str]:
    if not nested:
        yield f"<header><h1>{text(report.title)}</h1>"
        if report.subtitle:
            yield f"<p class=sub>{text(report.subtitle)}</p>"
        yield f"</header><p class=headline>{text(report.headline)}</p>"
    elif report.subtitle:
        yield f"<p class=sub>{text(report.subtitle)}</p>"
    for block in report.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    kind = type(block).__name__.lower()
    yield f'<section class="{kind}">'
    title = "" if isinstance(block, Words) else block.title
    if title:
        yield f"<h2>{text(title)}</h2>"
    match block:
        case Stack():
            yield from html_chart.stack(block)
        case Lines():
            yield from html_chart.plot(block)
        case Bars():
            yield from _bars(block)
        case Table():
            yield from _table(block)
        case Facts():
            yield from _facts(block)
        case Points():
            yield "<ul>"
            yield from (f'<li class="{p.tone}">{text(p.text)}</li>' for p in block.points)
            yield "</ul>"
        case Words(words, tone):
            yield f'<p class="{tone}">{text(words)}</p>'
        case _:
            assert_never(block)
    note = block.note if isinstance(block, (Stack, Lines, Bars, Table)) else ""
    if note:
        yield f"<p class=note>{text(note)}</p>"
    yield "</section>"


def _facts(block: Facts) -> Iterator[str]:
    yield "<dl>"
    for fact in block.facts:
        note = f"<small>{text(fact.note)}</small>" if fact.note else ""
        yield f"<div><dt>{text(fact.name)}</dt><dd>{text(shown(fact.value, fact.format))}{note}</dd></div>"
    yield "</dl>"


def _bars(block: Bars) -> Iterator[str]:
    most = max((b.value for b in block.bars), default=0) or 1
    yield "<table class=barred><tbody>"
    for b in block.bars:
        name = b.color or "blue"
        width = max(0.3, 100 * b.value / most) if b.value > 0 else 0
        share = "" if b.share is None else shown(b.share, "percent")
        yield (
            f"<tr><th>{text(b.label)}</th><td class=num>{text(shown(b.value, block.format))}</td>"
            f"<td class=num>{share}</td>"
            f'<td class=bar><i class="c-{text(name)}" style="width:{width:.1f}%"></i></td>'
            f"<td class=quiet>{text(b.note)}</td></tr>"
        )
    yield "</tbody></table>"


def _table(block: Table) -> Iterator[str]:
    yield "<div class=scroll><table><thead><tr>"
    for column in block.columns:
        yield f"<th{' class=num' if column.right else ''}>{text(column.name)}</th>"
    yield "</tr></thead><tbody>"
    for row in block.rows:
        yield "<tr>" + "".join(_cells(block, row)) + "</tr>"
    yield "</tbody>"
    if block.total is not None:
        yield "<tfoot><tr>" + "".join(_cells(block, block.total)) + "</tr></tfoot>"
    yield "</table></div>"


def _cells(block: Table, row: Sequence[Value]) -> Iterator[str]:
    for value, column in zip(row, block.columns, strict=True):
        if column.format == "spark":
            yield f"<td class=spark>{html_chart.spark(value) if isinstance(value, tuple) else ''}</td>"
            continue
        words = text(shown(value, column.format))
        kind = "num" if column.right else "path" if column.format == "path" else ""
        full = f' title="{value:,}"' if isinstance(value, (int, float)) and column.format == "tokens" else ""
        wide = " wide" if column.stretch else ""
        yield f'<td class="{kind}{wide}"{full}>{words}</td>'
