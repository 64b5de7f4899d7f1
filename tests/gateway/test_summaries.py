"""Handoffs a model writes: prepared in the background, waited for only where nothing else fits, and never with the
client's key. And the safety net below them.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from clew.gateway.live import Live
from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing.model import Faithful, chat_stream
from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.agent import Agent, eventually, shell
from tests.gateway.conftest import settings
from tests.gateway.raw import Came, RawUpstream

WINDOW = 24_000
MODELS = {"gpt-5": {"window": WINDOW}}
LINE = "A model wrote this line."


class Writer:
    """A summariser's provider that answers once it is let."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.raw = RawUpstream(self._play)

    @property
    def came(self) -> list[Came]:
        return self.raw.came

    async def start(self) -> str:
        return await self.raw.start()

    async def stop(self) -> None:
        self.free.set()
        await self.raw.stop()

    async def _play(self, came: Came, writer: asyncio.StreamWriter) -> None:
        await asyncio.to_thread(self.free.wait, 30)
        prompt = "\n".join(m["content"] for m in json.loads(came.body)["messages"])
        said = chat_stream(Faithful(LINE)(prompt, 4000).text)
        head = "".join(f"{k}: {v}\r\n" for k, v in said.headers.items())
        writer.write(f"HTTP/1.1 200 OK\r\n{head}connection: close\r\n\r\n".encode() + b"".join(said.pieces))


@contextmanager
def staged(share: float = 0.85, **serve: Any) -> Iterator[tuple[Upstream, Serving, Writer, Agent]]:
    writer = Writer()
    with running(writer), running(Upstream(Errand(), window=WINDOW)) as up:
        aux = {"compression": {"base_url": f"{writer.raw.url}/v1", "model": "writer", "api_key": "sk-the-writers-own"}}
        changes = {
            "models": MODELS,
            "auxiliary": aux,
            "compression": {"hygiene_threshold": share},
            "serve": {"port": 0, "upstreams": {"up": up.url}, **serve},
        }
        with running(Serving(settings(up.url, **changes), open_store("memory:"))) as gateway:
            yield (
                up,
                gateway,
                writer,
                Agent("openai-chat", gateway.url, key="sk-the-clients", session="one", results=shell),
            )


def step(agent: Agent) -> str:
    """One request and its calls; what the model said."""
    status, _, raw = agent.ask()
    assert status == 200, raw
    calls, said = agent.read(json.loads(raw))
    for call_id, command in calls:
        agent.answer(call_id, shell(command))
    return said


def test_requests_go_on_while_a_model_writes():
    """The writer answers nothing until the conversation has gone on for a while; then its handoff is used."""
    with staged() as (up, gateway, writer, agent):
        agent.history.append(
            {"role": "user", "content": "errand:alpha steps=60 In the end tell me that alpha value=al4711."}
        )
        while not writer.came:
            step(agent)
            if agent.sent > 3:
                eventually(lambda: bool(writer.came) or agent.sent < 8)
        before = agent.sent
        for _ in range(2):
            step(agent)  # it doesn't wait
        assert agent.sent == before + 2
        assert len(writer.came) == 1
        writer.free.set()
        said = ""
        while not said.startswith("done"):
            said = step(agent)
        assert said == "done: al4711"
        assert any(LINE in m.text for a in up.asks for m in a.request.messages)
        assert up.refused == []
        assert gateway.gateway.counts.all().get("faults", 0) == 0


def test_a_writer_that_never_answers_stops_nothing():
    with staged(summary_wait=0.2) as (up, gateway, writer, agent):
        said = agent.run("errand:alpha steps=50 In the end tell me that alpha value=al4711.")
        assert said == "done: al4711"
        assert up.refused == []
        assert writer.came
        assert gateway.gateway.counts.all()["epochs"] >= 2  # the ledger wrote them


def test_the_clients_key_pays_only_for_what_the_client_asks():
    with staged() as (up, _, writer, agent):
        writer.free.set()
        agent.run("errand:alpha steps=30 In the end tell me that alpha value=al4711.")
        assert len(up.asks) == agent.sent  # not one request more than the client made
        assert writer.came
        for came in writer.came:
            assert came.header("authorization") == ["Bearer sk-the-writers-own"]
            assert b"sk-the-clients" not in came.body


@pytest.mark.parametrize(("share", "expected"), [(0.7, True), (1.0, False)])
def test_hygiene_is_the_net_while_a_model_takes_its_time(share, expected):
    """The engine waits for the writer; the net compacts at its share of the window, long before the wall."""
    with staged(summary_wait=0.0, share=share) as (up, gateway, writer, agent):
        agent.run("errand:alpha steps=16 In the end tell me that alpha value=al4711.")
        assert writer.came
        assert (gateway.gateway.counts.all().get("hygiene", 0) > 0) is expected
        assert up.refused == []


def test_nothing_is_compacted_where_it_is_switched_off(serve):
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url, models=MODELS, compression={"enabled": False})
        agent = Agent("openai-chat", gateway.url, session="one", results=shell)
        assert agent.run("errand:alpha steps=30 In the end tell me that alpha value=al4711.") == "done: al4711"
        counts = gateway.gateway.counts.all()
        assert counts.get("hygiene", 0) == counts.get("epochs", 0) == counts.get("turns shortened", 0) == 0


def test_very_many_messages_are_compacted_whatever_their_size(serve):
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url, compression={"hygiene_hard_message_limit": 30})
        agent = Agent("openai-chat", gateway.url, session="one", results=lambda command: f"did {command} " * 20)
        agent.run("errand:alpha steps=60 In the end tell me that alpha value=al4711.")
        assert max(len(a.request.messages) for a in up.asks) < 80
        assert gateway.gateway.counts.all()["hygiene"] >= 1


def test_those_that_wait_for_a_summary_do_not_hold_up_others(serve, monkeypatch):
    """A dozen conversations that can't go on without one, and one that has nothing to do with it."""
    written = threading.Event()

    def wait(live, _seconds):
        if any("long" in m.text for m in live.log_messages()):
            written.wait(20)

    monkeypatch.setattr(Live, "wait_for_summary", wait)
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url)
        agents = [Agent("openai-chat", gateway.url, session=f"s{n}") for n in range(12)]
        for agent in agents:
            agent.history.append({"role": "user", "content": "a long story"})
        with ThreadPoolExecutor(len(agents)) as pool:
            waiting = [pool.submit(agent.ask) for agent in agents]
            try:
                eventually(lambda: gateway.gateway._running == len(agents))
                other = Agent("openai-chat", gateway.url, session="other")
                other.history.append({"role": "user", "content": "hi"})
                assert other.ask()[0] == 200
                assert not any(w.done() for w in waiting)
            finally:
                written.set()
            assert [w.result()[0] for w in waiting] == [200] * len(agents)
