"""`clew connect`, `run`, `service` and `doctor` as they are typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from clew.cli.connect import connect
from clew.cli.doctor import doctor
from clew.cli.run import run
from clew.cli.service import app as service
from clew.errors import ConfigError, InputError
from tests.connect.gateways import CLEW, listening


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in (
        "CLEW_CONFIG",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "XDG_CONFIG_HOME",
        "OPENCODE_CONFIG",
        "PI_CODING_AGENT_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "clew"))
    monkeypatch.setenv("CLEW_SERVE__PORT", "1")
    return tmp_path


def call(function, *args):
    app = typer.Typer()
    app.command()(function)
    return CliRunner().invoke(app, args)


def test_connected_shown_and_undone(home):
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "model": "opus"\n}\n')
    dry = call(connect, "claude", "--dry-run")
    assert '+    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"' in dry.stdout
    assert settings.read_text() == '{\n  "model": "opus"\n}\n'
    done = call(connect, "claude")
    assert done.stdout.startswith("Claude Code now uses http://127.0.0.1:1")
    assert "no gateway answers at http://127.0.0.1:1 yet" in done.stderr
    assert "would stay as it is" in call(connect, "claude", "--dry-run").stdout
    assert "is as it was" in call(connect, "claude", "--undo").stdout
    assert settings.read_text() == '{\n  "model": "opus"\n}\n'


def test_an_address_may_be_given_with_or_without_v1_and_a_gateway_that_answers_needs_no_note(home):
    with listening(CLEW) as url:
        done = call(connect, "pi", "--url", f"{url}/v1/")
    assert (done.exit_code, done.stderr) == (0, "")
    value = json.loads((home / ".pi" / "agent" / "models.json").read_text())
    assert value["providers"]["openai"]["baseUrl"] == f"{url}/v1"


@pytest.mark.parametrize(
    "args",
    [
        ("emacs",),
        ("claude", "--url", "127.0.0.1:9"),
        ("claude", "--url", "http://h:99999"),
        ("claude", "--undo", "--dry-run"),
    ],
)
def test_what_makes_no_sense_is_refused(home, args):
    result = call(connect, *args)
    assert isinstance(result.exception, InputError)
    assert result.exception.hint
    assert not (home / ".claude").exists()


# --- run


PROGRAM = f"""#!{sys.executable}
import json, os, sys
print(json.dumps([sys.argv[1:], {{k: os.environ.get(k) for k in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")}}]))
sys.exit(7)
"""


def started(home, url, *command):
    """`clew run` as a process of its own, since it becomes the program."""
    code = "import sys; from clew.cli.run import run; run(sys.argv[2:], sys.argv[1])"
    env = {**os.environ, "PATH": f"{home}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [sys.executable, "-c", code, url, *command], capture_output=True, text=True, env=env, check=False
    )


def test_a_program_runs_with_the_addresses_in_its_environment_only_and_its_exit_code_is_ours(home):
    for name in ("claude", "agent", "pi"):
        (home / name).write_text(PROGRAM)
        (home / name).chmod(0o755)
    with listening(CLEW) as url:
        claude, agent, pi = (started(home, url, name, "-p", "hi") for name in ("claude", "agent", "pi"))
    assert [r.returncode for r in (claude, agent, pi)] == [7, 7, 7], claude.stderr
    assert json.loads(claude.stdout) == [["-p", "hi"], {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": None}]
    assert json.loads(agent.stdout) == [["-p", "hi"], {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1"}]
    arguments, _ = json.loads(pi.stdout)
    assert arguments[0] == "-e"
    assert url in Path(arguments[1]).read_text()
    assert not (home / ".claude").exists()


def test_without_a_gateway_nothing_is_started(home):
    result = call(run, "--url", "http://127.0.0.1:1", "--", "claude", "-p", "hi")
    assert isinstance(result.exception, ConfigError)
    assert "clew serve" in result.exception.hint


def test_a_program_that_is_not_there(home):
    with listening(CLEW) as url:
        result = call(run, "--url", url, "--", "no-such-program")
    assert isinstance(result.exception, InputError)
    assert "no-such-program" in result.exception.message


# --- service and doctor


@pytest.mark.skipif(not sys.platform.startswith(("linux", "darwin")), reason="no service manager is known here")
def test_the_services_file_can_be_looked_at_and_its_status_told(home):
    shown = CliRunner().invoke(service, ["show"])
    assert "serve" in shown.stdout
    assert shown.exit_code == 0
    state = CliRunner().invoke(service, ["status"])
    assert state.exit_code == 1
    assert "not installed" in state.stdout
    assert CliRunner().invoke(service, ["uninstall"]).exit_code == 0


def test_the_doctor_in_words_and_as_json(home):
    words = call(doctor)
    assert "note     gateway: nothing answers at http://127.0.0.1:1\n           → clew serve" in words.stdout
    found = json.loads(call(doctor, "--json").stdout)
    assert found["version"] == 1
    assert {f["area"] for f in found["findings"]} >= {"versions", "settings", "gateway", "store", "upstreams"}
    assert words.exit_code == 0
    call(connect, "claude")
    broken = call(doctor)
    assert broken.exit_code == 1
    assert "PROBLEM  client claude" in broken.stdout
