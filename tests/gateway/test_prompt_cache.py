"""Prompt caching on the way through: what is marked, what the provider's cache then reads, and what is said of it."""

from __future__ import annotations

import itertools
import json
import logging

import pytest

from clew.caching import spots
from clew.config.loader import from_mapping
from clew.gateway.auth import tenant
from clew.gateway.prompt_cache import overview
from clew.store import open_store
from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.agent import PATHS, Agent, eventually, shell

WINDOW = 24_000
PROMPT = "errand:alpha steps={} In the end tell me that alpha value=al4711."
MODELS = {name: {"window": WINDOW} for name in ("gpt-5", "claude-opus-4-8", "claude-sonnet-4-6")}
LONG = "The harbour office keeps its ledgers in the cellar. " * 600
MARK = {"type": "ephemeral"}
OPENROUTER = "anthropic/claude-sonnet-4.6"


def named(up, name, **more):
    """Settings where the upstream goes by a provider's name, and so is spoken to as that one."""
    return {
        "serve": {"port": 0, "upstreams": {name: up.url}},
        "models": MODELS | {OPENROUTER: {"window": WINDOW}},
    } | more


def asked(agent, words, **more):
    agent.history.append({"role": "user", "content": words})
    status, _, raw = agent.ask(**more)
    assert status == 200, raw
    agent.read(json.loads(raw))


def marks(up):
    return [spots.found(a.request) for a in up.asks]


def status_of(gateway):
    return gateway.gateway._turns.prompt_cache.all()


def again(up, step=1, least=0):
    """Tokens that one request had sent and that the next, which begins with them, was charged for in full. Across an
    epoch nothing is counted: `why` then says that the prefix changed.
    """
    out = []
    for before, now in itertools.pairwise(r for r in up.records if r.usage is not None):
        if "prefix" in now.why or before.usage.prompt < least:
            continue
        out.append(max(0, before.usage.prompt // step * step - now.usage.read))
    return out


WIRES = [("anthropic", "anthropic", ""), ("openai-chat", "openrouter", OPENROUTER), ("openai-responses", "openai", "")]


@pytest.mark.parametrize(("wire", "name", "model"), WIRES, ids=[w[1] for w in WIRES])
def test_between_epochs_what_was_sent_is_read_from_the_cache(serve, wire, name, model):
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, **named(up, name))
        agent = Agent(wire, gateway.url, session="one", model=model, results=shell)
        assert agent.run(PROMPT.format(60)) == "done: al4711"
    assert up.refused == []
    assert gateway.gateway.counts.all()["epochs"] >= 3
    step, least = (128, 1_024) if wire == "openai-responses" else (1, 4_096)
    paid = again(up, step, least)
    assert len(paid) > 30
    assert sum(paid) == 0
    assert all(len(m) <= 4 for m in marks(up))
    assert status_of(gateway)["warnings"] == []
    read = sum(r.usage.read for r in up.records if r.usage)
    eventually(lambda: status_of(gateway)["sums"]["read"] == read)  # told after the answer's end


@pytest.mark.parametrize("wire", PATHS)
def test_a_plain_chat_upstream_gets_no_marks_and_no_key(serve, wire):
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, models=MODELS)
        model = "claude-opus-4-8" if wire == "openai-chat" else ""
        asked(Agent(wire, gateway.url, session="one", model=model), LONG)
        has = b"cache_control" in up.records[0].raw
        assert has == (wire == "anthropic")
        assert b"prompt_cache_key" not in up.records[0].raw


@pytest.mark.parametrize("change", ["off", "observe", "setting"])
def test_switched_off_nothing_is_added(serve, change):
    with running(Upstream(Errand())) as up:
        more = {"prompt_caching": {"enabled": False}} if change == "setting" else {}
        made = named(up, "anthropic", **more)
        if change == "observe":
            made["serve"]["mode"] = "observe"
        gateway = serve(up.url, **made)
        agent = Agent("anthropic", gateway.url, session="one")
        if change == "off":
            agent.headers = lambda: Agent.headers(agent) | {"x-clew": "off"}
        asked(agent, LONG)
        sent = json.dumps(agent.body() | {"messages": agent.history[:1]}).encode()
        assert up.records[0].raw == sent


def test_the_clients_own_marks_are_kept_and_never_exceeded(serve):
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url, **named(up, "anthropic"))
        quarter = LONG[: len(LONG) // 4]  # so that all four fit the window
        blocks = [{"type": "text", "text": f"{n}. {quarter}", "cache_control": MARK} for n in range(4)]
        agent = Agent("anthropic", gateway.url, session="one")
        asked(agent, blocks)
        sent = json.dumps(agent.body() | {"messages": agent.history[:1]}).encode()
        assert up.records[0].raw == sent  # four are there: nothing to add, so not a byte differs
        two = Agent("anthropic", gateway.url, session="two")
        asked(two, blocks[:2], system=LONG)
        places = {(s.section, s.index, s.block) for s, _ in marks(up)[-1]}
        assert places == {(1, 0, 0), (2, 0, 0), (2, 0, 1)}  # the system prompt, where it had none


def test_a_life_of_an_hour(serve):
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url, **named(up, "anthropic", prompt_caching={"cache_ttl": "1h"}))
        agent = Agent("anthropic", gateway.url, session="one")
        asked(agent, LONG)
        assert {ttl for _, ttl in marks(up)[0]} == {"1h"}
        assert up.records[0].usage.written_1h > 0


def test_openai_gets_a_key_that_stays_and_the_clients_own_is_kept(serve):
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url, **named(up, "openai"))
        agent = Agent("openai-chat", gateway.url, session="one", key="sk-private")
        for _ in range(3):
            asked(agent, LONG[:2_000])
        keys = [a.body["prompt_cache_key"] for a in up.asks]
        assert len(set(keys)) == 1
        assert "one" not in keys[0]
        other = Agent("openai-chat", gateway.url, session="two")
        asked(other, "hello", prompt_cache_key="mine")
        assert up.asks[-1].body["prompt_cache_key"] == "mine"


def test_what_was_read_and_written_is_kept_with_the_session(serve, tmp_path):
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, open_store(f"{tmp_path}/gw.db"), **named(up, "anthropic"))
        agent = Agent("anthropic", gateway.url, session="one", results=shell)
        agent.run(PROMPT.format(25))
        eventually(lambda: status_of(gateway)["sums"]["requests"] == 26)
        store = open_store(f"{tmp_path}/gw.db").for_tenant(tenant(agent.headers()))
        (session,) = store.sessions()
        eventually(lambda: store.usage(session.id)["claude-opus-4-8"]["requests"] == 26)
        kept = store.usage(session.id)["claude-opus-4-8"]
        told = [r.usage for r in up.records if r.usage]
        assert kept["requests"] == 26
        assert kept["read"] == sum(u.read for u in told)
        assert kept["written"] == sum(u.written_5m for u in told)
        assert kept["uncached"] == sum(u.uncached for u in told)
        assert abs(kept["forecast_read"] - kept["read"]) <= 0.02 * kept["read"]
        assert status_of(gateway)["sessions"][session.id]["read"] == kept["read"]


def test_a_changed_prefix_is_told_with_its_cause(serve, caplog):
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url, **named(up, "anthropic"))
        agent = Agent("anthropic", gateway.url, session="one")
        with caplog.at_level(logging.INFO, "clew.gateway"):
            asked(agent, LONG, system="You are a careful worker. " * 9)
            asked(agent, "and then?", system="You are a careful worker. " * 9 + "Be quick.")
            eventually(lambda: any(r.levelno == logging.WARNING for r in caplog.records))
        (told,) = status_of(gateway)["warnings"]
        assert "system[0] was changed by the client" in told
        assert [r.message for r in caplog.records if r.levelno == logging.WARNING] == [
            f"prompt cache of session {told}"
        ]
        said = [r.message for r in caplog.records if r.levelno == logging.INFO]
        assert any(m.startswith("Prompt caching: on (claude-opus-4-8 through Anthropic's API") for m in said)


def test_a_local_server_that_reports_no_cache_is_not_complained_of(serve):
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url)
        agent = Agent("openai-chat", gateway.url, session="one", results=shell)
        agent.run(PROMPT.format(5))
        assert status_of(gateway)["warnings"] == []


@pytest.mark.parametrize(
    ("settings", "word"),
    [({}, "on: Claude"), ({"serve": {"mode": "observe"}}, "go out as they came"),
     ({"prompt_caching": {"enabled": False}}, "prompt_caching.enabled")],
)  # fmt: skip
def test_the_start_says_whether_it_is_on_and_why(settings, word):
    assert word in overview(from_mapping(settings).settings)
