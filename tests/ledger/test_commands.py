from __future__ import annotations

import json

import pytest

from tests.ledger.script import Talk


def only(talk: Talk):
    (command,) = talk.ledger().commands
    return command


def test_text_exit_code_and_outcome():
    command = only(Talk().ran("make build", "cc a.c\na.c:3:1: error: expected ';'\nmake: *** [a.o] Error 1", code=2))
    assert (command.text, command.exit_code, command.failed, command.outcome) == (
        "make build",
        2,
        True,
        "a.c:3:1: error: expected ';'",
    )
    command = only(Talk().ran("wc -l a", "12 a\n"))
    assert (command.exit_code, command.failed, command.outcome, command.lines) == (None, False, "12 a", 1)


@pytest.mark.parametrize(
    ("output", "code", "failed", "lines"),
    [
        (json.dumps({"output": "one\ntwo\nthree", "exit_code": 0, "error": None}), 0, False, 3),
        (json.dumps({"stdout": "x", "stderr": "boom", "exit_code": 3}), 3, True, 2),
        ("<returncode>1</returncode>\n<output>\nnope\n</output>", 1, True, 1),
        (
            "Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\nzsh: command not found: go\n",
            127,
            True,
            1,
        ),
    ],
)
def test_wrapped_output_counts_by_what_is_inside(output: str, code: int, failed: bool, lines: int):
    command = only(Talk().call("terminal", {"command": "run"}, output))
    assert (command.exit_code, command.failed, command.lines) == (code, failed, lines)


def test_a_command_that_runs_on_is_followed_to_its_end():
    talk = Talk().call(
        "exec_command", {"cmd": "sh demo.sh"}, "Wall time: 1 s\nProcess running with session ID 7\nOutput:\nstarting"
    )
    assert only(talk).outcome == "still running"
    assert talk.ledger().workspace.processes == ("sh demo.sh (session 7)",)
    talk.call(
        "write_stdin",
        {"session_id": 7, "chars": ""},
        "Wall time: 2 s\nProcess exited with code 1\nOutput:\nerror: no such host\n",
    )
    assert (only(talk).exit_code, only(talk).failed, only(talk).outcome) == (1, True, "error: no such host")
    assert talk.ledger().workspace.processes == ()


@pytest.mark.parametrize(
    ("command", "output", "failed"),
    [
        ("mise run lint 2>&1 | head -50", "a.go:47:3: nil (nilerr)\n1 issues:\n[lint] ERROR task failed", True),
        ("go test ./... | tail -3", "--- FAIL: TestA (0.1s)\nFAIL\nFAIL\texample.org/a\t0.2s", True),
        ("python run.py | tail -4", 'Traceback (most recent call last):\n  File "run.py"\nValueError: bad', True),
        ("cat notes.txt | head -3", "fatal: this is what the notes say", False),
        ("git log | head -3", "fix: make errors fatal: again", False),
        ("echo ok; ls", "FAILED.md", False),
    ],
)
def test_a_failure_that_a_pipe_hides_is_seen_and_words_in_a_text_are_not_one(command: str, output: str, failed: bool):
    assert only(Talk().ran(command, output)).failed is failed


def test_a_dirty_status_is_not_clean():
    status = 'On branch main\nChanges not staged for commit:\n\tmodified:   a.py\n\nno changes added to commit (use "git add")\n'
    talk = Talk().ran("git status", status)
    assert "clean" not in only(talk).outcome
    assert [f.path for f in talk.ledger().files if f.changed] == ["a.py"]


def test_a_search_without_a_match_has_an_honest_outcome():
    command = only(Talk().ran("grep -n x a.py", "", code=1))
    assert command.outcome == "no output, exit 1"


@pytest.mark.parametrize(
    "end",
    [
        "npm error command failed\nnpm error command sh -c tsc\nWaiting for the debugger to disconnect...",
        "\nCommand aborted",
    ],
)
def test_a_failure_that_its_output_ends_with_is_seen_behind_a_pipe(end: str):
    assert only(Talk().ran("npm run check 2>&1 | tail -5", f"checking\n{end}")).failed
