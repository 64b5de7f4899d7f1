from __future__ import annotations

import pytest

from tests.ledger.script import Talk


def tasks(talk: Talk) -> list[tuple[str, bool]]:
    return [(t.text, t.done) for t in talk.ledger().tasks]


def test_a_whole_list_replaces_the_one_before():
    talk = Talk().call(
        "TodoWrite", {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]}, "ok"
    )
    assert tasks(talk) == [("a", True), ("b", False)]
    assert tasks(talk.call("update_plan", {"plan": [{"step": "c", "status": "in_progress"}]}, "ok")) == [("c", False)]


def test_tasks_made_one_by_one_are_kept_by_their_number():
    talk = Talk().call("TaskCreate", {"subject": "Write it"}, "Task #1 created successfully: Write it")
    talk.call("TaskCreate", {"subject": "Test it"}, "Task #2 created successfully: Test it")
    assert tasks(talk.call("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated")) == [
        ("Write it", True),
        ("Test it", False),
    ]


@pytest.mark.parametrize(
    ("command", "output", "branch", "commit"),
    [
        ("git checkout -b feat/x", "Switched to a new branch 'feat/x'", "feat/x", ""),
        ("git status", "On branch main\nnothing to commit, working tree clean", "main", ""),
        ("git status -sb", "## main...origin/main", "main", ""),
        ("git commit -m x", "[main 1a2b3c4] x\n 1 file changed", "main", "1a2b3c4"),
        ("git branch --show-current", "dev", "dev", ""),
        ("git rev-parse HEAD", "1a2b3c4d5e", "", "1a2b3c4d5e"),
        ("git log --oneline -2", "1a2b3c4 On branch main", "", ""),
    ],
)
def test_branch_and_commit(command: str, output: str, branch: str, commit: str):
    place = Talk().ran(command, output).ledger().workspace
    assert (place.branch, place.commit) == (branch, commit)


def test_the_directory_is_what_clients_say_and_where_commands_go():
    talk = Talk().user("<environment_context>\n<cwd>/w/app</cwd>\n</environment_context>")
    assert talk.ledger().workspace.directory == "/w/app"
    assert talk.ran("cd src && ls", "a").ledger().workspace.directory == "/w/app/src"
    assert talk.call("exec_command", {"cmd": "ls", "workdir": "/w/b"}, "a").ledger().workspace.directory == "/w/b"


def test_a_failed_change_of_branch_changes_nothing():
    place = Talk().ran("git checkout -b x", "fatal: a branch named 'x' already exists", code=128).ledger().workspace
    assert place.branch == ""
