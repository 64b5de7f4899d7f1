"""The page: whole, self-contained, and safe with whatever stands in a session."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from clew.inspect import inspect_file
from clew.report import (
    Bar,
    Bars,
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
    fragment,
    page,
)  # fmt: skip
from clew.report.of_inspection import of_inspection, of_many
from tests.inspect.builders import shop

VOID = {"meta"}
EVERY = Report(
    "title & <b>",
    "headline <i>",
    (
        Stack("stack", (Series("a<", (1.0, 2.0)), Series("b", (3.0, 0.0))), x=(5, 9), limit=6, limit_name="win'dow", marks=(Mark(1, "m&m"),)),
        Stack("one", (Series("a", (1.0,)),)),
        Stack("none", ()),
        Lines("lines", (Series("a", (1.0, 2.0)), Series("b", (2.0, 2.5)))),
        Bars("bars", (Bar("x<y", 2, 0.5, "note"), Bar("none", 0))),
        Table("table", (Column("a", stretch=True), Column("g", "spark"), Column("n", "tokens")), (("<td>", (1.0, 2.0), 12345), (None, None, None)), ("all", None, 1)),
        Facts((Fact("f", 1200, "tokens", "of 2K"),)),
        Points((Point("p", "bad"),)),
        Words("w", "quiet"),
    ),
    "subtitle",
)  # fmt: skip


class Balance(HTMLParser):
    """Every element closed in order, except those that have no end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(text: str) -> Balance:
    found = Balance()
    found.feed(text)
    found.close()
    return found


@pytest.fixture(scope="module")
def whole() -> str:
    return page([EVERY, EVERY])


def test_the_page_is_well_formed(whole):
    found = parsed(whole)
    assert found.attributes
    assert found.open == [], "what was opened is closed; `Balance` asserts that it is in the right order"


def test_it_asks_for_nothing_from_anywhere(whole):
    assert "Content-Security-Policy" in whole
    assert "default-src 'none'" in whole
    names = {name for _, name, _ in parsed(whole).attributes}
    assert not names & {"src", "href", "srcset", "action", "onclick", "onload"}
    assert not re.search(r"https?://|@import|url\(", whole)


def test_every_text_is_escaped(whole):
    for text in ("title &amp; &lt;b&gt;", "headline &lt;i&gt;", "x&lt;y", "&lt;td&gt;", "m&amp;m"):
        assert text in whole


def test_the_numbers_behind_a_chart_stand_with_it(whole):
    data = [json.loads(value) for _, name, value in parsed(whole).attributes if name == "data-chart"]
    stack = data[0]
    assert stack["x"] == [5, 9]
    assert stack["names"] == ["a<", "b"]
    assert stack["values"] == [["1", "2"], ["3", "0"]]
    assert stack["totals"] == ["4", "2"]


def test_areas_stand_on_each_other():
    text = fragment(EVERY.blocks[0])
    lower, upper = re.findall(r'<polygon class="c-\w+" points="([^"]+)"', text)
    floor = lower.split()[:2]
    assert upper.split()[2:] == floor[::-1], "the upper one's floor is the lower one's top"


def test_other_reports_are_folded_below_the_first(whole):
    assert whole.count("<details>") == 1
    assert whole.index("</header>") < whole.index("<details>")


def test_a_session_as_a_page(tmp_path):
    made = inspect_file(shop().write(tmp_path / "shop.jsonl"))
    text = page([of_many([made, made]), of_inspection(made)])
    assert parsed(text).open == []
    assert "compaction" in text
    assert "[REDACTED:ghp_...q7R8]" in text
    assert "svg class=tiny" in text.replace('viewBox="0 0 80 20" ', "")
