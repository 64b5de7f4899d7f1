"""`clew compress`, `clew replay`, `clew why`: what they print, what they write and how they end."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from clew.cli.compress import compress
from clew.cli.replay import replay
from clew.cli.why import why
from clew.errors import ConfigError, InputError
from clew.handoff.template import BANNER, END_MARKER
from clew.redact import find
from clew.testing.session import generate
from clew.wire import get, problems
from clew.wire.files import read
from tests.inspect.builders import KEY, shop


@pytest.fixture
def app():
    made = typer.Typer()
    made.command("compress")(compress)
    made.command("replay")(replay)
    made.command("why")(why)
    return made


@pytest.fixture(scope="module")
def messages():
    return generate(3, turns=12).messages


@pytest.fixture
def folder(tmp_path, monkeypatch, messages):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    body = {"model": "gpt-5.4", "messages": messages, "tools": [{"type": "function", "function": {"name": "bash"}}]}
    (tmp_path / "body.json").write_text(json.dumps(body, indent=1))
    (tmp_path / "list.json").write_text(json.dumps(messages))
    (tmp_path / "lines.jsonl").write_text("".join(f"{json.dumps(m)}\n" for m in messages))
    (tmp_path / "short.json").write_text(json.dumps(messages[:4]))
    (tmp_path / "none.json").write_text("no session")
    return tmp_path


def run(app, *args):
    out = CliRunner().invoke(app, [str(a) for a in args])
    if out.exception and not isinstance(out.exception, SystemExit):
        raise out.exception
    return out


def tokens_of(text):
    return len(text) / 4


# --- compress ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape"), [("body.json", dict), ("list.json", list), ("lines.jsonl", None)], ids=["body", "list", "lines"]
)
def test_what_is_written_has_the_shape_of_what_was_read_and_is_valid(app, folder, messages, name, shape):
    out = run(app, "compress", name, "-o", "out.json", "--window", 16_000)
    assert out.exit_code == 0
    assert out.stdout == ""
    assert "% less)" in out.stderr
    assert "written by the ledger" in out.stderr
    text = (folder / "out.json").read_text()
    value = [json.loads(x) for x in text.splitlines()] if shape is None else json.loads(text)
    assert isinstance(value, shape or list)
    if shape is dict:
        assert set(value) == {"model", "messages", "tools"}
    done = read(folder / "out.json")
    assert len(done.messages) < len(messages)
    assert problems.problems(list(done.messages), "openai-chat") == []
    assert tokens_of(text) < 16_000
    assert text.count(json.dumps(BANNER)[1:-1]) == 1
    again = run(app, "compress", "out.json", "-o", "again.json", "--window", 16_000)
    assert again.exit_code == 0
    assert (folder / "again.json").read_text().count(json.dumps(BANNER)[1:-1]) == 1


def test_it_is_printed_where_no_file_is_named(app, folder):
    out = run(app, "compress", "list.json", "--window", 16_000)
    assert isinstance(json.loads(out.stdout), list)
    assert "tokens" in out.stderr


@pytest.mark.parametrize(("given", "wire"), [("anthropic", "anthropic"), ("responses", "openai-responses")])
def test_another_wire_is_written_as_its_body(app, folder, given, wire):
    assert run(app, "compress", "body.json", "-w", 16_000, "--wire", given, "-o", "out.json").exit_code == 0
    body = json.loads((folder / "out.json").read_text())
    read_ = [get(wire).message(m) for m in body[get(wire).messages_key]]
    assert problems.problems(read_, wire) == []


def test_a_clients_own_log_becomes_a_request_and_that_is_said(app, folder):
    shop().write(folder / "claude.jsonl")
    out = run(app, "compress", "claude.jsonl", "-w", 2_000, "-o", "out.json")
    assert "not as a log of Claude Code" in out.stderr
    assert KEY not in out.stderr
    assert read(folder / "out.json").wire == "anthropic"


def test_a_dry_run_says_what_would_go_where_and_writes_nothing(app, folder, messages):
    out = run(app, "compress", "list.json", "-w", 16_000, "--dry-run", "-o", "out.json")
    assert not (folder / "out.json").exists()
    lines = out.stdout.splitlines()
    assert lines[0].endswith("stay at the beginning")
    assert "go into the handoff" in lines[1]
    assert lines[2].endswith("stay at the end")
    assert f"-{len(messages) - 1}: " in lines[2]
    assert BANNER in out.stdout
    assert END_MARKER in out.stdout


def test_the_receipt_as_json(app, folder):
    out = run(app, "compress", "list.json", "-w", 16_000, "--json", "-o", "out.json")
    value = json.loads(out.stderr)
    assert value["refusal"] == ""
    assert value["written_by"] == "ledger"
    assert value["receipt"]["before"] > value["receipt"]["after"] > 0
    kinds = {c["kind"]: c for c in value["receipt"]["counts"]}
    assert kinds["constraints"]["kept"] == kinds["constraints"]["detected"] > 0
    assert value["receipt"]["why"] == "someone asked for it"


def test_a_focus_is_taken(app, folder):
    plain = run(app, "compress", "list.json", "-w", 16_000).stdout
    assert run(app, "compress", "list.json", "-w", 16_000, "--focus", "RETRY_LIMIT").stdout != plain


def test_too_little_to_compact_is_said_and_the_conversation_comes_out_as_it_was(app, folder, messages):
    out = run(app, "compress", "short.json", "-o", "out.json")
    assert out.exit_code == 0
    assert "nothing was compacted" in out.stderr
    assert json.loads((folder / "out.json").read_text()) == messages[:4]


def test_a_summariser_that_cant_be_reached_refuses_what_fits_and_gives_way_to_the_ledger_at_the_wall(app, folder):
    nobody = "http://127.0.0.1:9/v1#nobody"
    out = run(app, "compress", "list.json", "-w", 200_000, "--summarizer", nobody, "-o", "out.json")
    assert out.exit_code == 3
    assert "nothing was compacted" in out.stderr
    out = run(app, "compress", "list.json", "-w", 16_000, "--summarizer", nobody, "-o", "out.json")
    assert out.exit_code == 0
    assert "nothing was compacted" not in out.stderr
    assert "written by the ledger" in out.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["gone.json"], "does not exist"),
        (["none.json"], "no session file"),
        (["list.json", "--wire", "telex"], "telex"),
        (["list.json", "-w", 16_000, "-o", "no/where.json"], "can't be written"),
    ],
)
def test_what_is_wrong_is_said(app, folder, args, said):
    with pytest.raises(InputError, match=said):
        run(app, "compress", *args)


def test_a_summariser_nobody_knows_is_an_error(app, folder):
    with pytest.raises(ConfigError, match="foo:bar"):
        run(app, "compress", "list.json", "--summarizer", "foo:bar")


# --- replay --------------------------------------------------------------------------------------------------------


def test_a_replay_compares_and_draws(app, folder):
    out = run(app, "replay", "list.json", "-w", 16_000, "--html", "page.html", "--no-color")
    assert out.exit_code == 0
    for word in ("clew", "none", "sliding", "mask", "recall", "window", "epoch", "the last receipt"):
        assert word in out.stdout
    page = (folder / "page.html").read_text()
    assert "<svg" in page
    assert "src=" not in page  # nothing is loaded from elsewhere


def test_each_decision_is_explained_with_its_figures(app, folder):
    out = run(app, "replay", "list.json", "-w", 16_000, "-p", "clew", "--explain", "--no-color")
    flat = " ".join(out.stdout.split())
    assert "epoch 1 at message" in flat
    assert "the threshold is 8,000" in flat or "an epoch costs" in flat
    assert "rewritten, written by the ledger" in flat


def test_the_figures_as_json_and_the_gate_on_them(app, folder):
    out = run(app, "replay", "list.json", "-w", 16_000, "-p", "clew", "-p", "none", "--json")
    clew, none = json.loads(out.stdout)[0]["policies"]
    assert (clew["over"], clew["invalid"], clew["prefix_breaks"]) == (0, 0, 0)
    assert clew["price"] < none["price"] == 1
    assert none["recall"] == 1
    assert {e["receipt"]["why"] != "" for e in clew["epochs"]} == {True}
    passed = run(app, "replay", "list.json", "-w", 16_000, "-p", "clew", "--fail-under", "recall=0.5,over=0,price=1")
    assert passed.exit_code == 0
    failed = run(app, "replay", "list.json", "-w", 16_000, "-p", "clew", "--fail-under", "recall=1.01,price=0.01")
    assert failed.exit_code == 1
    assert failed.stderr.count("gate failed: list.json") == 2


@pytest.mark.parametrize(
    ("args", "error", "said"),
    [
        (["-p", "magic"], InputError, "no policy"),
        (["--fail-under", "speed=1"], ConfigError, "speed"),
        (["--fail-under", "recall"], ConfigError, "NAME=NUMBER"),
        (["--fail-under", "recall=nan"], ConfigError, "NAME=NUMBER"),
        (["--html", "no/where.html"], InputError, "can't be written"),
    ],
)
def test_a_wrong_option_is_told(app, folder, args, error, said):
    with pytest.raises(error, match=said):
        run(app, "replay", "short.json", *args)


def test_a_file_that_cant_be_read_stops_no_other(app, folder):
    out = run(app, "replay", "gone.json", "none.json", "short.json", "-p", "clew", "--no-color")
    assert out.exit_code == 2
    assert "gone.json does not exist" in out.stderr
    assert "none.json" in out.stderr
    assert "short.json" in out.stdout


# --- why -----------------------------------------------------------------------------------------------------------


def test_why_shows_transcript_against_view_with_reason_and_receipt(app, folder, messages):
    out = run(app, "why", "list.json", len(messages), "-w", 16_000)
    assert out.exit_code == 0
    lines = out.stdout.splitlines()
    assert lines[0].endswith(f"for {len(messages)} of the transcript")
    assert "% less)" in out.stdout
    listed = [x for x in lines if x[:2] in ("= ", "- ", "~ ")]
    assert [int(x[2:7]) for x in listed] == list(range(len(messages)))
    assert sum(x.startswith("+ ") for x in lines) == 1
    gone = [i for i, x in enumerate(lines) if x.startswith("- ")]
    assert gone
    for i in gone:
        assert "stands in handoff" in lines[i + 1]
        assert "clew:" in lines[i + 1]
    assert BANNER not in out.stdout
    assert BANNER in run(app, "why", "list.json", len(messages), "-w", 16_000, "--full").stdout


def test_why_before_any_epoch_shows_everything(app, folder):
    out = run(app, "why", "list.json", 3, "-w", 16_000)
    assert "no epoch yet" in out.stdout
    assert [x[0] for x in out.stdout.splitlines()[2:]] == ["=", "=", "="]
    assert run(app, "why", "list.json", 0).exit_code == 0


def test_why_as_json_holds_the_view_without_secrets(app, folder, messages):
    out = run(app, "why", "list.json", len(messages), "-w", 16_000, "--json").stdout
    assert not [f for f in find(out) if "[REDACTED" not in out[f.start : f.end]]
    value = json.loads(out)
    assert value["step"] == len(messages)
    assert value["epoch"] > 0
    assert value["receipt"]["after"] < value["receipt"]["before"]
    assert {"message", "part", "strategy", "reason", "before", "after", "reference"} <= set(value["edits"][0])
    assert value["view"][0]["role"] == "system"


def test_a_step_that_is_not_there(app, folder):
    with pytest.raises(InputError, match="has 4 messages, not 9"):
        run(app, "why", "short.json", 9)
