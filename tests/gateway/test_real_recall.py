"""Claude Code, Codex, OpenCode and pi with recall as a tool of the gateway's: they see nothing of it, and it works."""

from __future__ import annotations

import os

import pytest

from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing.clients import CLIENTS, NoNode, Place
from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.conftest import settings
from tests.gateway.test_real_clients import WINDOWS, listing

pytestmark = pytest.mark.slow


def said_once(name: str, step: int) -> str:
    """The value is printed by the first command; all others print what nobody needs."""
    return f"echo '{name} value={name[:2]}4711'" if step == 0 else listing(name, step)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda c: c.name)
def test_a_real_client_whose_model_recalls(client, tmp_path):
    """A loop past the window, and a second run of the session; each ends with a search and a recall in the answer's turn."""
    window = WINDOWS[client.name]
    models = {n: {"window": window} for n in (client.model, "gpt-5", "gpt-5-mini", "claude-opus-4-8")}
    up = Upstream(Errand(command=said_once, think=True, recalls=True), window=window)
    store = open_store(str(tmp_path / "gw.db"))
    with running(up):
        serve = {"port": 0, "upstreams": {"up": up.url}, "recall": "tool"}
        with running(Serving(settings(up.url, serve=serve, models=models), store)) as gateway:
            place = Place.at(tmp_path, gateway.url)
            try:
                first = client.run("errand:alpha steps=40", place, timeout=420)
            except NoNode as e:
                if os.environ.get("CI") == "true":
                    raise
                pytest.skip(f"LEFT OUT: {e}")
            second = client.run("errand:beta steps=4", place, resume=True, timeout=420)
            counts = gateway.gateway.counts.all()
    assert (first.code, second.code) == (0, 0), (first.errors + second.errors)[-2000:]
    assert "done: al4711" in first.said
    assert "done: be4711" in second.said
    assert "clew_" not in first.said + second.said
    assert up.refused == []
    assert counts["recall tool on"] >= 1
    assert counts["recall tool calls"] >= 4
    assert counts.get("faults", 0) == 0
    recalled = [r for a in up.asks for m in a.request.messages for r in m.results if r.call_id == "recall_alpha"]
    assert "al4711" in recalled[-1].text
