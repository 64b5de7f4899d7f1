"""`clew search` and `clew recall` as people use them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from clew.cli.main import build
from clew.errors import ClewError
from clew.store import NewSession, open_store
from clew.store.records import Epoch
from clew.testing.builders import assistant, call, result, user
from clew.transcript import reference

pty = pytest.importorskip("pty", reason="left out: this system has no pseudo terminals")
MAIN = "from clew.cli.main import main; main()"
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    for name in ("CLEW_CONFIG", "CLEW_STORE__URL", "CLEW_SESSION_ID", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    store = open_store(f"sqlite:///{tmp_path / 'clew.db'}")
    store.create(NewSession("auth", "cli", title="Auth middleware", workspace="/api"))
    texts = [user("build the API"), call("c", "bash", {"cmd": "cat a_mw.py"})]
    texts += [result("c", f"def check_token(x):\n    key = '{KEY}'\n\x1b[2Jthird"), assistant("deployed")]
    store.append("auth", texts, at=0)
    for n in range(12):
        store.create(NewSession(f"s{n:02d}", "cli", title=f"Task {n}"))
        store.append(f"s{n:02d}", [user(f"task {n}: fix the build"), assistant("done")], at=0)
    return tmp_path


@dataclass
class Ran:
    returncode: int
    stdout: str
    stderr: str


def clew(*args: str) -> Ran:
    """In this process; an error as `main` shows it."""
    result = CliRunner().invoke(build(args[0]), args)
    error = result.exception
    if isinstance(error, ClewError):
        return Ran(error.exit_code, result.stdout, f"{error.message}\n{error.hint}")
    if error is not None and not isinstance(error, SystemExit):
        raise error
    return Ran(result.exit_code, result.stdout, result.stderr)


def test_a_hit_with_its_snippet(home):
    out = clew("search", "check_token(")
    assert out.returncode == 0, out.stderr
    assert "Auth middleware" in out.stdout
    assert "»check_token(«" in out.stdout
    assert "auth at 2" in out.stdout
    assert KEY not in out.stdout
    assert "\x1b" not in out.stdout


def test_json_holds_everything(home):
    found = json.loads(clew("search", "check_token(", "--json").stdout)
    [hit] = found["hits"]
    start, end = hit["snippet"]["marks"][0]
    assert hit["snippet"]["text"][start:end] == "check_token("
    assert [m["position"] for m in hit["window"]] == [0, 1, 2, 3]
    assert (hit["session"], hit["project"], hit["source"], found["more"]) == ("auth", "/api", "cli", None)
    assert KEY not in json.dumps(found)


def test_pages_and_filters(home):
    first = json.loads(clew("search", "build", "-n", "5", "--json").stdout)
    second = json.loads(clew("search", "build", "-n", "5", "--page", "2", "--json").stdout)
    assert first["more"] == 5
    assert len({h["session"] for h in first["hits"] + second["hits"]}) == 10
    assert "--page 2" in clew("search", "build", "-n", "5").stderr
    only = json.loads(clew("search", "build", "--project", "/api", "--json").stdout)
    assert [h["session"] for h in only["hits"]] == ["auth"]
    assert clew("search", "build", "--until", "2001-01-01").returncode == 1
    assert "nothing found" in clew("search", "build", "--role", "tool").stderr
    newest = json.loads(clew("search", "build", "--sort", "newest", "-n", "1", "--json").stdout)
    assert newest["hits"][0]["session"] == "s11"


@pytest.mark.parametrize("term", ["-API", '-"build the API"'])
def test_a_word_can_be_left_out_without_quotes_around_the_query(home, term):
    everywhere = json.loads(clew("search", "build", "-n20", "--json").stdout)["hits"]
    without = json.loads(clew("search", "build", term, "-n20", "--json").stdout)["hits"]
    assert {h["session"] for h in everywhere} - {h["session"] for h in without} == {"auth"}
    assert clew("search", "build", "--nosuch").returncode == 2


def test_bad_syntax_is_said(home):
    out = clew("search", 'build "the')
    assert out.returncode == 0
    assert "quotation mark" in out.stderr
    wrong = clew("search", "build", "--since", "sometime")
    assert wrong.returncode == 2
    assert "is no time" in wrong.stderr


def test_without_a_query_the_latest_are_shown(home):
    out = clew("search", "-n", "2")
    assert "Task 11" in out.stdout
    assert "Task 10" in out.stdout
    assert "Task 9" not in out.stdout


def test_the_running_session_does_not_find_what_it_has_in_view(home, monkeypatch):
    monkeypatch.setenv("CLEW_SESSION_ID", "auth")
    assert clew("search", "deployed").returncode == 1
    assert clew("search", "deployed", "--in-view").returncode == 0
    store = open_store(f"sqlite:///{home / 'clew.db'}")
    store.commit_epoch("auth", Epoch(1, store.chain("auth", 2), 3, {}), None)
    assert clew("search", "check_token(").returncode == 0
    assert clew("search", "deployed").returncode == 1


def test_recall_from_any_folder(home, tmp_path_factory):
    store = open_store(f"sqlite:///{home / 'clew.db'}")
    ref = reference(store.messages("auth")[2].address)
    command = [sys.executable, "-c", MAIN, "recall", ref]
    away = tmp_path_factory.mktemp("away")
    out = subprocess.run(command, capture_output=True, text=True, cwd=away, check=True)
    assert out.stdout.startswith("def check_token(x):\n")
    assert KEY not in out.stdout
    assert clew("recall", ref, "--lines", "1").stdout == "def check_token(x):\n"
    assert KEY in clew("recall", ref, "--raw", "--lines", "2-").stdout
    assert json.loads(clew("recall", ref, "--lines", "2-3", "--json").stdout)["total"] == 3


def test_recall_says_what_is_wrong(home):
    unknown = clew("recall", "clew:aaaaaaaaaaaa")
    assert unknown.returncode == 3
    assert "no original is known" in unknown.stderr
    other = open_store(f"sqlite:///{home / 'clew.db'}", tenant="acme")
    other.create(NewSession("x"))
    other.append("x", [user("theirs")], at=0)
    ref = reference(other.messages("x")[0].address)
    assert "belongs to tenant 'acme'" in clew("recall", ref).stderr
    assert clew("recall", ref, "--tenant", "acme").stdout == "theirs\n"


def test_looking_makes_no_store(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    monkeypatch.delenv("CLEW_STORE__URL", raising=False)
    out = clew("search", "x")
    assert out.returncode == 4
    assert "nothing is stored yet" in out.stderr
    assert not list(tmp_path.iterdir())


def test_another_profile_is_only_read(home, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    other = open_store(str(folder / "other.sqlite"))
    other.create(NewSession("theirs", "cli"))
    other.append("theirs", [user("build build build")], at=0)
    other.close()
    before = (folder / "other.sqlite").read_bytes()
    found = json.loads(clew("search", "build", "-n", "30", "--also", str(folder / "other.sqlite"), "--json").stdout)
    assert found["hits"][0]["session"] == "theirs"
    assert len(found["hits"]) == 14
    assert (folder / "other.sqlite").read_bytes() == before


def test_on_a_terminal_pages_are_asked_for(home):
    """Space brings the next page, a number opens a hit, q ends it."""
    shown = terminal(["search", "build", "-n", "3"], [" ", "1\r", "q"])
    assert "\x1b[" in shown
    assert "space: more" in shown
    assert "around the hit" in shown
    for number in range(1, 7):
        assert f"{number}  " in shown
    assert "\x1b[2J" not in shown


def terminal(args: list[str], keys: list[str]) -> str:
    """What a person sees who presses these keys, each once a prompt stands."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-c", MAIN, *args])
    shown = b""
    left = list(keys)
    try:
        while True:
            data = os.read(fd, 4096)
            if not data:
                break
            shown += data
            if left and shown.count(b"q: end") > len(keys) - len(left):
                os.write(fd, left.pop(0).encode())
    except OSError:
        pass  # Linux says so at the end of a pseudo terminal
    finally:
        os.close(fd)
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return shown.decode()
