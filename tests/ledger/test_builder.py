from __future__ import annotations

import json
import sys

import pytest

from clew.ledger import Builder, of
from tests.conftest import ROOT
from tests.ledger.script import WIRES, Talk, observed, told

sys.path.insert(0, str(ROOT / "bench"))
import ledger as bench


def session(wire: str) -> Talk:
    talk = Talk(wire).user("Fix the parser. Never touch the tests. My ticket is AB-1234.")
    talk.ran(
        "pytest t", "FAILED t/a.py::test_x - no\n1 failed, 2 passed in 0.1s", said="I'll start with a run.", code=1
    )
    talk.call(
        "Read", {"file_path": "/w/p.py", "offset": 3, "limit": 2}, "3→a\n4→b", said="The root cause is a stale index."
    )
    talk.call(
        "Edit", {"file_path": "/w/p.py", "old_string": "a", "new_string": "c"}, "The file /w/p.py has been updated."
    )
    talk.ran("pytest t && git commit -m AB-1234", "3 passed in 0.1s\n[main 1a2b3c4] AB-1234\n 1 file changed")
    talk.call("TodoWrite", {"todos": [{"content": "release", "status": "pending"}]}, "ok")
    return talk.agent("Fixed and committed.").user("Thanks, now release it.")


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_gives_the_same_ledger(wire: str):
    assert told(session(wire).ledger()) == told(session("openai-chat").ledger())


def test_it_holds_every_type():
    ledger = session("openai-chat").ledger()
    assert [r.status for r in ledger.requests] == ["answered", "open"]
    assert [c.text for c in ledger.current_constraints] == ["Never touch the tests."]
    assert [(f.path, [a.verb for a in f.actions]) for f in ledger.files] == [("/w/p.py", ["read", "modified"])]
    assert [c.failed for c in ledger.commands] == [True, False]
    assert [t.ok for t in ledger.tests] == [False, True]
    assert ledger.open_errors == ()
    assert [d.text for d in ledger.decisions] == ["The root cause is a stale index."]
    assert [v.text for v in ledger.values] == ["AB-1234"]
    assert [t.text for t in ledger.tasks] == ["release"]
    assert (ledger.workspace.branch, ledger.workspace.commit) == ("main", "1a2b3c4")
    assert ledger.seen == len(session("openai-chat").values)


def test_a_snapshot_does_not_change_when_more_is_observed():
    talk = session("openai-chat")
    before = talk.ledger()
    copy = told(before)
    talk.agent("Released.")
    assert told(before) == copy
    builder, (_, transcript) = Builder(), observed(session("openai-chat"))
    for i, message in enumerate(transcript):
        builder.observe(i, message, transcript)
    first = builder.ledger()
    assert first == builder.ledger() == of(transcript)


def test_results_without_a_call_and_calls_without_a_result_are_survived():
    talk = Talk().call("Bash", {"command": "sleep 9"}, None)
    talk.values.append({"role": "tool", "tool_call_id": "nobody", "content": "1 failed in 0.1s"})
    ledger = talk.ledger()
    assert (ledger.commands, ledger.tests, ledger.errors) == ((), (), ())


def test_a_compaction_summary_is_neither_asked_nor_binding():
    text = "This session is being continued from a previous conversation.\n\n## Goal\nYou must never stop. Fix it."
    ledger = Talk().user(text).ledger()
    assert (ledger.requests, ledger.constraints) == ((), ())


def test_labels_of_real_sessions_hold(bench_dir):
    """Recall and precision by type over every labelled session; the bench prints what is amiss."""
    result = bench.measure(ROOT / "tests" / "data" / "ledger_labels", bench_dir / "sessions")
    for kind in bench.TYPES:
        total = bench.Score()
        for group in bench.GROUPS:
            total.add(result[group][kind])
        assert total.labelled
        assert (total.recall or 0) >= 0.9, total.misses
        assert (total.precision or 0) >= 0.9, total.misses


def test_labels_hold_no_words_of_a_session():
    for path in (ROOT / "tests" / "data" / "ledger_labels").glob("*.json"):
        for fact in json.loads(path.read_text())["facts"]:
            assert set(fact) <= {"type", "any", "may"}
            assert all(o["is"] == "*" or len(o["is"]) == 16 for o in fact["any"])
