"""Two workers on one store and a client that hops between them, while one of them is killed again and again."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from clew.store import open_store
from clew.testing.upstream import Errand, Slow, Upstream, running
from tests.gateway.agent import PATHS, Agent, eventually, shell
from tests.gateway.test_loops import read
from tests.gateway.test_sharing import MODELS, PROMPT, WINDOW

pytestmark = pytest.mark.slow

SERVE = """
import sys, json
from clew.config import from_mapping
from clew.gateway import serving
if __name__ == "__main__":
    settings = from_mapping(json.loads(sys.argv[1])).settings
    listening = serving.listen(settings)
    print(serving.url_of(listening), flush=True)
    serving.serve(settings, listening)
    print("stopped", flush=True)
"""


def children(pid: int) -> list[int]:
    found = []
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            words = (place / "stat").read_text().rsplit(")", 1)[1].split()
            if int(words[1]) == pid and b"spawn_main" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found


@pytest.mark.parametrize("wire", PATHS)
def test_a_worker_killed_at_random_costs_a_connection_and_nothing_else(tmp_path, wire):
    script = tmp_path / "serve.py"
    script.write_text(SERVE)
    dice = random.Random(11)
    errand = Errand()
    with running(Upstream(lambda ask: Slow(errand(ask), before=0.05), window=WINDOW)) as up:
        given = {"serve": {"port": 0, "workers": 2, "upstreams": {"up": up.url}}, "models": MODELS,
                 "store": {"url": f"sqlite:///{tmp_path}/gw.db"}}  # fmt: skip
        server = subprocess.Popen([sys.executable, str(script), json.dumps(given)], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            agent = Agent(wire, server.stdout.readline().strip(), session="one", results=shell)
            ask = agent.ask
            cut = kills = 0

            def stubborn(**more):
                """As an SDK does: a cut connection is tried again."""
                nonlocal cut, kills
                if agent.sent // 8 > kills:
                    eventually(lambda: len(children(server.pid)) == 2)
                    kills += 1
                    victim = dice.choice(children(server.pid))
                    # Half of them while the answer is awaited, half while the request is read and stored.
                    threading.Timer(dice.choice([0.004, 0.04]), os.kill, (victim, signal.SIGKILL)).start()
                for _ in range(100):
                    try:
                        return ask(**more)
                    except (http.client.HTTPException, ConnectionError):
                        cut += 1
                        time.sleep(0.1)
                raise AssertionError("no worker answers any more")

            agent.ask = stubborn
            assert agent.run(PROMPT.format(40)) == "done: al4711"
            assert kills >= 4
            assert cut >= 1
            assert up.refused == []
        finally:
            server.send_signal(signal.SIGTERM)
            assert "stopped" in server.communicate(timeout=30)[0]
        # A request that was sent again went out in the same bytes; else every one begins with the one before it, but
        # where an epoch began. (When that is may differ: a usage report that a killed worker took along is missing.)
        assert len({r.raw for r in up.records}) == 41
        asks = [a.request.messages for a in up.asks]
        breaks = sum([read(m) for m in b[: len(a)]] != [read(m) for m in a] for a, b in itertools.pairwise(asks))
        store = open_store(f"{tmp_path}/gw.db")
        (tenant,) = [t for t in store.tenants() if t]
        (session,) = store.for_tenant(tenant).sessions()
        kept = [s.message.value for s in store.for_tenant(tenant).messages(session.id)]
        lead = 1 if wire == "openai-chat" else 0
        assert kept[lead:] == agent.history[: len(kept) - lead]
        assert len(kept) - lead >= len(agent.history) - 2
        assert list(store.check()) == []
        assert 2 <= breaks <= len(store.for_tenant(tenant).epochs(session.id))
