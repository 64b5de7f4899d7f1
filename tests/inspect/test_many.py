"""Many files: which, in what order, on how many processes, and what becomes of the bad ones; the JSON of all."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.inspect import (
    KINDS,
    Inspection,
    Options,
    Unreadable,
    as_json,
    expand,
    inspect_file,
    inspect_files,
    many,
    totals,
)
from clew.inspect.values import Share
from tests.inspect.builders import chat, shop, tool_turn


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / ".hidden").mkdir()
    shop().write(tmp_path / "a.jsonl")
    chat(tmp_path / "deep" / "b.json", [{"role": "user", "content": "x"}, *tool_turn(1, "out")])
    chat(tmp_path / ".hidden" / "c.json", [{"role": "user", "content": "x"}])
    (tmp_path / "notes.txt").write_text("not a session")
    (tmp_path / "bad.json").write_text("{]")
    return tmp_path


def test_a_folder_stands_for_the_session_files_below_it(folder):
    assert [p.name for p in expand([folder])] == ["a.jsonl", "bad.json", "b.json"]


def test_files_are_taken_as_they_are_named(folder):
    named = [folder / "notes.txt", folder / "missing.json"]
    assert list(expand(named)) == named


def test_a_folder_without_sessions_says_so(tmp_path):
    (found,) = expand([tmp_path])
    assert isinstance(found, Unreadable)
    assert "holds no session files" in found.sentence


def test_a_bad_file_costs_the_others_nothing(folder):
    outcomes = inspect_files(list(expand([folder, folder / "missing.json"])))
    assert [type(o).__name__ for o in outcomes] == ["Inspection", "Unreadable", "Inspection", "Unreadable"]
    assert "does not exist" in outcomes[3].sentence


def test_workers_bring_the_same_in_the_same_order(folder, monkeypatch):
    monkeypatch.setattr(many, "_WORTH", 0)
    paths = list(expand([folder]))
    told = []
    alone = inspect_files(paths)
    spread = inspect_files(paths, workers=2, done=lambda done, of: told.append((done, of)))
    assert spread == alone
    assert told[-1][0] == told[-1][1] == sum(p.stat().st_size for p in paths)


def test_a_bug_in_one_file_is_told_with_its_place_and_the_others_go_on(folder, monkeypatch):
    def broken(path, *rest):
        if path.name == "a.jsonl":
            raise KeyError("oops")
        return inspect_file(path, *rest)

    monkeypatch.setattr(many, "inspect_file", broken)
    first, _, other = inspect_files(list(expand([folder])))
    assert "KeyError in test_many.py:" in first.sentence
    assert "bug in Clew" in first.hint
    assert isinstance(other, Inspection)


@pytest.mark.parametrize("error", [RecursionError(), MemoryError(), OSError(5, "disk")])
def test_what_a_machine_can_fail_at_is_said(error, folder, monkeypatch):
    def failing(*_):
        raise error

    monkeypatch.setattr(many, "inspect_file", failing)
    (found,) = inspect_files([folder / "a.jsonl"])
    assert isinstance(found, Unreadable)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="left out: no named pipes on this system")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (found,) = inspect_files([tmp_path / "pipe.json"])
    assert "not a regular file" in found.sentence


def test_totals_are_the_sums(folder):
    outcomes = inspect_files(list(expand([folder])))
    found = [o for o in outcomes if isinstance(o, Inspection)]
    t = totals(outcomes)
    assert (t.files, t.unreadable, t.recorded) == (2, 1, 1)
    assert t.sent == sum(i.sent for i in found)
    assert t.paid.cost == pytest.approx(sum(i.costs.paid.cost for i in found), abs=1e-5)
    assert sum(s.sent for s in t.by_kind) == sum(s.sent for i in found for s in i.by_kind)
    assert totals([]).by_kind == ()


def test_very_many_files_keep_fewer_points_each(tmp_path):
    turns = [m for n in range(130) for m in tool_turn(n, "x")]
    path = chat(tmp_path / "s.json", turns)
    assert len(inspect_files([path])[0].growth) == 130
    assert len(inspect_files([path] * 41, Options(model="gpt-5.4"))[0].growth) <= 122


def test_the_shape_of_the_json_is_kept(folder):
    """Keys may be added here, never renamed or removed: others read them."""
    whole = json.loads(json.dumps(as_json(inspect_files(list(expand([folder]))))))
    assert whole.keys() == {"version", "files", "unreadable", "totals"}
    assert whole["version"] == 1
    file = whole["files"][0]
    assert file.keys() == {
        "path", "bytes", "format", "wire", "model", "model_source", "window", "session_id", "title", "chains",
        "messages", "turns", "requests", "reported", "tokens", "sent", "peak", "peak_request", "by_kind", "by_tool",
        "by_file", "files_touched", "heaviest", "repeats", "copies", "repeated_tokens", "repeated_sent", "old_sent",
        "growth", "costs", "secrets", "problems", "problem_counts", "compactions", "left_out", "notes", "headline",
        "findings",
    }  # fmt: skip
    assert file["growth"]["kinds"] == list(KINDS)
    assert file["growth"]["points"][0].keys() == {"request", "prompt", "parts"}
    assert file["by_kind"][0].keys() == {"name", "count", "tokens", "sent"}
    assert file["costs"].keys() == {
        "source", "paid", "forecast", "uncached", "misses", "missed", "missed_tokens", "missed_cost",
    }  # fmt: skip
    assert file["costs"]["paid"].keys() == {
        "requests", "read", "written", "uncached", "output", "input_cost", "cost",
    }  # fmt: skip
    assert file["secrets"][0].keys() == {"family", "count", "distinct", "places"}
    assert whole["unreadable"][0].keys() == {"path", "sentence", "hint"}


WORDS = st.sampled_from(["short", "a longer text " * 20, "data " * 60, "ünï 🛒 " * 9])
TURNS = st.lists(
    st.one_of(
        st.builds(lambda t: [{"role": "user", "content": t}], WORDS),
        st.builds(lambda t: [{"role": "assistant", "content": t, "reasoning_content": "why " * 12}], WORDS),
        st.builds(tool_turn, st.integers(0, 3), WORDS),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(TURNS, st.sampled_from(["gpt-5.4", "gpt-6-sol", "claude-sonnet-4-6", "glm-5", "gpt-4"]))
def test_nothing_is_lost_between_the_parts_and_the_whole(tmp_path_factory, turns, model):
    """Kinds, points and bills each add up to what was sent, whatever the conversation and the model."""
    messages = [{"role": "user", "content": "go"}, *(m for turn in turns for m in turn)]
    made = inspect_file(chat(tmp_path_factory.mktemp("p") / "s.json", messages, model=model))
    requests = max(1, made.requests)
    assert sum(s.sent for s in made.by_kind) == pytest.approx(made.sent, abs=4 * requests)
    assert all(sum(p.parts) == p.prompt for p in made.growth)
    assert sum(p.prompt for p in made.growth) == made.sent
    costs = made.costs
    assert costs.paid.input == costs.forecast.input == costs.uncached.input == made.sent
    assert costs.uncached.read == 0
    assert made.repeated_sent <= made.sent
    assert isinstance(made.by_kind[0], Share)
    assert made.headline
