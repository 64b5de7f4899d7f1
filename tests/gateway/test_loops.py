"""Long tool loops through the gateway, in every wire, past the window several times, on the strict scripted upstream."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from clew import jsonio
from clew.caching import spots
from clew.store import open_store
from clew.testing.upstream import Errand, Lie, Reply, Say, Upstream, running, script
from clew.transcript import Message, without_cache_marks
from tests.gateway.agent import PATHS, Agent, eventually, post, shell

WINDOW = 24_000
PROMPT = "errand:alpha steps={} In the end tell me that alpha value=al4711, and leave migrations/ alone."
MODELS = {name: {"window": WINDOW} for name in ("gpt-5", "claude-opus-4-8")}


def counts(gateway: Any) -> dict[str, int]:
    return dict(gateway.gateway.counts.all())


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("think", [False, True], ids=["plain", "thinking"])
def test_a_long_loop_ends_with_the_right_answer(serve, wire, think):
    with running(Upstream(Errand(think=think), window=WINDOW)) as up:
        gateway = serve(up.url, models=MODELS)
        agent = Agent(wire, gateway.url, session="one", results=shell)
        assert agent.run(PROMPT.format(70)) == "done: al4711"
        assert up.refused == []
        assert counts(gateway)["turns"] == agent.sent == 71
        eaten = max(r.usage.prompt for r in up.records if r.usage)
        assert eaten < WINDOW
        whole = sum(len(json.dumps(m)) for m in agent.history) // 4
        assert whole > 3 * WINDOW  # it passed the window several times
        assert counts(gateway)["epochs"] >= 3


@pytest.mark.parametrize("wire", PATHS)
def test_between_epochs_the_prefix_stays_the_same(serve, wire):
    """Each request begins with all of the one before it, but where an epoch began: then the cache is written anew."""
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, models=MODELS)
        Agent(wire, gateway.url, session="one", results=shell).run(PROMPT.format(60))
        epochs = counts(gateway)["epochs"]
    asks = [a.request for a in up.asks]
    breaks = 0
    for before, after in itertools.pairwise(asks):
        same = [read(m) for m in after.messages[: len(before.messages)]] == [read(m) for m in before.messages]
        breaks += not same
        assert after.system == before.system
        assert len(spots.found(after)) <= 4
        assert after.tools == before.tools
    assert 3 <= breaks <= epochs


def read(message: Message) -> bytes:
    """A message as a provider's cache sees it: where marks stand changes nothing, nor does a text's being in a block."""
    value = without_cache_marks(message.value)
    if isinstance(value.get("content"), str):
        value["content"] = [{"type": "text", "text": value["content"]}]
    return jsonio.canonical(value)


@pytest.mark.parametrize("wire", PATHS)
def test_without_anything_to_do_the_upstream_gets_the_clients_bytes(serve, wire):
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url)
        agent = Agent(wire, gateway.url, session="one", results=lambda command: f"did {command}")
        agent.run("errand:alpha steps=8")
        assert counts(gateway).get("turns shortened", 0) == 0
        sent = json.dumps(agent.body() | {}).encode()
        last = up.records[-1].raw
        assert sent.startswith(last[: last.index(b"errand_alpha_006")])


def test_streams_are_metered(serve):
    """Usage is read beside the stream: the engine knows how full the provider says the window is."""
    with running(Upstream(script("one", "two"), bias=1.5)) as up:
        gateway = serve(up.url)
        agent = Agent("anthropic", gateway.url, session="s")
        agent.history.append({"role": "user", "content": "word " * 3000})
        status, headers, raw = agent.ask(stream=True)
        assert status == 200
        assert headers["content-type"].startswith("text/event-stream")
        assert b"message_stop" in raw
        family = next(iter(gateway.gateway._turns._families.values()))
        conversation = next(iter(family._open.values()))
        said = up.records[0].usage.prompt
        eventually(lambda: abs(conversation.live.used - said) < 20)


@pytest.mark.parametrize("wire", PATHS)
def test_switched_off_for_a_request(serve, wire):
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, models=MODELS)
        agent = Agent(wire, gateway.url, session="one", results=shell)
        agent.history.append({"role": "user", "content": "errand:alpha steps=3"})
        body = json.dumps(agent.body()).encode()
        status, _, _ = post(gateway.url, PATHS[wire], body, agent.headers() | {"x-clew": "off"})
        assert status == 200
        assert up.records[0].raw == body
        assert counts(gateway) == {"passed": 1, "passed: switched off": 1}


def test_observe_shortens_nothing_and_says_what_it_would(serve):
    with running(Upstream(Errand())) as up:
        mode = {"serve": {"port": 0, "upstreams": {"up": up.url}, "mode": "observe"}}
        gateway = serve(up.url, models=MODELS, **mode)
        agent = Agent("openai-chat", gateway.url, session="one", results=shell)
        assert agent.run(PROMPT.format(40)) == "done: al4711"
        assert counts(gateway)["observed: bytes that would not have been sent"] > 100_000
        assert counts(gateway).get("turns shortened", 0) == 0
        assert [len(a.request.messages) for a in up.asks] == [2 + 2 * n for n in range(41)]


def test_count_tokens_agrees_with_what_is_sent(serve):
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, models=MODELS)
        agent = Agent("anthropic", gateway.url, session="one", results=shell)
        agent.run(PROMPT.format(40))
        agent.history.append({"role": "user", "content": "errand:beta steps=1"})
        body = {k: v for k, v in agent.body().items() if k != "max_tokens"}
        status, _, raw = post(gateway.url, "/v1/messages/count_tokens", json.dumps(body).encode(), agent.headers())
        assert status == 200
        counted = json.loads(raw)["input_tokens"]
        assert agent.ask()[0] == 200
        assert counted == pytest.approx(up.records[-1].usage.prompt, abs=8)
        assert counted < WINDOW


def test_what_a_provider_is_to_compact_is_what_is_sent(serve, tmp_path):
    """A client that has the provider compact sends all it has, which may be several windows."""
    store = open_store(f"{tmp_path}/gw.db")
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, store, models=MODELS)
        agent = Agent("openai-responses", gateway.url, session="one", results=shell)
        agent.run(PROMPT.format(40))
        body = {k: v for k, v in agent.body().items() if k in ("model", "instructions", "input", "tools")}
        raw = json.dumps(body).encode()
        assert post(gateway.url, "/v1/responses/compact", raw, agent.headers())[0] == 200
        assert len(up.records[-1].raw) < len(raw) / 3
        assert up.records[-1].path == "/v1/responses/compact"
        (mine,) = (store.for_tenant(t) for t in store.tenants() if t)
        (session,) = mine.sessions()
        before = session.length
        agent.history.append({"role": "user", "content": "errand:beta steps=1"})
        assert agent.ask()[0] == 200
        assert [s.length > before for s in mine.sessions()] == [True]
        assert up.refused == []


def test_lies_about_usage_do_no_harm(serve):
    """Nothing, nonsense, or a hundred times too much: the conversation goes on."""
    lies = [
        {"prompt_tokens": None},
        {"prompt_tokens": -5, "total_tokens": "x"},
        {"prompt_tokens": 10**9},
        {"prompt_tokens": 0},
    ]
    turns = [Reply((Say(f"answer {n}"),), lie=Lie(lie)) for n, lie in enumerate(lies)]
    with running(Upstream(script(*turns, otherwise=Reply((Say("fine"),))))) as up:
        gateway = serve(up.url)
        agent = Agent("openai-chat", gateway.url, session="one")
        for n in range(8):
            agent.history.append({"role": "user", "content": f"question {n} " * 50})
            status, _, raw = agent.ask()
            assert status == 200
            agent.read(json.loads(raw))
        assert counts(gateway).get("faults", 0) == 0
        assert up.refused == []


def test_a_shared_history_is_stored_once(serve, tmp_path):
    store = open_store(f"{tmp_path}/gw.db")
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url, store)
        agent = Agent("openai-chat", gateway.url, session="one", results=lambda c: f"did {c}")
        agent.run("errand:alpha steps=5")
        mine = [store.for_tenant(t) for t in store.tenants() if t]
        (session,) = mine[0].sessions()
        assert session.length == 2 + 2 * 5
        kept = [s.message.value for s in mine[0].messages(session.id)]
        assert kept == agent.body()["messages"][:-1]
