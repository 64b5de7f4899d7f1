from __future__ import annotations

import pytest

from clew.ledger.facts import Ledger
from tests.ledger.script import Talk


def errors(ledger: Ledger) -> list[str]:
    return [e.text for e in ledger.open_errors]


BOOM = 'Traceback (most recent call last):\n  File "run.py", line 3\nValueError: bad width'


def test_the_exact_line_is_open_until_the_same_thing_succeeds():
    talk = Talk().ran("python run.py", BOOM, code=1)
    assert errors(talk.ledger()) == ["ValueError: bad width"]
    talk.ran("sed -i s/a/b/ run.py", "").ran("python3 run.py --fast", "done")
    ledger = talk.ledger()
    assert errors(ledger) == []
    assert ledger.errors[0].resolved_by == 5


def test_a_new_error_of_the_same_command_takes_the_place_of_the_old():
    talk = Talk().ran("python run.py", BOOM, code=1).ran("python run.py", "KeyError: 'x'", code=1)
    assert errors(talk.ledger()) == ["KeyError: 'x'"]


def test_success_then_the_same_command_failing_is_open_again():
    talk = Talk().ran("make build", "ok").ran("make build", "a.c:1:2: error: no", code=2)
    assert errors(talk.ledger()) == ["a.c:1:2: error: no"]


def test_each_failing_test_is_closed_by_the_run_that_passes_it():
    talk = Talk().ran(
        "pytest", "FAILED t/a.py::test_x - assert 1\nFAILED t/b.py::test_y - no\n2 failed, 1 passed in 0.1s", code=1
    )
    assert errors(talk.ledger()) == ["FAILED t/a.py::test_x - assert 1", "FAILED t/b.py::test_y - no"]
    talk.ran("pytest t/a.py", "1 passed in 0.1s")
    assert errors(talk.ledger()) == ["FAILED t/b.py::test_y - no"]
    talk.ran("pytest", "3 passed in 0.2s")
    assert errors(talk.ledger()) == []


def test_a_filtered_run_says_nothing_of_other_tests():
    talk = Talk().ran("go test ./...", "--- FAIL: TestA (0.1s)\nFAIL\nFAIL\texample.org/a\t0.2s", code=1)
    talk.ran("go test -run TestB ./...", "ok  \texample.org/a\t0.1s")
    assert errors(talk.ledger()) == ["--- FAIL: TestA (0.1s)"]
    talk.ran(
        "go test -v -run 'TestA|TestB' ./...",
        "--- PASS: TestA (0.1s)\n--- PASS: TestB (0.1s)\nok  \texample.org/a\t0.1s",
    )
    assert errors(talk.ledger()) == []


def test_a_refused_edit_is_open_until_an_edit_of_that_file_succeeds():
    failed = "<tool_use_error>String to replace not found in file."
    talk = Talk().call("Edit", {"file_path": "a.py"}, failed, error=True).call("Edit", {"file_path": "b.py"}, "updated")
    assert errors(talk.ledger()) == [failed]
    assert errors(talk.call("Edit", {"file_path": "a.py"}, "updated").ledger()) == []


def test_a_support_call_that_fails_is_open_until_the_same_order_goes_through():
    talk = Talk().call("update_order", {"order_id": "W77", "n": 1}, "Error: payment does not add up")
    talk.call("update_order", {"order_id": "W78", "n": 1}, '{"ok": true}')
    assert errors(talk.ledger()) == ["Error: payment does not add up"]
    assert errors(talk.call("update_order", {"order_id": "W77", "n": 2}, '{"ok": true}').ledger()) == []


def test_a_look_that_misses_is_no_error_unless_it_misses_again():
    miss = "File does not exist."
    talk = Talk().call("Read", {"file_path": "a.py"}, miss, error=True).ran("grep -n x b.py", "", code=1)
    assert errors(talk.ledger()) == []
    assert errors(talk.call("Read", {"file_path": "a.py"}, miss, error=True).ledger()) == [miss]


def test_what_a_user_pasted_is_open_until_it_is_answered():
    talk = Talk().user("this exploded:\n\nError: Invalid hex color: #00c\n    at main.ts").ran("ls", "main.ts")
    assert errors(talk.ledger()) == ["Error: Invalid hex color: #00c"]
    assert errors(talk.agent("Fixed: the parser now refuses it.").ledger()) == []


def test_a_check_that_fails_stays_open_whatever_the_agent_says_but_a_detour_is_given_up():
    talk = (
        Talk()
        .user("go")
        .ran("npm run lint", "a.ts:1:1: error: no", code=1)
        .ran("curly --x", "curly: unknown option --x", code=2)
    )
    talk.ran("curl x", "ok").agent("All done.")
    assert errors(talk.ledger()) == ["a.ts:1:1: error: no"]


def test_what_looked_like_a_reply_and_was_none_gives_nothing_up():
    talk = Talk().user("go").call("page_down", {"": ""}, "Call id: c1\nError:\nTypeError: forward() got an argument")
    talk.ran("ls", "a").agent("Here is what I know so far.")
    assert errors(talk.ledger()) == []
    assert errors(talk.ran("ls -l", "a").ledger()) == ["TypeError: forward() got an argument"]


def test_a_declined_call_is_no_error():
    assert errors(Talk().ran("go run .", "The user doesn't want to proceed with this tool use.", code=1).ledger()) == []


def test_a_missing_program_is_done_with_once_another_way_works():
    talk = Talk().ran("go version", "zsh:1: command not found: go", code=127)
    assert len(errors(talk.ledger())) == 1
    assert errors(talk.ran("mise exec -- go version", "go1.26").ledger()) == []


def test_error_lines_that_a_long_report_quotes_are_not_the_users_errors():
    report = (
        "The build breaks since Monday.\nERROR: commands failed\nTypeError: x is not a function\n"
        + "Some words. " * 300
    )
    assert errors(Talk().user(report).ran("ls", "a").ledger()) == ["TypeError: x is not a function"]
    assert errors(Talk().user("it says\nERROR: commands failed").ran("ls", "a").ledger()) == ["ERROR: commands failed"]


@pytest.mark.parametrize("again", ["pytest -q", "uv run pytest", "python -m pytest"])
def test_the_same_tests_by_another_command_close_what_failed(again: str):
    talk = Talk().ran("make test", "FAILED t/a.py::test_x - no\n1 failed in 0.1s\nmake: *** [test] Error 1", code=2)
    assert errors(talk.ran(again, "5 passed in 0.2s").ledger()) == []


def test_another_line_of_the_same_command_takes_the_first_ones_place():
    talk = Talk().ran("npm run build", "a.ts(1,1): error TS1: one", code=2)
    talk.ran("npm run build", "b.ts(2,2): error TS2: two", code=2)
    assert errors(talk.ledger()) == ["b.ts(2,2): error TS2: two"]
