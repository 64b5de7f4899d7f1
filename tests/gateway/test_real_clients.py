"""Claude Code, Codex, OpenCode and pi from npm, headless, through the gateway, past a small window several times.

The upstream is as strict as the real ones and takes no more than the window. Without Node it says so, and fails in CI.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from clew.gateway.serving import Serving
from clew.store import Store, open_store
from clew.testing.clients import CLIENTS, Client, Done, NoNode, Place
from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.conftest import settings

pytestmark = pytest.mark.slow

# What the clients carry besides the conversation differs: 34,000 tokens of system and tools, and 64,000 kept for output.
WINDOWS = {"claude-code": 115_000, "codex": 30_000, "opencode": 34_000, "pi": 28_000}
ASKED = "In the end say that {0} value={1}."


def listing(name: str, step: int) -> str:
    """A command whose output fills a window in a few steps."""
    return f"seq -f 'errand {name} step {step} line %g of a listing that nobody needs twice' 1 100"


@dataclass
class Stage:
    """A client's place with a gateway and an upstream behind it."""

    client: Client
    place: Place
    up: Upstream
    gateway: Serving
    store: Store

    def run(self, prompt: str, *, resume: bool = False) -> Done:
        try:
            return self.client.run(prompt, self.place, resume=resume, timeout=420)
        except NoNode as e:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(f"LEFT OUT: {e}")

    @property
    def counts(self) -> dict[str, int]:
        return dict(self.gateway.gateway.counts.all())

    @property
    def sessions(self) -> list[str]:
        return [s.kind for t in self.store.tenants() for s in self.store.for_tenant(t).sessions()]


def stage(client: Client, folder: Path, window: int, *, told: bool = True) -> Iterator[Stage]:
    """With `told`, the gateway's settings say how large the window is."""
    names = {client.model, "gpt-5", "gpt-5-mini", "claude-opus-4-8"}
    up = Upstream(Errand(command=listing, think=True), window=window)
    store = open_store(str(folder / "gw.db"))
    models = {n: {"window": window} for n in names} if told else {}
    with running(up), running(Serving(settings(up.url, models=models), store)) as gateway:
        yield Stage(client, Place.at(folder, gateway.url), up, gateway, open_store(str(folder / "gw.db")))


@pytest.fixture(params=CLIENTS, ids=lambda c: c.name)
def staged(request, tmp_path) -> Iterator[Stage]:
    yield from stage(request.param, tmp_path, WINDOWS[request.param.name])


def test_a_long_loop_and_a_resumed_session(staged):
    """Nothing the client sees tells of it: no error, the right answer, and again in the next run of the session."""
    first = staged.run(f"errand:alpha steps=45 {ASKED.format('alpha', 'al4711')}")
    assert first.code == 0, first.errors[-2000:]
    assert "done: al4711" in first.said
    assert staged.counts["epochs"] >= 3
    assert staged.up.refused == []
    second = staged.run(f"errand:beta steps=6 {ASKED.format('beta', 'be99')}", resume=True)
    assert second.code == 0, second.errors[-2000:]
    assert "done: be99" in second.said
    assert staged.up.refused == []
    assert staged.counts.get("faults", 0) == 0
    assert staged.sessions.count("new") == 1  # one conversation, whatever the client put beside it


@pytest.mark.parametrize("client", [c for c in CLIENTS if c.name in ("codex", "pi")], ids=lambda c: c.name)
def test_one_turn_of_220_calls(client, tmp_path):
    for staged in stage(client, tmp_path, WINDOWS[client.name]):
        done = staged.run(f"errand:alpha steps=220 {ASKED.format('alpha', 'al4711')}")
        assert done.code == 0, done.errors[-2000:]
        assert "done: al4711" in done.said
        assert len(staged.up.asks) == 221
        assert staged.up.refused == []


@pytest.mark.parametrize("client", [c for c in CLIENTS if c.name in ("claude-code", "opencode")], ids=lambda c: c.name)
def test_a_subagent_is_a_conversation_of_its_own(client, tmp_path):
    for staged in stage(client, tmp_path, WINDOWS[client.name]):
        done = staged.run(f"errand:alpha steps=20 delegate=beta substeps=12 {ASKED.format('alpha', 'al4711')}")
        assert done.code == 0, done.errors[-2000:]
        assert "done: al4711" in done.said
        assert staged.up.refused == []
        assert staged.sessions.count("new") == 2


def test_two_subagents_at_the_same_time(tmp_path):
    """Claude Code's, each of which passes the window by itself."""
    client = next(c for c in CLIENTS if c.name == "claude-code")
    for staged in stage(client, tmp_path, WINDOWS[client.name]):
        done = staged.run(f"errand:alpha steps=6 delegate=beta_gamma substeps=30 {ASKED.format('alpha', 'al4711')}")
        assert done.code == 0, done.errors[-2000:]
        assert "done: al4711" in done.said
        assert staged.up.refused == []
        assert staged.sessions.count("new") == 3
        assert staged.counts.get("faults", 0) == 0
        for a in staged.up.asks:  # neither reads of the other
            orders = {n for n in ("beta", "gamma") if f"errand:{n} steps" in a.request.messages[0].text}
            steps = {n for n in ("beta", "gamma") if any(f"errand {n} step" in m.text for m in a.request.messages)}
            assert len(orders) <= 1
            assert not orders or steps <= orders


def test_the_clients_own_compaction_in_the_middle(tmp_path):
    """Claude Code's /compact makes a branch, and the work goes on in it."""
    client = next(c for c in CLIENTS if c.compact)
    for staged in stage(client, tmp_path, WINDOWS[client.name]):
        staged.run(f"errand:alpha steps=25 {ASKED.format('alpha', 'al4711')}")
        assert staged.run(client.compact, resume=True).code == 0
        done = staged.run(f"errand:gamma steps=25 {ASKED.format('gamma', 'ga7')}", resume=True)
        assert "done: ga7" in done.said
        assert staged.up.refused == []
        assert "branch" in staged.sessions


def test_a_local_model_of_8k(tmp_path):
    """The catalogue believes the window to be much larger; it is learned from the first refusal, unseen by the client."""
    client = next(c for c in CLIENTS if c.name == "pi")
    for staged in stage(client, tmp_path, 8_000, told=False):
        small = replace(staged.place, window=6_000)  # pi keeps its output within it
        done = client.run(f"errand:alpha steps=12 {ASKED.format('alpha', 'al4711')}", small, timeout=300)
        assert done.code == 0, done.errors[-2000:]
        assert "done: al4711" in done.said
        assert 1 <= len(staged.up.refused) <= 2
        assert staged.gateway.gateway.learned.all() == {"up/gpt-5": 8_000}
