"""What upstreams do wrong reaches the client as it came, nothing of it is stored, and the next request goes on."""

from __future__ import annotations

import http.client
import json
import socket
from collections import Counter

import pytest

from clew.gateway import upstream
from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing.upstream import (
    Call,
    Cut,
    HangUp,
    Lie,
    MidError,
    Nonsense,
    Refuse,
    Reply,
    Say,
    Slow,
    Think,
    Upstream,
    running,
)
from tests.gateway.agent import PATHS, Agent, eventually
from tests.gateway.conftest import settings

REPLY = Reply((Say("It is " + "done " * 30),))
STREAMS = (False, True)


class Place:
    """One upstream and one gateway for all of these tests; each conversation is its own."""

    def __init__(self, up: Upstream, gateway: Serving) -> None:
        self.up = up
        self.gateway = gateway.gateway
        self.url = gateway.url
        self.turns: list[object] = []
        self.sessions = 0

    def ask(self, wire: str, *turns, stream: bool = False, **also):
        """A request that meets the turns, and one more after it: (first answer, last answer, what was counted)."""
        self.turns[:] = turns
        self.up.records.clear()
        self.sessions += 1
        agent = Agent(wire, self.url, session=f"session {self.sessions}")
        agent.history.append({"role": "user", "content": "what is it?"})
        more = {"stream": True} if stream else {}
        if stream and wire == "openai-chat":
            more |= also
        before = Counter(self.gateway.counts.all())
        try:
            first = agent.ask(**more)
        except (http.client.HTTPException, ConnectionError) as e:
            first = e
        last = agent.ask(**more)
        eventually(lambda: self.gateway._running == 0)
        *_, family = self.gateway._turns._families.values()
        (conversation,) = family._open.values()
        assert conversation.live.length == (2 if wire == "openai-chat" else 1)  # what the client sent, once
        counted = Counter(self.gateway.counts.all()) - before
        assert counted["faults"] == 0
        return first, last, counted


@pytest.fixture(scope="module")
def place():
    turns: list[object] = []
    up = Upstream(lambda _: turns.pop(0) if turns else REPLY)
    with running(up), running(Serving(settings(up.url), open_store("memory:"))) as gateway:
        made = Place(up, gateway)
        made.turns = turns
        yield made


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    "refusal", [Refuse(429, retry_after=7), Refuse(500), Refuse(529), Refuse(401, "no such key"), Refuse(503, "loading")],
    ids=lambda r: str(r.status),
)  # fmt: skip
def test_errors_are_passed_on(place, wire, stream, refusal):
    first, last, counts = place.ask(wire, refusal, stream=stream)
    status, headers, raw = first
    assert status == refusal.status
    assert headers.get("retry-after") == ("7" if refusal.retry_after else None)
    said = json.loads(raw)["error"]["message"]
    assert said == place.up.records[0].why
    assert last[0] == 200
    assert counts.get("overflows", 0) == 0


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("stream", STREAMS)
def test_a_connection_reset_before_a_byte(place, wire, stream):
    """On a kept connection it is sent again over a new one, since the upstream may just have closed it; a reset there
    is told.
    """
    place.ask(wire)  # leaves a connection that is kept
    first, last, _ = place.ask(wire, HangUp(), stream=stream)
    assert (first[0], last[0]) == (200, 200)
    first, last, _ = place.ask(wire, HangUp(), HangUp(), stream=stream)
    assert first[0] == 502
    assert json.loads(first[2])["error"]["type"] == "api_error"
    assert last[0] == 200


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("extra", [0, 25])
def test_a_stream_reset_in_the_middle(place, wire, extra):
    """The client sees the cut, and everything that came before it."""
    first, last, counts = place.ask(wire, Cut(REPLY, events=2, extra=extra), stream=True)
    assert isinstance(first, http.client.IncompleteRead)
    assert first.partial.count(b"\n\n") == 2
    assert counts["upstream broke off"] == 1
    assert last[0] == 200


@pytest.mark.parametrize("wire", PATHS)
def test_a_stream_that_just_stops(place, wire):
    first, last, _ = place.ask(wire, Cut(REPLY, events=2, reset=False), stream=True)
    assert first[0] == 200
    assert first[2].count(b"\n\n") == 2
    assert last[0] == 200


@pytest.mark.parametrize("wire", PATHS)
def test_an_answer_cut_in_two(place, wire):
    first, last, _ = place.ask(wire, Cut(REPLY))
    assert isinstance(first, http.client.IncompleteRead)
    assert last[0] == 200


@pytest.mark.parametrize("wire", PATHS)
def test_an_error_inside_a_stream(place, wire):
    first, last, _ = place.ask(wire, MidError(REPLY, events=2), stream=True)
    assert first[0] == 200
    assert b"Overloaded" in first[2]
    assert last[0] == 200


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    "nonsense", [Nonsense(), Nonsense(b"<html>Bad gateway</html>", "text/html"), Nonsense(b"{", "application/json"),
                 Nonsense(b"data: {\n\ndata: [1]\n\n\x00", "text/event-stream"), Nonsense(b"[1,2]", "application/json")],
)  # fmt: skip
def test_a_200_that_is_no_answer(place, wire, stream, nonsense):
    first, last, _ = place.ask(wire, nonsense, stream=stream)
    assert first[0] == 200
    assert first[2] == nonsense.body
    assert first[1]["content-type"].startswith(nonsense.content_type)
    assert last[0] == 200


PROMPT = {"openai-chat": "prompt_tokens", "openai-responses": "input_tokens", "anthropic": "input_tokens"}


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("told", [None, 0, -7, "many", 1.5e300, 10**12, 10**30, [], {"a": 1}], ids=str)
def test_a_lie_about_usage(place, wire, stream, told):
    """It reaches the client as it was told; what can't be true is not kept, and nothing is shortened for it."""
    lie = Reply(REPLY.parts, lie=Lie({PROMPT[wire]: told}))
    first, last, counts = place.ask(wire, lie, stream=stream, stream_options={"include_usage": True})
    assert first[0] == last[0] == 200
    if stream and told is not None:
        assert json.dumps({PROMPT[wire]: told}, separators=(",", ":"))[1:-1].encode() in first[2].replace(b" ", b"")
    assert counts.get("epochs", 0) == counts.get("turns shortened", 0) == 0
    *_, family = place.gateway._turns._families.values()
    (conversation,) = family._open.values()
    assert conversation.live.used < 1000


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("stream", STREAMS)
def test_a_usage_far_below_what_was_sent_is_not_believed(place, wire, stream):
    lie = Reply(REPLY.parts, lie=Lie({PROMPT[wire]: 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
                                      "cache_creation": {}}))  # fmt: skip
    more = {"stream_options": {"include_usage": True}} if stream and wire == "openai-chat" else {}
    _, _, counts = place.ask(wire, lie, stream=stream, **more)
    assert counts["usage not believed"] == 1


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("stream", STREAMS)
def test_an_upstream_that_is_not_there(wire, stream):
    """A 502 of the gateway's that says so; the conversation goes on when it is there again."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with running(Serving(settings(f"http://127.0.0.1:{port}"), open_store("memory:"))) as gateway:
        agent = Agent(wire, gateway.url, session="one")
        agent.history.append({"role": "user", "content": "what is it?"})
        status, _, raw = agent.ask(stream=stream)
        assert status == 502
        told = json.loads(raw)["error"]
        assert told["code"] == "clew"
        assert "could not be reached" in told["message"]

        class Here(Upstream):
            async def start(self, _: int = 0) -> str:
                return await super().start(port)

        with running(Here(lambda _: REPLY)) as up:
            assert agent.ask(stream=stream)[0] == 200
            assert len(up.records) == 1
        *_, family = gateway.gateway._turns._families.values()
        (conversation,) = family._open.values()
        assert conversation.live.length == (2 if wire == "openai-chat" else 1)


@pytest.mark.parametrize("wire", PATHS)
def test_a_slow_answer(place, wire):
    first, _, _ = place.ask(wire, Slow(REPLY, before=0.2))
    assert first[0] == 200
    assert b"done done" in first[2]


@pytest.mark.parametrize("wire", PATHS)
def test_a_slow_stream(place, wire):
    first, _, _ = place.ask(wire, Slow(REPLY, before=0.2, between=0.02), stream=True)
    assert first[0] == 200
    assert first[2].count(b"\n\n") > 2


def test_thinking_and_calls_come_through_a_stream_unchanged(place):
    turn = Reply((Think("hm"), Say("I look."), Call("bash", {"command": "ls"}, "call_1")))
    first, _, _ = place.ask("anthropic", turn, stream=True)
    assert b'"signature_delta"' in first[2]
    assert b'"call_1"' in first[2]
    assert place.up.refused == []


def test_an_upstream_that_never_answers(monkeypatch):
    """A 502 before the first byte, a cut connection after it."""
    monkeypatch.setattr(upstream, "SILENCE", 0.4)
    slow = [Slow(REPLY, before=3), Slow(REPLY, between=3)]
    up = Upstream(lambda ask: slow[bool(ask.body.get("stream"))])
    with running(up), running(Serving(settings(up.url), open_store("memory:"))) as gateway:
        for wire in PATHS:
            agent = Agent(wire, gateway.url, session=wire)
            agent.history.append({"role": "user", "content": "what is it?"})
            assert agent.ask()[0] == 502
            with pytest.raises((http.client.HTTPException, ConnectionError)):
                agent.ask(stream=True)
        assert gateway.gateway.counts.all().get("faults", 0) == 0
