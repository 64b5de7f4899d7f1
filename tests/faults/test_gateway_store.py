"""A store that is down never stops a request: it passes unshortened, is counted, and is stored once it can be."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from clew.errors import StoreBusy, StoreError, StoreFull
from clew.gateway import turns
from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.agent import Agent, eventually, shell
from tests.gateway.conftest import settings


class Failing:
    """A store whose every method raises while `error` is set."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.error: StoreError | None = None
        self.views: list[Failing] = []
        self.outer: Failing | None = None

    def for_tenant(self, tenant: str) -> Failing:
        made = Failing(self.inner.for_tenant(tenant))
        made.outer = self
        return made

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if not callable(found):
            return found

        def called(*args: Any, **named: Any) -> Any:
            down = (self.outer or self).error
            if down is not None and name not in ("close", "now"):
                raise down
            return found(*args, **named)

        return called


@pytest.mark.parametrize("error", [StoreError("gone"), StoreBusy("busy"), StoreFull("full")])
def test_requests_pass_while_the_store_is_down(monkeypatch, caplog, error):
    monkeypatch.setattr(turns, "_RETRY_STORE", 0.05)
    store = Failing(open_store("memory:"))
    with running(Upstream(Errand())) as up, running(Serving(settings(up.url), store)) as gateway:
        agent = Agent("openai-chat", gateway.url, session="one", results=shell)
        agent.history.append({"role": "user", "content": "errand:alpha steps=9"})
        for n in range(10):
            store.error = error if 3 <= n < 7 else None
            if n == 7:
                time.sleep(0.1)
            status, _, raw = agent.ask()
            assert status == 200, raw
            for call_id, command in agent.read(json.loads(raw))[0]:
                agent.answer(call_id, shell(command))
        assert [len(a.request.messages) for a in up.asks] == [2 + 2 * n for n in range(10)]
        counts = gateway.gateway.counts.all()
        assert counts["passed: store down"] == 4
        assert counts["turns"] == 6
        (tenant,) = [t for t in store.inner.tenants() if t]
        mine = store.inner.for_tenant(tenant)
        (session,) = mine.sessions()
        assert session.length == 2 + 2 * 9  # all of it, that of the bad time too
        told = [r.message for r in caplog.records if r.name == "clew.gateway" and "store" in r.message]
        assert told == [f"the store is down, so requests pass as they come: {error.message}", "the store is up again"]


@pytest.mark.parametrize("ends", [False, True])
def test_what_passed_is_stored_though_its_client_asks_no_more(monkeypatch, ends):
    """When another conversation finds the store up again, or the gateway ends."""
    monkeypatch.setattr(turns, "_RETRY_STORE", 0.05)
    store = Failing(open_store("memory:"))
    with running(Upstream(Errand())) as up, running(Serving(settings(up.url), store)) as gateway:
        one, other = (Agent("openai-chat", gateway.url, session=s, results=shell) for s in ("one", "other"))
        for agent in (one, other):
            agent.history.append({"role": "user", "content": "errand:alpha steps=9"})
            assert agent.ask()[0] == 200
        store.error = StoreError("gone")
        for _ in range(3):
            one.history.append({"role": "user", "content": "and?"})
            assert one.ask()[0] == 200
        store.error = None
        time.sleep(0.1)
        mine = store.inner.for_tenant(store.inner.tenants()[0])
        if not ends:
            assert other.ask()[0] == 200
            eventually(lambda: sorted(s.length for s in mine.sessions()) == [2, 5])
            assert gateway.gateway.counts.all()["stored later"] == 1
    assert sorted(s.length for s in mine.sessions()) == [2, 5]


def test_readiness_tells():
    store = Failing(open_store("memory:"))
    with running(Serving(settings("http://127.0.0.1:9"), store)) as gateway:
        store.error = StoreError("the disk is on fire")
        place = urlsplit(gateway.url)
        for path, expected in (("/health", 200), ("/ready", 503)):
            connection = http.client.HTTPConnection(place.hostname, place.port)
            connection.request("GET", path)
            got = connection.getresponse()
            assert got.status == expected
            assert (b"on fire" in got.read()) == (expected == 503)
            connection.close()


def test_a_fault_of_ours_stops_no_request(monkeypatch):
    """Whatever breaks while a view is prepared, the request goes out as it came."""

    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("clew.gateway.turns.Turns._view", broken)
    with running(Upstream(Errand())) as up, running(Serving(settings(up.url), open_store("memory:"))) as gateway:
        agent = Agent("anthropic", gateway.url, session="one", results=shell)
        assert agent.run("errand:alpha steps=3 In the end alpha value=al4711") == "done: al4711"
        assert gateway.gateway.counts.all()["faults"] == 4
        assert json.loads(up.records[-1].raw)["messages"] == agent.history[:-1]
