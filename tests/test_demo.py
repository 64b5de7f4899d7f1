"""`clew demo`: the generated session through a real gateway on loopback, and the figures that are shown of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew.cli import demo
from clew.cli.main import build
from clew.demo import HEAD, WAYS, as_json, line, report, run
from clew.demo.gateway import play
from clew.demo.player import Failed, Player, tale
from clew.report import Look
from clew.report.terminal import lines, plain
from clew.testing.session import generate
from clew.testing.upstream import Cut, Refuse, Upstream, running
from tests.gateway.agent import eventually

SESSION = generate(2, turns=12)
CLEW = Path(sys.executable).with_name("clew")


def small(name):
    """A window that the session passes."""
    return replace(WAYS[name], window=32_000)


@pytest.fixture(scope="module", params=WAYS)
def played(request):
    seen = []
    done = play(SESSION, small(request.param), seen.append)
    assert list(done.rows) == seen
    return done


def test_every_request_is_answered_as_it_was_scripted(played):
    assert len(played.rows) == sum(m["role"] == "assistant" for m in SESSION.messages)
    assert played.same
    assert played.refused == 0
    assert played.last.turn == sum(m["role"] == "user" for m in SESSION.messages)
    assert all(r.sent < played.way.window for r in played.rows)


def test_the_agents_side_only_grows_and_what_is_sent_does_not(played):
    whole = [r.whole for r in played.rows]
    assert whole == sorted(whole)
    assert whole[-1] > 40_000
    assert played.last.epochs >= 2
    assert played.over == sum(n > 32_000 for n in whole) > 0


def test_the_first_request_is_what_the_agent_holds(played):
    """The price of sending everything is counted as the upstream counts."""
    assert played.rows[0].whole == pytest.approx(played.rows[0].sent, abs=5)


def test_openais_cache_is_read_and_the_price_is_below_that_of_sending_all():
    played = play(SESSION, small("openai"))
    assert sum(r.read for r in played.rows) > 0.6 * sum(r.sent for r in played.rows)
    assert played.last.cost < played.last.whole_cost


def test_a_line_stands_under_its_heading(played):
    said = line(played.last)
    assert str(len(played.rows)) in said
    assert said.index(" of $") > HEAD.index("of sending all") - 5
    assert len(said) < 100


def test_a_request_that_ends_while_the_table_is_drawn(played, monkeypatch, capsys):
    rows = iter(played.rows)
    spelt = demo.show.line

    def while_drawn(row):
        if (more := next(rows, None)) is not None:
            shown(more)
        return spelt(row)

    monkeypatch.setattr(demo.show, "line", while_drawn)
    with demo._live() as shown:
        shown(next(rows))
    assert spelt(played.rows[0])[:8] in capsys.readouterr().out


def test_the_names_are_whole_in_a_terminal_of_80_columns(played):
    drawn = plain(list(lines(report(run(2, 12), played), Look(80))))
    assert [w for w in ("policy ", "clew ", "none ", "sliding ", "mask ") if f"\n{w}" not in drawn] == []


def test_the_report_shows_the_gateway_first(played):
    drawn = plain(list(lines(report(run(2, 12), played), Look(100))))
    assert drawn.index("through the gateway") < drawn.index("what was planted")
    assert "as scripted" in drawn
    assert as_json(played)["refused"] == 0


STORY = tale(SESSION, WAYS["openai"])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda ask: Refuse(500, "broken"), "500"),
        (lambda ask: Cut(STORY.policy()(ask), events=2, reset=False), "ended early"),
    ],
)
def test_what_the_upstream_does_wrong_is_told(answer, words):
    with running(Upstream(answer)) as upstream:
        agent = Player(STORY, upstream.url)
        agent.hear(STORY.messages[: STORY.replies[0]])
        with pytest.raises(Failed, match=words):
            agent.speak(STORY.messages[STORY.replies[0]])
        agent.close()


def clew(*args, **env):
    return subprocess.run(
        [CLEW, *args], capture_output=True, text=True, timeout=60, check=False, env={**bare(), **env}
    )  # fmt: skip


def answers(url):
    with contextlib.suppress(OSError):
        return urllib.request.urlopen(f"{url}/health", timeout=5).status == 200
    return False


def bare():
    return {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}


def test_on_the_command_line(tmp_path):
    done = clew("demo", "--turns", "8", "--serve-with-key", CLEW_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("An agent plays ")
    assert HEAD in done.stdout
    assert "\x1b" not in done.stdout
    assert "the last receipt" in done.stdout
    assert not list(tmp_path.iterdir())  # nothing is left behind


def test_as_json():
    done = CliRunner().invoke(build("demo"), ["demo", "--turns", "8", "--json", "--provider", "anthropic"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["gateway"]["model"] == WAYS["anthropic"].model
    assert told["gateway"]["as_scripted"] is True
    assert {p["policy"] for p in told["policies"]} == {"clew", "none", "sliding", "mask"}


def test_an_unknown_provider_is_named():
    done = clew("demo", "--provider", "acme")
    assert done.returncode == 2
    assert "acme" in done.stderr


def test_with_a_key_in_the_environment_it_serves(tmp_path):
    """As `make run` asks for; the key itself is not shown."""
    (tmp_path / "clew.yaml").write_text("serve:\n  port: 0\n")
    env = {**bare(), "CLEW_HOME": str(tmp_path), "CLEW_CONFIG": str(tmp_path / "clew.yaml"), "PYTHONUNBUFFERED": "1"}
    env |= {"OPENAI_API_KEY": "sk-not-to-be-shown"}
    started = subprocess.Popen([CLEW, "demo", "--serve-with-key"], stdout=subprocess.PIPE, text=True, env=env)
    assert started.stdout is not None
    said = [started.stdout.readline() for _ in range(4)]
    url = said[2].split()[2].rstrip(",")
    eventually(lambda: answers(url))
    started.send_signal(signal.SIGINT)
    rest, _ = started.communicate(timeout=20)
    assert "OPENAI_API_KEY is set: serving for real" in said[0]
    assert "Clew serves http://127.0.0.1:" in "".join(said)
    assert rest.rstrip().endswith("stopped")
    assert "sk-not-to-be-shown" not in "".join(said) + rest
    assert started.returncode == 0
