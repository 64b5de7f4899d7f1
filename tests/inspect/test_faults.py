"""Files as they come: cut off, wrong, hostile. Each gives an outcome, and what was left out is said."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.inspect import Inspection, Unreadable, inspect_files
from clew.report import Look, lines, page, plain
from clew.report.of_inspection import of_inspection, of_many
from tests.inspect.builders import chat, shop

DEEP = "[" * 100_000 + "]" * 100_000


def outcome(path):
    (found,) = inspect_files([path])
    return found


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n\n\n", "nothing but blank lines"),
        (b"hello\n" * 30, "no session file"),
        (b"{}", "no session file"),
        (b"[]", "no session file"),
        (b"5", "no session file"),
        (b'{"messages": []}', "no message in it"),
        (b'{"messages":[{"role":"user","content":"x"}', "is cut off or no JSON"),
        (b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(4000), "no session file"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (f'{{"messages":[{{"role":"user","content":{DEEP}}}]}}'.encode(), "is nested too deeply"),
    ],
)
def test_what_is_no_session_is_refused_in_one_sentence(content, said, tmp_path):
    (tmp_path / "x.json").write_bytes(content)
    found = outcome(tmp_path / "x.json")
    assert isinstance(found, Unreadable)
    assert said in found.sentence
    assert "\n" not in found.sentence


def test_a_log_that_was_cut_off_is_read_up_to_there(tmp_path):
    path = shop().write(tmp_path / "s.jsonl")
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) * 2 // 3])
    found = outcome(path)
    assert found.requests > 0
    assert any("cut off" in s for s in found.left_out)


def test_bytes_that_are_no_utf8_are_replaced_and_said(tmp_path):
    (tmp_path / "s.jsonl").write_bytes(b'{"role":"user","content":"a\xff"}\n{"role":"assistant","content":"ok"}\n')
    found = outcome(tmp_path / "s.jsonl")
    assert found.messages == 2
    assert any("UTF-8" in s for s in found.left_out)


def test_parents_in_a_circle_are_said(tmp_path):
    session = shop()
    session.lines[0]["parentUuid"] = session.lines[5]["uuid"]
    found = outcome(session.write(tmp_path / "s.jsonl"))
    assert any("circle" in s for s in found.left_out)


def test_arguments_nested_without_end_are_a_breach_and_no_crash(tmp_path):
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": DEEP}}
    path = chat(tmp_path / "s.json", [{"role": "assistant", "content": None, "tool_calls": [call]}])
    found = outcome(path)
    assert isinstance(found, Inspection)
    assert "bad-arguments" in dict(found.problem_counts)


@pytest.mark.filterwarnings("ignore::clew.errors.ClewWarning")  # the model's name is one of them
def test_names_cant_move_the_cursor_or_break_out_of_the_page(tmp_path):
    evil = "\x1b[2J\x07</script><script>alert(1)</script>\ud800"
    call = {"id": "a", "type": "function", "function": {"name": evil, "arguments": json.dumps({"path": evil})}}
    path = chat(
        tmp_path / "s.json",
        [{"role": evil, "content": evil}, {"role": "assistant", "content": evil, "tool_calls": [call]},
         {"role": "tool", "tool_call_id": "a", "content": evil * 30}],
        model=evil, title=evil,
    )  # fmt: skip
    found = outcome(path)
    report = of_inspection(found)
    assert "\x1b" not in plain(list(lines(report, Look(80))))
    whole = page([report, of_many([found])])
    assert "<script>alert" not in whole
    whole.encode()


BASE = "".join(json.dumps(line) + "\n" for line in shop().lines).encode()


@pytest.mark.filterwarnings("ignore::clew.errors.ClewWarning")  # of a model whose name was mangled
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(BASE) - 1), st.integers(0, len(BASE) - 1), st.binary(max_size=6)), max_size=5)
)
def test_a_mangled_file_gives_an_outcome_that_can_be_shown(tmp_path_factory, cuts):
    raw = BASE
    for start, end, instead in cuts:
        low, high = sorted((start % (len(raw) + 1), end % (len(raw) + 1)))
        raw = raw[:low] + instead + raw[min(high, low + 400) :]
    path = tmp_path_factory.mktemp("m") / "s.jsonl"
    path.write_bytes(raw)
    found = outcome(path)
    assert "bug in Clew" not in getattr(found, "hint", "")
    report = of_inspection(found) if isinstance(found, Inspection) else of_many([found])
    assert plain(list(lines(report, Look(72))))
    assert page([report])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = (
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "usage",
    "timestamp",
    "type",
    "id",
    "name",
    "message",
    "uuid",
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(FIELDS), JSON | st.sampled_from(["user", "assistant", "tool"]), max_size=6),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_any_json_in_the_fields_gives_an_outcome(tmp_path_factory, values, whole):
    path = tmp_path_factory.mktemp("j") / "s.json"
    path.write_text(
        json.dumps({"messages": values, "model": "gpt-5.4"}) if whole else "\n".join(map(json.dumps, values))
    )
    found = outcome(path)
    assert "bug in Clew" not in getattr(found, "hint", "")
