"""What people type, and what is looked for."""

from __future__ import annotations

import pytest

from clew.recall import parse
from clew.recall.language import MOST_CHARACTERS, MOST_TERMS
from clew.store.query import TermKind

W, P, PH, F = TermKind.WORD, TermKind.PREFIX, TermKind.PHRASE, TermKind.FRAGMENT


def shape(text: str):
    query = parse(text).query
    return [[(t.text, t.kind) for t in g] for g in query.all], [(t.text, t.kind) for t in query.none]


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("error", [[("error", W)]], []),
        ("error timeout", [[("error", W)], [("timeout", W)]], []),
        ("error AND timeout", [[("error", W)], [("timeout", W)]], []),
        ('"no such file"', [[("no such file", PH)]], []),
        ('"error"', [[("error", W)]], []),
        ("a OR b c", [[("a", W), ("b", W)], [("c", W)]], []),
        ("c a OR b", [[("c", W)], [("a", W), ("b", W)]], []),
        ("(a OR b) c", [[("a", W), ("b", W)], [("c", W)]], []),
        ("error -timeout", [[("error", W)]], [("timeout", W)]),
        ('error -"bad gateway"', [[("error", W)]], [("bad gateway", PH)]),
        ("error NOT timeout", [[("error", W)]], [("timeout", W)]),
        ("deploy*", [[("deploy", P)]], []),
        ("src/cl*", [[("src/cl", F)]], []),
        ("foo_bar(", [[("foo_bar(", F)]], []),
        ("f(x)", [[("f(x)", F)]], []),
        ("a/b.py", [[("a/b.py", F)]], []),
        ("--force", [[("--force", F)]], []),
        ("=>", [[("=>", F)]], []),
        ('"=>"', [[("=>", F)]], []),
        ("don't pre-commit", [[("don't", PH)], [("pre-commit", PH)]], []),
        ("what, then?", [[("what", W)], [("then", W)]], []),
        ("config.yaml.", [[("config.yaml", F)]], []),
        ("数据库", [[("数据库", F)]], []),
        ('"数据库 迁移"', [[("数据库 迁移", F)]], []),
        ("größe", [[("größe", W)]], []),
        ("oR", [[("oR", W)]], []),
    ],
)
def test_the_language(text, wanted, unwanted):
    assert shape(text) == (wanted, unwanted)
    assert not parse(text).notes


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ('error "unfinished part', ["error", "unfinished", "part"], "quotation mark"),
        ("OR error", ["error"], "OR"),
        ("error OR", ["error"], "OR"),
        ("error OR OR timeout", ["error", "timeout"], "OR"),
        ("error -", ["error"], "minus"),
        ("-error", ["error"], "leave out"),
        ("error NOT", ["error"], "NOT"),
        ("a OR -b", ["a", "b"], "OR"),
        ("(a b)", ["a", "b"], "brackets"),
        ('"数据', ["数据"], "quotation mark"),
    ],
)
def test_bad_syntax_becomes_plain_words_and_says_so(text, words, said):
    parsed = parse(text)
    assert [g[0].text for g in parsed.query.all] == words
    assert not parsed.query.none
    [note] = parsed.notes
    assert said in note
    assert "searched for the words" in note


@pytest.mark.parametrize("text", ["", "   ", '""', '"', "-", "OR"])
def test_nothing_to_search_for_is_said(text):
    parsed = parse(text)
    assert parsed.empty
    assert "nothing to search for" in parsed.notes[-1]


def test_what_is_too_long_is_cut_and_said():
    parsed = parse("a1 " * MOST_CHARACTERS)
    assert sum(map(len, parsed.query.all)) == MOST_TERMS
    assert len(parsed.notes) == 2
