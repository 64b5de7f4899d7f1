"""Typed slots: what a source holds stays, what none holds is struck out, and prose is not taken for a slot."""

from __future__ import annotations

import pytest

from clew.handoff.language import detect
from clew.handoff.slots import MARK, strike, unsupported_names
from clew.handoff.support import Source
from clew.ledger.facts import Ledger
from tests.handoff.facts import LEDGER, SOURCE

S = Source(SOURCE)


@pytest.mark.parametrize(
    "text",
    [
        "src/cart.py", "./src/cart.py", "cart.py", "src/cart.py:42", "src/cart.py:40-44", "/work/shop/src/cart.py",
        "`src/cart.py`", "`cart.py:12`", "`pytest -q tests/test_cart.py`", "`pytest tests/test_cart.py -q`",
        "`git status`", "`load_cart()`", "`npm run build --workspace web`", "3 passed, 3 failed", "5 passed", "5/6 passed",
        "exit 1", "exited with code 0", "port 8123", "Django 4.2.11", "4.2.11", "https://example.org/docs/cart.",
        "(https://example.org/docs/cart)", "ORD-10442", "$1,250.00", "$1250.00", "47 lines", "a1b2c3d", "[tool: bash]",
        "and/or, read/write, input/output", "1. first\n2. second", "two of 12 things", "on 2026-03-04 at noon",
        "[REDACTED:ghp_...x9Kq] stays", "== and `==`", "e.g. this; i.e. that", "v1", "step 3 of 4",
    ],
)  # fmt: skip
def test_what_a_source_holds_stays(text: str):
    found = strike(text, S, LEDGER)
    assert (found.text, found.struck) == (text, [])


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("see src/basket.py now", "src/basket.py"),
        ("see src/cart.pyx now", "src/cart.pyx"),
        ("see old/src/cart.py.bak", "old/src/cart.py.bak"),
        ("in src/cart.py:9731", "src/cart.py:9731"),
        ("in /etc/shop/src/cart.py", "/etc/shop/src/cart.py"),
        ("ran `rm -rf build`", "rm -rf build"),
        ("ran `pytest -x tests/test_cart.py`", "pytest -x tests/test_cart.py"),
        ("calls `save_cart()`", "save_cart()"),
        ("`8124` is taken", "8124"),
        ("it says 4 passed", "4 passed"),
        ("and 2 failed", "2 failed"),
        ("it says 7/9 passed", "7/9 passed"),
        ("exit 137 came", "exit 137"),
        ("on port 8080", "port 8080"),
        ("Django 4.2.1 is", "4.2.1"),
        ("Django 14.2.11 is", "14.2.11"),
        ("at https://example.org/other.", "https://example.org/other"),
        ("order ORD-1044 is", "ORD-1044"),
        ("costs $1,251.00 now", "$1,251.00"),
        ("costs $47 now", "$47"),
        ("at commit deadbee1", "deadbee1"),
        ("wrote 48 lines", "48 lines"),
        ("about 10442000 of them", "10442000"),
        ("mail a.b@example.org", "a.b@example.org"),
        ("see clew:k3v9q2m7x4ab", "clew:k3v9q2m7x4ab"),
    ],
)
def test_what_none_holds_is_struck_out(text: str, gone: str):
    found = strike(text, S, LEDGER)
    assert [x.strip() for x in found.struck] == [gone]
    assert gone not in found.text
    assert MARK in found.text


# The paths stand between all kinds of marks, and glued to other slots; `{}` is a path.
AROUND = [
    "({})", "'{}'", '"{}"', "“{}”", "[{}]", "<{}>", "{{{}}}", "**{}**", "*{}*", "_{}_", "__{}__", "~~{}~~", "|{}|", "={}",
    "{}.", "{},", "{}:", "{};", "{}!", "{}…", "…{}", "see:{}", "see，{}。", "->{}", "→{}", "#{}", "@{}", "+{}", "-{}", "a/{}",
    "./{}", ".//{}", "file:///{}", "{}'s", "{}:12", "{}:12-14", "{}#L12", "{}#L12-L14", "修改{}的舍入", "見{}", "{}/",
    "5 passed,{}", "exit 0{}", "2026-03-04{}", "2026-03-04/{}", "./0:0{}", "tests/test_cart.py:12{}", "port 8123{}",
    "a@b.example/{}", "$500{}", "{0}{0}", "{0}:{0}", "[unsupported]{}", "`x`{}", "{}`x`", "\t{}", "1.2.3{}", "a1b2c3d{}",
]  # fmt: skip


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("path", ["src/ghost.py", "ghost.py", "src//ghost.py", "lib/deep/ghost", "src\\ghost.py"])
def test_no_unsupported_path_gets_by_whatever_stands_around_it(around: str, path: str):
    left = strike(around.format(path), S, LEDGER).text
    assert "ghost" not in left
    assert strike(left, S, LEDGER).text == left


KEPT = [
    "({})", "'{}'", '"{}"', "“{}”", "[{}]", "**{}**", "*{}*", "_{}_", "|{}|", "{}.", "{},", "{}:", "see:{}", "see，{}。", "@{}",
    "+{}", "-{}", "a/{}", "b/{}", "./{}", "{}'s", "{}:42", "{}:41-43", "{}#L42", "{}#L41-L43", "修改{}的舍入", "見{}", "`{}`",
]  # fmt: skip


RELATIVE = {"@{}", "+{}", "-{}", "a/{}", "b/{}", "./{}"}  # nobody writes these before a root


@pytest.mark.parametrize(
    ("around", "path"),
    [(a, "src/cart.py") for a in KEPT] + [(a, "/work/shop/src/cart.py") for a in KEPT if a not in RELATIVE],
)
def test_a_supported_path_stays_whatever_stands_around_it(around: str, path: str):
    text = around.format(path)
    found = strike(text, S, LEDGER)
    assert (found.text, found.struck) == (text, [])


@pytest.mark.parametrize(("text", "stays"), [
    (r"C:\shop\src\cart.py", True), (r"C:\shop\src\ghost.py", False), (r"src\cart.py", True), (r"src\ghost.py", False),
    (r"D:\secret", False), (r"one\ntwo", True), (r"a \d+ b", True),
])  # fmt: skip
def test_backslashes_make_a_path_where_they_are_no_escapes(text: str, stays: bool):
    source = Source("opened C:\\shop\\src\\cart.py and src/cart.py")
    assert (strike(text, source, Ledger()).text == text) is stays


def test_a_tool_nobody_called_loses_its_name():
    assert strike("done [tool: magic_wand]", S, LEDGER).text == "done [tool: unknown]"


def test_a_line_that_was_all_slots_goes():
    assert strike("- src/ghost.py\n- src/cart.py", S, Ledger()).text == "- src/cart.py"


def test_a_count_near_its_word_counts_and_elsewhere_not():
    assert strike("12 passed", Source("12 lines; passed: 12"), Ledger()).struck == []
    assert strike("12 passed", Source("12 lines; passed: 13"), Ledger()).struck == ["12 passed"]


def test_numbers_side_by_side_are_two_and_grouped_ones_are_one():
    assert strike("line 1505", Source("sed -n '1505,1545p'"), Ledger()).struck == []
    assert strike("about 545 of them", Source("1,545 in all"), Ledger()).struck == ["545"]


def test_what_is_cut_short_in_the_open_counts_by_its_beginning():
    source = Source("cat src/terminal/writer.go && go test ./...")
    text = "read src/term… and …/terminal/writer.go with `cat src/terminal/writer.go && go…`"
    assert strike(text, source, Ledger()).text == text


def test_names_in_prose_are_reported_and_left():
    text = "The helper save_cart uses loadCart and load_cart."
    assert unsupported_names(text, S) == ["save_cart", "loadCart"]
    assert strike(text, S, LEDGER).text == text


def test_a_command_behind_a_prompt_stands_whole_in_a_source_or_goes():
    looked = strike("```\n$ rm -rf build/out\n$ git status --short\n```", Source(SOURCE), LEDGER)
    assert looked.text == "```\n$ git status --short\n```"
    assert looked.struck == ["rm -rf build/out"]


def test_what_is_longer_than_any_word_goes_and_takes_no_time_to_judge():
    looked = strike(f"found {'x' * 60_000} there", Source(SOURCE), LEDGER)
    assert looked.text == f"found {MARK} there"
    assert looked.struck == [f"{'x' * 60}…"]
    assert detect(f"the file {'y' * 15_000} is not what we have to look for in it") == "en"
