"""`clew inspect` and `clew validate`: what they print, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from clew.cli import inspect as commands
from clew.errors import InputError
from tests.conftest import ROOT
from tests.inspect.builders import KEY, chat, shop, tool_turn

GOLDEN = ROOT / "tests" / "golden" / "inspect"


@pytest.fixture
def app():
    made = typer.Typer()
    made.command("inspect")(commands.inspect)
    made.command("validate")(commands.validate)
    return made


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    shop().write(tmp_path / "shop.jsonl")
    (tmp_path / "more").mkdir()
    chat(tmp_path / "more" / "broken.json", [{"role": "user", "content": "go"}, *tool_turn(1, "x")[:1]])
    return tmp_path


def run(app, *args):
    return CliRunner().invoke(app, [str(a) for a in args])


def golden(name: str, text: str) -> None:
    """The text as it stands under tests/golden; CLEW_GOLDEN=write puts it there, to be read before it is committed."""
    path = GOLDEN / name
    if os.environ.get("CLEW_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 120])
def test_one_file_reads_as_before(app, folder, width):
    out = run(app, "inspect", "shop.jsonl", "--width", width)
    assert out.exit_code == 0
    assert out.stderr == ""
    golden(f"shop.{width}.txt", out.stdout)


def test_many_files_read_as_before(app, folder):
    out = run(app, "inspect", "shop.jsonl", "more", "--width", 90)
    assert out.exit_code == 0
    golden("many.90.txt", out.stdout)


def test_the_json_reads_as_before(app, folder):
    out = run(app, "inspect", "shop.jsonl", "--json")
    assert out.exit_code == 0
    golden("shop.json", out.stdout)
    assert json.loads(out.stdout)["files"][0]["requests"] == 7


def test_a_secret_is_on_no_output(app, folder):
    for args in (("inspect", "."), ("inspect", "shop.jsonl", "--html", "o.html"), ("inspect", "shop.jsonl", "--json")):
        out = run(app, *args)
        assert KEY not in out.stdout + out.stderr
    assert KEY not in (folder / "o.html").read_text()


def test_a_file_that_cant_be_read_ends_in_2_and_the_others_are_shown(app, folder):
    out = run(app, "inspect", "shop.jsonl", "missing.jsonl")
    assert out.exit_code == 2
    assert "missing.jsonl does not exist" in out.stderr
    assert "7 requests" in out.stdout.replace("\n", " ")
    alone = run(app, "inspect", "missing.jsonl")
    assert (alone.exit_code, alone.stdout) == (2, "")


def test_a_folder_without_sessions_ends_in_2(app, folder):
    (folder / "none").mkdir()
    out = run(app, "inspect", "none")
    assert out.exit_code == 2
    assert "holds no session files" in out.stderr


def test_unreadable_files_stand_in_the_json(app, folder):
    out = run(app, "inspect", "missing.jsonl", "--json")
    assert out.exit_code == 2
    (found,) = json.loads(out.stdout)["unreadable"]
    assert found["path"] == "missing.jsonl"


def test_the_page_is_written_and_its_place_told(app, folder):
    out = run(app, "inspect", "shop.jsonl", "more", "--html", "out.html")
    assert out.exit_code == 0
    assert "page written to out.html" in out.stderr
    text = (folder / "out.html").read_text()
    assert text.startswith("<!doctype html>")
    assert text.count("<details>") == 2


def test_a_page_that_cant_be_written_is_an_error_with_the_reason(app, folder):
    out = run(app, "inspect", "shop.jsonl", "--html", "no/such/folder/out.html")
    assert isinstance(out.exception, InputError)
    assert "can't be written" in out.exception.message


def test_model_and_window_may_be_named(app, folder):
    out = run(app, "inspect", "shop.jsonl", "--model", "gpt-5.4", "--window", "5000", "--json")
    (file,) = json.loads(out.stdout)["files"]
    assert (file["model"], file["window"]) == ("gpt-5.4", 5000)


def test_a_wrong_format_is_refused(app, folder):
    out = run(app, "inspect", "shop.jsonl", "--format", "codex")
    assert out.exit_code == 2
    assert "looks like claude-code" in out.stderr
    out = run(app, "inspect", "shop.jsonl", "--format", "gopher")
    assert out.exit_code == 2
    assert "no session file format is called 'gopher'" in out.stderr


def test_the_users_models_are_known(app, folder):
    (folder / "home").mkdir()
    (folder / "home" / "config.yaml").write_text("models:\n  house: {like: gpt-5.4, window: 7000}\n")
    out = run(app, "inspect", "shop.jsonl", "--model", "house", "--json")
    assert json.loads(out.stdout)["files"][0]["window"] == 7000


def test_colour_when_asked_for(app, folder):
    assert "\x1b[" in run(app, "inspect", "shop.jsonl", "--color").stdout
    assert "\x1b[" not in run(app, "inspect", "shop.jsonl", "--no-color").stdout


def test_validate_ends_in_0_where_all_is_right(app, folder):
    out = run(app, "validate", "shop.jsonl")
    assert out.exit_code == 0
    assert out.stdout == "shop.jsonl: claude-code, 15 messages: no problems\n"


def test_validate_names_every_problem_with_its_place_and_ends_in_1(app, folder):
    out = run(app, "validate", "more/broken.json", "shop.jsonl")
    assert out.exit_code == 1
    first, *rest = out.stdout.splitlines()
    assert first == "more/broken.json: line 1, message 1: missing-result: the call 'call_1' has no result yet"
    assert rest[0] == "more/broken.json: openai-chat, 2 messages: 1 problem"


def test_validate_ends_in_2_where_a_file_cant_be_read(app, folder):
    out = run(app, "validate", "more/broken.json", "missing.json")
    assert out.exit_code == 2
    assert "missing-result" in out.stdout
    assert "does not exist" in out.stderr


def test_validate_as_json(app, folder):
    out = run(app, "validate", "more/broken.json", "--json")
    assert out.exit_code == 1
    (file,) = json.loads(out.stdout)["files"]
    assert file.keys() == {"path", "format", "wire", "model", "messages", "problems", "problem_counts", "left_out"}
    assert file["problem_counts"] == {"missing-result": 1}


def test_what_was_left_out_goes_to_standard_error(app, folder):
    with (folder / "shop.jsonl").open("a") as f:
        f.write('{"cut off')
    out = run(app, "validate", "shop.jsonl")
    assert out.exit_code == 0
    assert "left out: the last line" in out.stderr


def test_the_command_itself(folder):
    """Through the console script, piped: no colours, no progress, no warnings."""
    out = subprocess.run(
        [sys.executable, "-c", "from clew.cli.main import main; main()", "inspect", "shop.jsonl", "more"],
        capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, "PYTHONWARNINGS": "default"},
    )  # fmt: skip
    assert out.returncode == 0
    assert out.stderr == ""
    assert out.stdout.startswith("2 files")
    assert "\x1b" not in out.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("command", [["validate", "shop.jsonl"], ["inspect", "--json", "shop.jsonl"], ["--version"]])
def test_a_full_disk_is_told_in_one_line(folder, command):
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", "from clew.cli.main import main; main()", *command],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (2, "clew: what it found can't be written: No space left on device\n")
