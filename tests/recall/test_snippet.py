"""Snippets mark the hit and hold nothing a terminal would obey."""

from __future__ import annotations

from clew.recall import parse, snippet
from clew.recall.snippet import plain


def marked(text: str, query: str, width: int = 60) -> str:
    return snippet(text, parse(query).query, width=width).marked("[", "]")


def test_the_hit_is_marked_in_the_middle_of_a_long_text():
    found = marked("before " * 100 + "the NEEDLE here " + "after " * 100, "needle")
    assert "the [NEEDLE] here" in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert len(found) < 70


def test_every_term_is_marked_and_the_place_with_most_of_them_is_shown():
    text = "alpha " + "x " * 300 + "beta then alpha and beta " + "y " * 300
    found = marked(text, "alpha beta")
    assert "[alpha] and [beta]" in found


def test_phrases_prefixes_and_pieces():
    assert marked("no  such\nfile", '"no such file"') == "[no such file]"
    assert marked("deployment", "deploy*") == "[deploy]ment"
    assert marked("call foo_bar(x) now", "o_bar(") == "call fo[o_bar(]x) now"


def test_marks_stand_right_where_folding_changes_lengths():
    assert marked("cafe\u0301 und CAFÉ", "cafe") == "[café] und [CAFÉ]"
    assert marked("İstanbul 数据库迁移", "数据库") == "İstanbul [数据库]迁移"
    assert marked("\u1112\u1161\u11ab 한 needle", "needle").endswith("[needle]")


def test_without_a_hit_the_beginning_is_shown():
    assert marked("some text", "absent") == "some text"


def test_control_sequences_are_taken_out():
    assert plain("\x1b[31mred\x1b[0m \x1b]0;title\x07x\x9b2J\u202ey\r\nz\tw") == "red x2Jy\nz\tw"
    assert "\x1b" not in marked("\x1b[2Jneedle\x07", "needle")
