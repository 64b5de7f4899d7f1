"""Several workers on one store, restarts, and tenants: the same bytes for the same prefix, and nobody sees another's."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from clew.gateway.asgi import Call
from clew.gateway.auth import tenant
from clew.gateway.counts import Counts
from clew.gateway.family import Family, Tangled
from clew.gateway.overflow import Learned
from clew.gateway.routes import Route, Routes
from clew.gateway.serving import Serving
from clew.gateway.turns import Turns
from clew.store import open_store
from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.agent import PATHS, Agent, shell
from tests.gateway.conftest import settings

WINDOW = 24_000
PROMPT = "errand:alpha steps={} In the end tell me that alpha value=al4711."
TOOL = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}
MODELS = {name: {"window": WINDOW} for name in ("gpt-5", "claude-opus-4-8")}


def bodies(up: Upstream) -> list[bytes]:
    return [r.raw for r in up.records]


def alone(wire: str, folder: Path, steps: int) -> list[bytes]:
    """What one worker sends."""
    with running(Upstream(Errand(), window=WINDOW)) as up:
        with running(Serving(settings(up.url, models=MODELS), open_store(str(folder / "alone.db")))) as gateway:
            Agent(wire, gateway.url, session="one", results=shell).run(PROMPT.format(steps))
        return bodies(up)


@pytest.mark.parametrize("wire", PATHS)
def test_a_client_that_hops_between_workers_gets_the_same_bytes(serve, tmp_path, wire):
    with running(Upstream(Errand(), window=WINDOW)) as up:
        workers = [serve(up.url, open_store(str(tmp_path / "gw.db")), models=MODELS) for _ in range(2)]
        agent = Agent(wire, "", session="one", results=shell)
        dice = random.Random(7)
        ask = agent.ask

        def hopping(**more):
            agent.url = dice.choice(workers).url
            return ask(**more)

        agent.ask = hopping
        assert agent.run(PROMPT.format(50)) == "done: al4711"
        assert up.refused == []
        assert [w.gateway.counts.all().get("faults", 0) for w in workers] == [0, 0]
        assert min(w.gateway.counts.all()["turns"] for w in workers) > 10
        assert bodies(up) == alone(wire, tmp_path, 50)


@pytest.mark.parametrize("wire", PATHS)
def test_a_restart_changes_no_byte(tmp_path, wire):
    """The gateway is started anew before every ninth request."""
    with running(Upstream(Errand(), window=WINDOW)) as up:
        agent = Agent(wire, "", session="one", results=shell)
        agent.history.append({"role": "user", "content": PROMPT.format(50)})
        said = ""
        while not said.startswith("done"):
            with running(Serving(settings(up.url, models=MODELS), open_store(str(tmp_path / "gw.db")))) as gateway:
                agent.url = gateway.url
                for _ in range(9):
                    status, _, raw = agent.ask()
                    assert status == 200, raw
                    calls, said = agent.read(json.loads(raw))
                    for call_id, command in calls:
                        agent.answer(call_id, shell(command))
                    if not calls:
                        break
        assert said == "done: al4711"
        assert bodies(up) == alone(wire, tmp_path, 50)


def asked(*texts: str) -> tuple[Call, Route, bytes]:
    """A request of one client's with these as the user's words, an answer after each."""
    messages = [{"role": r, "content": c} for t in texts for r, c in (("user", t), ("assistant", f"so: {t}"))][:-1]
    raw = json.dumps({"model": "gpt-5", "messages": messages, "tools": [TOOL]}).encode()
    call = Call("POST", "/v1/chat/completions", (("authorization", "Bearer k"), ("x-clew-session", "one")), raw)
    return call, Routes({"up": "http://127.0.0.1:1"}).route(call), raw


def turns(folder: Path) -> Turns:
    made = settings("http://127.0.0.1:1", models=MODELS)
    return Turns(open_store(str(folder / "gw.db")), made, Counts(), Learned())


def test_a_worker_that_was_overtaken_looks_again(tmp_path, monkeypatch):
    """Two requests that part, at the same moment at two workers: both get a view, and no store is taken to be down."""
    ours, theirs = turns(tmp_path), turns(tmp_path)
    assert ours.begin(*asked("first")) is not None
    find = Family.find

    def overtaken(self, *args):
        found = find(self, *args)
        monkeypatch.setattr(Family, "find", find)
        assert theirs.begin(*asked("first", "what the other one asks")) is not None
        return found

    monkeypatch.setattr(Family, "find", overtaken)
    mine = ours.begin(*asked("first", "what I ask"))
    assert mine is not None
    assert [m.text for m in mine.shown.messages] == ["first", "so: first", "what I ask"]
    assert not ours.store_is_down
    kept = open_store(str(tmp_path / "gw.db")).for_tenant(tenant({"authorization": "Bearer k"}))
    texts = {s.id: [m.message.text for m in kept.messages(s.id)] for s in kept.sessions()}
    assert sorted(texts.values()) == [
        ["first", "so: first", "what I ask"],
        ["first", "so: first", "what the other one asks"],
    ]


def test_too_many_branches_upon_branches_pass_and_stop_nobody_else(tmp_path, monkeypatch):
    monkeypatch.setattr("clew.gateway.family._BRANCHES", 3)
    worker = turns(tmp_path)
    for n in range(3):  # each parts from the one before behind where that parted
        assert worker.begin(*asked(*(f"{k}" for k in range(n)), f"{n} another way", "on")) is not None
    with pytest.raises(Tangled):
        worker.begin(*asked("0", "1", "2", "3 another way", "on"))
    assert not worker.store_is_down


def test_conversations_of_one_key_share_one_handle_to_their_store(tmp_path):
    """Writers of one handle queue; those of several would find the file busy, and each would have its own cache."""
    worker = turns(tmp_path)
    for n in range(5):
        call, route, raw = asked("hello")
        named = Call(call.method, call.target, (call.headers[0], ("x-clew-session", f"s{n}")), raw)
        assert worker.begin(named, route, raw) is not None
    assert len({id(f._store) for f in worker._families.values()}) == 1


def test_another_key_sees_nothing(serve, tmp_path):
    """The same session id and the same words under another key: neither history nor handoff crosses over."""
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, open_store(str(tmp_path / "gw.db")), models=MODELS)
        mine = Agent("openai-chat", gateway.url, key="sk-mine", session="shared", results=shell)
        mine.run(PROMPT.format(40).replace("al4711", "mysecretvalue"))
        handoff = next(m.text for m in up.asks[-1].request.messages if "compacted by Clew" in m.text)
        # The thief has the end of the conversation, which the view shows, and knows the session's name.
        thief = Agent("openai-chat", gateway.url, key="sk-thief", session="shared", results=shell)
        thief.history = [{"role": "user", "content": "errand:alpha steps=41"}, *mine.history[-8:-1]]
        assert thief.history[1]["role"] in ("assistant", "tool")
        if thief.history[1]["role"] == "tool":
            thief.history.pop(1)
        status, _, raw = thief.ask()
        assert status == 200, raw
        sent = up.records[-1].raw.decode()
        assert "mysecretvalue" not in sent
        assert handoff[:400] not in sent
        assert json.loads(sent)["messages"] == thief.body()["messages"]
        store = open_store(str(tmp_path / "gw.db"))
        theirs = store.for_tenant(tenant({"authorization": "Bearer sk-thief"}))
        assert len(theirs.sessions()) == 1
        assert all("mysecretvalue" not in s.message.text for s in theirs.messages(theirs.sessions()[0].id))


def test_keys_are_nowhere_in_the_store(serve, tmp_path):
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, open_store(str(tmp_path / "gw.db")), models=MODELS)
        for wire in PATHS:
            Agent(wire, gateway.url, key="sk-veryprivate1234567890", session=wire, results=shell).run(PROMPT.format(12))
    written = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert len(written) > 10_000
    assert b"veryprivate" not in written


def test_parallel_subagents_are_conversations_of_their_own(serve):
    """Two agents of one session at once, each told apart by the header its client sends."""
    from concurrent.futures import ThreadPoolExecutor

    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, models=MODELS)

        class Sub(Agent):
            def headers(self) -> dict[str, str]:
                return super().headers() | {"x-claude-code-session-id": "s", "x-claude-code-agent-id": self.name}

        agents = []
        for name in ("alpha", "beta", "gamma"):
            agent = Sub("anthropic", gateway.url, results=shell)
            agent.name = name
            agents.append((name, agent))

        def work(named):
            name, agent = named
            return agent.run(f"errand:{name} steps=30 In the end tell me that {name} value={name}99.")

        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(work, agents)) == ["done: alpha99", "done: beta99", "done: gamma99"]
        assert up.refused == []
        assert gateway.gateway.counts.all().get("faults", 0) == 0
        for a in up.asks:  # nothing of one in the other
            names = {n for n in ("alpha99", "beta99", "gamma99") if any(n in m.text for m in a.request.messages)}
            assert len(names) == 1
