"""The one renderer of charts and tables: values in `model`, drawn for a terminal or as a page that stands alone."""

from __future__ import annotations

from clew.report.canvas import Look
from clew.report.html import fragment, page
from clew.report.model import (
    Bar,
    Bars,
    Block,
    Column,
    Fact,
    Facts,
    Lines,
    Mark,
    Point,
    Points,
    Report,
    Series,
    Stack,
    Table,
    Words,
)
from clew.report.terminal import lines, look_of, plain, write

__all__ = [
    "Bar",
    "Bars",
    "Block",
    "Column",
    "Fact",
    "Facts",
    "Lines",
    "Look",
    "Mark",
    "Point",
    "Points",
    "Report",
    "Series",
    "Stack",
    "Table",
    "Words",
    "fragment",
    "lines",
    "look_of",
    "page",
    "plain",
    "write",
]
