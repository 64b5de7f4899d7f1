"""What a terminal and a pipe are shown."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.report import (
    Bar,
    Bars,
    Column,
    Fact,
    Facts,
    Lines,
    Look,
    Mark,
    Point,
    Points,
    Report,
    Series,
    Stack,
    Table,
    Words,
    lines,
    look_of,
    plain,
    write,
)  # fmt: skip
from clew.report.canvas import cells, clean, fit, shortened, wrapped
from clew.report.format import buckets, shown, spark
from clew.report.scale import scale_of
from clew.report.terminal import block_lines


def drawn(block, width=60, **look):
    return plain(list(block_lines(block, Look(width, **look))))


def body(text):
    """The rows of a chart, without labels."""
    return [line.split("│" if "│" in line else "┤", 1)[1] for line in text.splitlines() if "│" in line or "┤" in line]


GROWTH = Stack(
    "Growth",
    (Series("a", (2.0, 4.0, 6.0)), Series("b", (2.0, 2.0, 0.0))),
    x_name="request",
    limit=8,
    limit_name="window",
)


def test_a_stack_is_as_high_as_its_sum_and_parts_stand_on_each_other():
    rows = body(drawn(GROWTH))
    columns = ["".join(row.ljust(60)[at] for row in reversed(rows)) for at in (2, 25, 50)]
    assert [len(c.replace("╌", " ").rstrip()) for c in columns] == [6, 9, 9]
    assert columns[0].startswith("███▓▓▓")
    assert "▓" not in columns[2]


def test_the_limit_is_drawn_where_nothing_stands_and_named():
    text = drawn(GROWTH)
    assert "╌╌╌" in body(text)[0]
    assert "╌ window 8" in text


def test_a_limit_far_above_doesnt_squash_the_picture():
    chart = Stack("Growth", GROWTH.series, limit=1000, limit_name="window")
    assert scale_of(chart).limit is None
    assert "╌" not in drawn(chart)


def test_no_peak_is_lost_where_columns_are_few():
    values = tuple(100.0 if n == 777 else 1.0 for n in range(2000))
    assert "█" in body(drawn(Stack("", (Series("a", values),)), 50))[0]
    assert max(buckets(values, 10)) == 100.0
    assert "█" in spark(values)


def test_few_values_fill_the_width():
    rows = body(drawn(Stack("", (Series("a", (1.0, 1.0)),)), 50))
    assert len(rows[-1]) == 50 - 6


def test_marks_stand_below_their_place():
    text = drawn(Stack("", (Series("a", (1.0,) * 10),), marks=(Mark(5, "compaction"),)))
    axis = next(line for line in text.splitlines() if "└" in line)
    assert 0.4 < axis.index("▲") / len(axis) < 0.65
    assert "▲ compaction" in text


def test_lines_have_a_marker_each_without_colour_and_braille_with():
    chart = Lines(
        "x", (Series("without", (1.0, 2.0, 3.0)), Series("with", (3.0, 1.0, 2.0))), limit=4, limit_name="window"
    )
    text = drawn(chart)
    assert "* without  o with" in text
    rows = "".join(body(text))
    assert rows.count("*") > 20
    assert rows.count("o") > 20
    coloured = drawn(chart, color=True)
    assert any("\u2800" < c <= "\u28ff" for c in coloured)


def test_what_has_nothing_to_draw_says_so():
    assert "nothing to draw" in drawn(Stack("x", ()))
    assert "nothing to draw" in drawn(Lines("x", (Series("a", (0.0,)),)))


def test_numbers_stand_right_and_a_total_apart():
    table = Table(
        "T", (Column("name", stretch=True), Column("n", "count"), Column("part", "percent")),
        (("a", 1, 0.5), ("b", 12_000, None)), ("both", 12_001, 1.0), note="a note",
    )  # fmt: skip
    assert drawn(table, 40).splitlines()[1:] == [
        "name       n  part",
        "a          1   50%",
        "b     12,000",
        "──────────────────",
        "both  12,001  100%",
        "a note",
    ]


def test_texts_give_way_before_numbers_and_paths_lose_their_beginning():
    table = Table(
        "", (Column("file", "path", stretch=True), Column("n", "count")), (("/a/long/way/to/file.py", 1234567),)
    )
    assert drawn(table, 40).splitlines()[1] == "/a/long/way/to/file.py  1,234,567"
    _, row = plain(list(block_lines(table, Look(24)))).splitlines()
    assert row == "…y/to/file.py  1,234,567"


def test_bars_are_to_scale_and_what_is_something_shows():
    text = drawn(Bars("", (Bar("all", 1000, 1.0), Bar("half", 500, 0.5), Bar("trace", 1, 0.001), Bar("none", 0, 0.0))))
    whole, half, trace, none = (re.findall("[█▉▊▋▌▍▎▏]+", line) for line in text.splitlines())
    assert len(whole[0]) == pytest.approx(2 * len(half[0]), abs=1)
    assert trace == ["▏"]
    assert none == []


def test_facts_wrap_in_columns():
    facts = Facts(tuple(Fact(f"name {n}", n * 1000, "tokens") for n in range(1, 9)))
    rows = drawn(facts, 40).splitlines()
    assert rows[0].startswith("name 1   name 2")
    assert rows[1].startswith("1K       2K")
    assert len(rows) == 4


def test_points_hang_their_text():
    text = drawn(Points((Point("word " * 20), Point("second", "bad")), "Findings"), 40)
    assert text.splitlines()[1].startswith("• word")
    assert text.splitlines()[2].startswith("  word")
    assert "• second" in text


def test_ascii_stays_ascii():
    report = Report("t", "h", (GROWTH, Bars("b", (Bar("x", 3, 0.5),)), Points((Point("p"),)),
                               Table("t", (Column("s", "spark"),), (((1.0, 2.0),),))))  # fmt: skip
    assert plain(list(lines(report, Look(70, charset="ascii")))).isascii()


def test_colours_and_only_where_they_are_wanted():
    out = io.StringIO()
    write(Report("t", "h", (GROWTH,)), out, Look(60, color=True))
    assert "\x1b[" in out.getvalue()
    out = io.StringIO()
    write(Report("t", "h", (GROWTH,)), out, Look(60))
    assert "\x1b" not in out.getvalue()


def test_colour_changes_no_word():
    report = Report("t", "headline", (Points((Point("a finding"),)), Table("T", (Column("a"),), (("cell",),))))
    out = io.StringIO()
    write(report, out, Look(60, color=True))
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert [x.rstrip() for x in bare.splitlines()] == plain(list(lines(report, Look(60)))).splitlines()


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_who_gets_colours(monkeypatch):
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert look_of(Terminal()).color
    assert not look_of(Terminal(), color=False).color
    assert not look_of(io.StringIO()).color
    assert look_of(io.StringIO(), color=True).color
    monkeypatch.setenv("NO_COLOR", "1")
    assert not look_of(Terminal()).color
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not look_of(Terminal()).color


def test_how_wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert look_of(io.StringIO()).width == 100
    assert look_of(io.StringIO(), width=80).width == 80
    monkeypatch.setenv("COLUMNS", "132")
    assert look_of(io.StringIO()).width == 132
    monkeypatch.setenv("COLUMNS", "3")
    assert look_of(io.StringIO()).width == 40


def test_an_encoding_without_the_signs_gets_others():
    file = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    look = look_of(file)
    assert look.ascii
    write(Report("日本", "h", ()), file, look)
    file.flush()
    assert b"??" in file.buffer.getvalue()


def test_wide_letters_take_two_columns():
    assert cells("日本") == 4
    assert cells("é") == 1
    assert shortened("日本語", 5) == "日本…"
    assert fit("日本語", 4) == "日… "


def test_what_moves_the_cursor_is_taken_out():
    assert clean("a\x1b[2Jb\tc") == "a�[2Jb c"


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=120), st.integers(2, 40))
def test_wrapped_text_fits_and_keeps_every_word(text, width):
    out = wrapped(text, width)
    assert all(cells(line) <= width for line in out)
    assert "".join("".join(out).split()) == "".join(clean(" ".join(text.split())).split())


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("internal/sem/provider.go", 21, "…rnal/sem/provider.go"),
        ("sessions/cc-cipher-box-944ab984b10d0-s0.json", 40, "…ons/cc-cipher-box-944ab984b10d0-s0.json"),
        ("sessions/cc-cipher-box-944ab984b10d0-s0.json", 24, "cc-cipher-b…10d0-s0.json"),
        ("rollout-2026-05-01T10-00-00-5973b6c0.jsonl", 11, "…b6c0.jsonl"),
    ],
)
def test_a_path_is_cut_at_its_beginning_and_a_long_name_in_its_middle(text, width, shown):
    assert shortened(text, width, path=True) == shown


@given(st.text(max_size=40), st.integers(0, 30), st.booleans())
def test_what_is_shortened_fits(text, width, path):
    assert cells(shortened(clean(text), width, path=path)) <= width


TEXT = st.text(max_size=30)
NUMBER = st.integers(0, 10**9) | st.floats(0, 1e9)
SERIES = st.lists(
    st.builds(Series, TEXT, st.lists(st.floats(0, 1e9), min_size=5, max_size=5).map(tuple)), min_size=1, max_size=4
).map(tuple)
BLOCK = st.one_of(
    st.builds(Stack, TEXT, SERIES, limit=st.none() | st.floats(1, 1e9), limit_name=TEXT, marks=st.just((Mark(2, "m"),))),
    st.builds(Lines, TEXT, SERIES, limit=st.none() | st.floats(1, 1e9), limit_name=TEXT),
    st.builds(Bars, TEXT, st.lists(st.builds(Bar, TEXT, NUMBER, st.floats(0, 1), TEXT), max_size=4).map(tuple)),
    st.builds(lambda t, rows: Table(t, (Column("a", stretch=True), Column("b", "path"), Column("n", "count")),
                                    tuple(rows)),
              TEXT, st.lists(st.tuples(TEXT, TEXT, st.integers(0, 10**6)), max_size=4)),
    st.builds(lambda f: Facts(tuple(f)), st.lists(st.builds(Fact, TEXT, NUMBER, st.just("tokens"), TEXT), max_size=6)),
    st.builds(lambda p: Points(tuple(p)), st.lists(st.builds(Point, TEXT), max_size=4)),
    st.builds(Words, TEXT),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(BLOCK, st.integers(40, 160), st.booleans(), st.sampled_from(["unicode", "ascii"]))
def test_no_line_is_wider_than_the_terminal(block, width, color, charset):
    look = Look(width, color, charset)
    for line in lines(Report("t" * 90, "h" * 90, (block,)), look):
        text = "".join(span.text for span in line)
        assert cells(text.rstrip()) <= width
        assert "\n" not in text


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [(None, "count", ""), (0.5, "percent", "50%"), (1234567, "tokens", "1.23M"), (2_000_000, "bytes", "2.0 MB"),
     (90, "seconds", "2 min"), (1234, "count", "1,234"), ("a\n b", "text", "a b"), (1.5, "money", "$1.50")],
)  # fmt: skip
def test_values_as_text(value, how, text):
    assert shown(value, how) == text
