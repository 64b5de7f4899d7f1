"""Data on one long line, taken apart so that what belongs together can be quoted together."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from clew.ledger.data import quotable

FLIGHTS = [
    {"flight_number": f"HAT{n:03d}", "prices": {"economy": 100 + n, "business": 300 + n}, "tags": ["a", "b"]}
    for n in range(20)
]


def test_an_object_is_a_line():
    lines = quotable(json.dumps(FLIGHTS)).split("\n")
    assert lines[0] == "flight_number=HAT000 tags=a, b"
    assert lines[1] == "prices: economy=100 business=300"
    assert len(lines) == 40


def test_texts_inside_keep_their_lines():
    lines = quotable(json.dumps({"log": "first\nsecond\n" + "x" * 300, "code": 1})).split("\n")
    assert "log: first" in lines
    assert "log: second" in lines
    assert "code=1" in lines


def test_what_is_no_long_data_stays_as_it_is():
    pretty = json.dumps(FLIGHTS, indent=1)
    for text in ("plain words", '{"short": 1}', "[not json" + " at all" * 99, pretty):
        assert quotable(text) == text


@given(st.dictionaries(st.text(min_size=1, max_size=9), st.text(max_size=30) | st.integers(), min_size=9, max_size=30))
def test_no_value_is_lost(value):
    shown = quotable(json.dumps(value, ensure_ascii=False))
    for v in value.values():
        for piece in str(v).split("\n"):
            assert piece in shown or json.dumps(piece, ensure_ascii=False)[1:-1] in shown
