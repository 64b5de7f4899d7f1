"""Recall as a tool that the gateway answers: one coherent answer for the client, the whole transcript for the upstream."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import ExitStack
from itertools import count
from types import MappingProxyType
from urllib.parse import urlsplit

import pytest

from clew import jsonio
from clew.errors import StoreError
from clew.gateway.recall_tool.answers import answers
from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing.upstream import (
    Call,
    Cut,
    Errand,
    HangUp,
    MidError,
    Nonsense,
    Refuse,
    Reply,
    Say,
    Slow,
    Think,
    Upstream,
    running,
    script,
)
from clew.transcript import Message, ToolCall, reference, without_cache_marks
from clew.wire import get, usage
from clew.wire.problems import problems
from clew.wire.sse import EventParser, Stream
from tests.gateway.agent import MODELS, PATHS, Agent, eventually, post, shell
from tests.gateway.conftest import settings

STREAMS = (False, True)
TOOL = {"recall": "tool"}
SEARCH = Call("clew_search", {"query": "the port"}, "clew_s1")
RECALL = Call("clew_recall", {"ref": "clew:aaaaaaaaaaaa"}, "clew_r1")
BASH = Call("bash", {"command": "ls"}, "call_b1")
END = Reply((Say("The port is 4711."),))


class Client(Agent):
    """An agent that streams or not, and sends what lets the gateway offer its tools."""

    streams = False
    more = MappingProxyType({})

    def body(self):
        body = super().body() | {"stream": self.streams, **self.more}
        if self.wire == "openai-responses":
            body["include"] = ["reasoning.encrypted_content"]
        return body

    def ask(self, **more):
        status, headers, raw = super().ask(**more)
        self.last = raw
        if status == 200 and headers.get("content-type", "").startswith("text/event-stream"):
            stream = Stream(self.wire)
            stream.feed(raw)
            stream.close()
            assert stream.finished, raw[-600:]
            return status, headers, json.dumps(stream.assembled().body).encode()
        return status, headers, raw


SESSIONS = count()


def client(gateway: Serving, wire: str, *, streams: bool = False, session: str = "", **more) -> Client:
    made = Client(wire, gateway.url, session=session or f"session {next(SESSIONS)}", results=shell)
    made.streams, made.more = streams, more
    return made


def serving(up: Upstream, store=None, **more) -> Serving:
    made = settings(up.url, serve={"port": 0, "upstreams": {"up": up.url}, **TOOL}, **more)
    return Serving(made, store if store is not None else open_store("memory:"))


def sent(up: Upstream) -> list[list[bytes]]:
    """The messages of each request, as bytes but for the cache marks, which move."""
    return [[_plain(m) for m in a.request.messages] for a in up.asks]


def _plain(message: Message) -> bytes:
    return jsonio.dumps(without_cache_marks(message.value)) if message.has_cache_marks else message.raw


def tool_names(up: Upstream, n: int = -1) -> list[str]:
    return [t.get("name") or t["function"]["name"] for t in up.asks[n].tools]


def said(agent: Client) -> tuple[list[tuple[str, str]], str]:
    status, _, raw = agent.ask()
    assert status == 200, raw
    return agent.read(json.loads(raw))


@pytest.fixture(scope="module")
def place():
    """One upstream for all of these tests, which plays what stands in a list, and one gateway before it."""
    turns: list[object] = []
    with (
        running(Upstream(lambda _: turns.pop(0) if len(turns) > 1 else turns[0])) as up,
        running(serving(up)) as gateway,
    ):
        yield up, gateway, turns


@pytest.fixture
def playing(place):
    """`playing(*replies)`: the upstream and the gateway, where nothing has happened yet; at last `otherwise`, always."""
    up, gateway, turns = place

    def start(*replies, otherwise=END):
        turns[:] = [*replies, otherwise]
        up.asks.clear()
        up.records.clear()
        gateway.gateway.counts._counts.clear()
        return up, gateway

    return start


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("wire", PATHS)
def test_a_call_in_the_middle_of_a_turn(playing, wire, streams):
    """The client gets one answer without the calls; the upstream gets them back with their results, then and later."""
    up, gateway = playing(
        Reply((Think("Where was it?"), Say("I look it up."), SEARCH)),
        Reply((Think("By its reference."), RECALL)),
        Reply((Think("Now I know."), Say("The port is 4711."))),
        Reply((Say("You are welcome."),)),
    )
    agent = client(gateway, wire, streams=streams)
    agent.history.append({"role": "user", "content": "Which port was it? The port of the server, 4711 I think."})
    calls, words = said(agent)
    assert calls == []
    assert [w for w in words.split("\n\n") if w] in (
        ["I look it up.", "The port is 4711."],
        ["I look it up.The port is 4711."],
    )
    assert b"clew_" not in agent.last
    assert tool_names(up) == ["bash", "clew_recall", "clew_search"]
    first, second, third = sent(up)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    found = up.asks[2].request.messages
    results = {r.call_id: r.text for m in found for r in m.results}
    assert "4711" in results["clew_s1"]
    assert "no original is known" in results["clew_r1"]
    agent.history.append({"role": "user", "content": "thanks"})
    said(agent)
    assert up.refused == []
    assert sent(up)[3][: len(third)] == third  # byte for byte
    assert problems(up.asks[3].request.messages, wire, model=up.asks[3].model) == []
    assert gateway.gateway.counts.all()["recall tool calls"] == 2


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("order", [(BASH, SEARCH), (SEARCH, BASH), (SEARCH, BASH, RECALL)], ids=len)
def test_calls_beside_the_clients_own(playing, wire, streams, order):
    """The client is handed its call alone; with its result the gateway's stand before the upstream again."""
    up, gateway = playing(Reply((Think("Both."), Say("I look."), *order)), END, END)
    agent = client(gateway, wire, streams=streams)
    agent.history.append({"role": "user", "content": "the port, please"})
    calls, _ = said(agent)
    assert calls == [("call_b1", "ls")]
    assert b"clew_" not in agent.last
    assert len(up.asks) == 1
    agent.answer("call_b1", "a file")
    assert said(agent)[1] == "The port is 4711."
    messages = up.asks[1].request.messages
    assert [c.id for m in messages for c in m.calls] == [c.id for c in order]
    assert {r.call_id for m in messages for r in m.results} == {c.id for c in order}
    assert problems(messages, wire, model=up.asks[1].model) == []
    agent.history.append({"role": "user", "content": "and?"})
    said(agent)
    assert sent(up)[2][: len(messages)] == [m.raw for m in messages]
    assert up.refused == []


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("wire", PATHS)
def test_a_long_loop_recalls_what_left_the_view(wire, streams):
    """Over several compactions; the value stands nowhere in the view when it is asked for."""
    models = {MODELS[wire]: {"window": 24_000}}
    with running(Upstream(Errand(recalls=True, think=wire == "anthropic"), window=24_000)) as up:
        with running(serving(up, models=models)) as gateway:
            agent = client(gateway, wire, streams=streams)
            assert agent.run("errand:alpha steps=26").endswith("done: al4711")
            counts = gateway.gateway.counts.all()
        assert up.refused == []
        assert counts["epochs"] >= 2
        assert counts["recall tool calls"] == 2
        assert counts.get("faults", 0) == 0
        assert "clew_" not in json.dumps(agent.history)


def one_turn(n: int, gateway: Serving, agent: Client) -> None:
    agent.url = gateway.url
    calls, _ = said(agent)
    for call_id, _ in calls:
        agent.answer(call_id, "done")
    if not calls:
        agent.history.append({"role": "user", "content": f"go on {n}"})


HOPPING = (
    Reply((Say("I look."), SEARCH)),
    Reply((Think("hm"), Say("Found."))),
    Reply((Say("Both now."), BASH, RECALL)),
    Reply((Say("Good."),)),
    Reply((Say("Good."),)),
    Reply((SEARCH,)),
    Reply((Say("Good."),)),
)


@pytest.mark.parametrize("wire", PATHS)
def test_another_worker_or_a_restart_sends_the_same_bytes(tmp_path, wire):
    def play(url: str, workers: int, *, anew: bool = False) -> list[bytes]:
        agent = Client(wire, "", session="one")
        agent.history.append({"role": "user", "content": "begin"})
        with running(Upstream(script(*HOPPING, otherwise=END))) as up, ExitStack() as stack:
            made = [stack.enter_context(running(serving(up, open_store(url)))) for _ in range(workers)]
            for n in range(6):
                if anew:
                    with running(serving(up, open_store(url))) as gateway:
                        one_turn(n, gateway, agent)
                else:
                    one_turn(n, made[n % workers], agent)
            assert up.refused == []
            return [r.raw for r in up.records]

    alone = play(str(tmp_path / "alone.db"), 1)
    assert alone == play(str(tmp_path / "two.db"), 2)
    assert alone == play(str(tmp_path / "anew.db"), 0, anew=True)


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("wire", PATHS)
def test_an_answer_without_its_calls_passes_byte_for_byte(playing, wire, streams):
    up, gateway = playing(Reply((Think("hm"), Say("I look. " * 20), BASH)))
    agent = client(gateway, wire, streams=streams)
    agent.history.append({"role": "user", "content": "go"})
    agent.ask()
    through = agent.last
    with running(Upstream(script(Reply((Think("hm"), Say("I look. " * 20), BASH))))) as again:
        agent.url = again.url
        agent.session = ""
        agent.ask()
        direct = agent.last
    assert tool_names(up) == ["bash", "clew_recall", "clew_search"]
    if not streams:  # its usage counts the two tools
        through, direct = (json.dumps(json.loads(b) | {"usage": 0}).encode() for b in (through, direct))
        assert through == direct
    else:
        assert [e for e in through.split(b"\n\n") if b"usage" not in e] == [
            e for e in direct.split(b"\n\n") if b"usage" not in e
        ]


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("wire", PATHS)
def test_the_budget_ends_a_model_that_does_nothing_but_recall(playing, wire, streams):
    up, gateway = playing(otherwise=Reply((Say("Once more."), Call("clew_search", {"query": "x"}))))
    agent = client(gateway, wire, streams=streams)
    agent.history.append({"role": "user", "content": "go"})
    calls, words = said(agent)
    assert calls == []
    assert words.count("Once more.") == 10
    assert len(up.asks) == 10
    assert [r.text for m in up.asks[-1].request.messages for r in m.results][-1].startswith("The budget of recalls")
    agent.history.append({"role": "user", "content": "enough"})
    said(agent)
    assert up.refused == []
    assert sent(up)[10][: len(sent(up)[9])] == sent(up)[9]


@pytest.mark.parametrize("wire", PATHS)
def test_usage_is_the_last_prompt_and_all_of_the_output(playing, wire):
    up, gateway = playing(Reply((Say("I look it up."), SEARCH)))
    agent = client(gateway, wire)
    agent.history.append({"role": "user", "content": "go"})
    _, _, raw = agent.ask()
    read = usage.read(json.loads(raw), wire)
    one, two = (r.usage for r in up.records)
    assert (read.prompt, read.output) == (two.prompt, one.output + two.output)


@pytest.mark.parametrize("wire", PATHS)
def test_the_stream_has_one_beginning_and_one_end(playing, wire):
    _, gateway = playing(Reply((Think("hm"), Say("I look."), SEARCH)), Reply((Say("More."), RECALL)), END)
    agent = client(gateway, wire, streams=True)
    agent.history.append({"role": "user", "content": "go"})
    agent.ask()
    events = [json.loads(e.data) for e in EventParser().feed(agent.last) if e.data != b"[DONE]"]
    if wire == "openai-chat":
        assert len({e["id"] for e in events}) == 1
        assert [e["choices"][0]["finish_reason"] for e in events if e["choices"][0]["finish_reason"]] == ["stop"]
        assert sum("role" in e["choices"][0]["delta"] for e in events) == 1
        assert agent.last.count(b"[DONE]") == 1
        return
    kinds = [e["type"] for e in events]
    if wire == "anthropic":
        assert [kinds.count(k) for k in ("message_start", "message_delta", "message_stop")] == [1, 1, 1]
        starts = [e["index"] for e in events if e["type"] == "content_block_start"]
        assert starts == list(range(len(starts))) == [0, 1, 2, 3]
        assert [e["index"] for e in events if e["type"] == "content_block_stop"] == starts
        return
    assert [kinds.count(k) for k in ("response.created", "response.completed")] == [1, 1]
    assert [e["sequence_number"] for e in events] == list(range(len(events)))
    added = [e["output_index"] for e in events if e["type"] == "response.output_item.added"]
    assert added == list(range(len(added)))
    whole = events[-1]["response"]
    assert whole["id"] == events[0]["response"]["id"]
    assert [i["type"] for i in whole["output"]] == ["reasoning", "message", "message", "message"]


OFF = [
    ("anthropic", {}, {"authorization": "Bearer sk-ant-oat01-x"}, "a subscription login"),
    ("anthropic", {}, {"anthropic-beta": "oauth-2025-04-20"}, "a subscription login"),
    ("openai-responses", {}, {"chatgpt-account-id": "a"}, "a subscription login"),
    ("openai-chat", {"tool_choice": "none"}, {}, "tool_choice"),
    ("openai-chat", {"tool_choice": "required"}, {}, "tool_choice"),
    ("openai-chat", {"tool_choice": {"type": "function", "function": {"name": "bash"}}}, {}, "tool_choice"),
    ("anthropic", {"tool_choice": {"type": "any"}}, {}, "tool_choice"),
    ("openai-chat", {"response_format": {"type": "json_object"}}, {}, "structured output"),
    ("openai-responses", {"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}}, {}, "structured output"),
    ("anthropic", {"output_config": {"format": {"type": "json_schema", "schema": {}}}}, {}, "structured output"),
    ("openai-responses", {"store": True}, {}, "answers that the provider stores"),
    ("openai-responses", {"tools": [{"type": "web_search"}]}, {}, "only the provider's own tools"),
    ("openai-chat", {"tools": []}, {}, "no tools of the client's own"),
    ("openai-chat", {"n": 2}, {}, "several answers at once"),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "more", "headers", "why"), OFF)
def test_where_it_is_off_and_that_this_is_told(playing, wire, more, headers, why):
    up, gateway = playing(END, END)
    agent = client(gateway, wire, **more)
    own = agent.headers
    agent.headers = lambda: own() | headers
    agent.history.append({"role": "user", "content": "go"})
    body = json.dumps(agent.body()).encode()
    said(agent)
    assert up.records[0].raw == body
    assert gateway.gateway.counts.all()[f"recall tool off: {why}"] == 1
    # And it stays off; what changes who asks begins another conversation.
    agent.more, agent.headers = more if "tools" in more else {}, agent.headers if headers else own
    agent.history.append({"role": "user", "content": "go on"})
    agent.ask()
    assert "clew_recall" not in up.records[1].raw.decode()
    assert "recall tool on" not in gateway.gateway.counts.all()


def test_a_tool_of_the_same_name_is_the_clients(playing):
    up, gateway = playing(Reply((Call("clew_recall", {"ref": "x"}),)))
    own = {"type": "function", "function": {"name": "clew_recall", "parameters": {"type": "object"}}}
    agent = client(gateway, "openai-chat", tools=[own])
    agent.history.append({"role": "user", "content": "go"})
    agent.ask()
    assert b"clew_recall" in agent.last
    assert tool_names(up) == ["clew_recall"]


def test_a_session_that_began_without_goes_on_without(tmp_path):
    store = str(tmp_path / "s.db")
    with running(Upstream(script(otherwise=END))) as up:
        with running(Serving(settings(up.url), open_store(store))) as plain:
            agent = client(plain, "openai-chat")
            agent.history.append({"role": "user", "content": "go"})
            said(agent)
        with running(serving(up, open_store(store))) as gateway:
            agent.url = gateway.url
            agent.history.append({"role": "user", "content": "go on"})
            said(agent)
            assert tool_names(up) == ["bash"]
            other = client(gateway, "openai-chat", session="two")
            other.history.append({"role": "user", "content": "go"})
            said(other)
            assert tool_names(up) == ["bash", "clew_recall", "clew_search"]
        with running(Serving(settings(up.url), open_store(store))) as plain:  # and one that began with it keeps it
            other.url = plain.url
            other.history.append({"role": "user", "content": "go on"})
            said(other)
            assert tool_names(up) == ["bash", "clew_recall", "clew_search"]


def test_counting_tokens_counts_the_tools(playing):
    up, gateway = playing(END)
    agent = client(gateway, "anthropic")
    agent.history.append({"role": "user", "content": "go"})
    said(agent)
    body = {k: v for k, v in agent.body().items() if k not in ("max_tokens", "stream")}
    body["messages"] = body["messages"][:1]
    status, _, raw = post(gateway.url, "/v1/messages/count_tokens", json.dumps(body).encode(), agent.headers())
    assert status == 200
    assert json.loads(raw)["input_tokens"] == up.records[0].usage.prompt


FAULTS = [
    Refuse(429, retry_after=7), Refuse(500), HangUp(), Nonsense(), Nonsense(b"<html>", "text/html"),
    Nonsense(b"{", "application/json"), Cut(END, events=2), Cut(END, events=2, reset=False), MidError(END, events=2),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: type(f).__name__ + str(getattr(f, "status", "")))
@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("wire", PATHS)
def test_a_fault_behind_a_call(playing, wire, streams, fault):
    """The client sees it; its next try is answered, and what went wrong is nowhere in the transcript."""
    hung = (fault, fault) if isinstance(fault, HangUp) else (fault,)
    up, gateway = playing(Reply((Say("I look."), SEARCH)), *hung)
    agent = client(gateway, wire, streams=streams)
    agent.history.append({"role": "user", "content": "go"})
    ask = super(Client, agent).ask
    try:
        status, headers, raw = ask()
    except (http.client.HTTPException, ConnectionError):
        assert isinstance(fault, Cut)
        status, raw = 0, b""
    if not streams and isinstance(fault, Refuse):
        assert status == fault.status
        assert headers.get("retry-after") == ("7" if fault.retry_after else None)
    elif not streams and isinstance(fault, HangUp):
        assert status == 502
    elif streams and isinstance(fault, (Refuse, HangUp)):
        assert status == 200
        assert b'"error"' in raw
        stream = Stream(wire)
        stream.feed(raw)
        assert not stream.finished
        assert stream.error
    assert b"clew_" not in raw
    eventually(lambda: gateway.gateway._running == 0)
    assert said(agent)[1].endswith("The port is 4711.")
    agent.history.append({"role": "user", "content": "go on"})
    said(agent)
    assert problems(up.asks[-1].request.messages, wire, model=up.asks[-1].model) == []
    assert [r for r in up.refused if r.status == 400] == []
    assert gateway.gateway.counts.all().get("faults", 0) == 0


@pytest.mark.parametrize("wire", PATHS)
def test_anothers_originals_are_not_recalled(tmp_path, wire):
    """Neither by reference nor by search, whoever knows the reference and the session's name."""
    secret = "the launch code is 99-veryprivate-99 " * 20
    with (
        running(Upstream(script(otherwise=END))) as up,
        running(serving(up, open_store(str(tmp_path / "s.db")))) as gateway,
    ):
        mine = client(gateway, wire)
        mine.key = "sk-mine"
        mine.history.append({"role": "user", "content": secret})
        said(mine)
    message = get(wire).message(mine.history[0])
    ref = reference(message.address)
    look = Reply((Call("clew_recall", {"ref": ref}, "r"), Call("clew_search", {"query": "launch code"}, "s")))
    for key, knows in (("sk-mine", True), ("sk-thief", False)):
        with running(Upstream(script(look, otherwise=END))) as up:
            with running(serving(up, open_store(str(tmp_path / "s.db")))) as gateway:
                agent = client(gateway, wire, session=mine.session)
                agent.key = key
                agent.history = [*mine.history] if knows else []
                agent.history.append({"role": "user", "content": "what was the code?"})
                said(agent)
            results = {r.call_id: r.text for m in up.asks[-1].request.messages for r in m.results}
            assert ("veryprivate" in results["r"]) == knows
            assert ("launch code" in results["s"]) == knows


def test_what_is_recalled_has_room(playing):
    """A result larger than the conversation has room for is cut, and says how to get the rest."""
    long = "\n".join(f"line {n} of the log" for n in range(30_000))
    up, gateway = playing()
    agent = client(gateway, "openai-chat")
    agent.history.append({"role": "user", "content": "short"})
    said(agent)
    *_, family = gateway.gateway._turns._families.values()
    (conversation,) = family._open.values()
    live = conversation.live
    live.handle_call = lambda *_: long
    (message,) = answers(live, [ToolCall("c", "clew_recall", "{}")], "openai-chat", most=1000)
    assert len(message.text) < 1200
    assert 'ask with lines="' in message.text
    assert up.refused == []


def test_the_store_going_down_in_a_turn_is_no_error(playing):
    up, gateway = playing(Reply((Say("I look."), SEARCH)))
    agent = client(gateway, "anthropic")
    agent.history.append({"role": "user", "content": "go"})
    turns = gateway.gateway._turns
    kept = turns._answers

    def down(*_, **__):
        raise StoreError("gone", hint="")

    turns._answers = down
    assert said(agent)[1] == "I look.The port is 4711."
    turns._answers = kept
    assert "can't be reached" in next(r.text for m in up.asks[1].request.messages for r in m.results)
    agent.history.append({"role": "user", "content": "go on"})
    said(agent)
    assert sent(up)[2][: len(sent(up)[1])] == sent(up)[1]
    assert up.refused == []


def test_a_client_that_leaves_in_a_later_round_ends_the_upstreams_work(playing):
    """Nothing is left waiting, and what it asks next is answered."""
    up, gateway = playing(Reply((Say("I look."), SEARCH)), Slow(END, before=5))
    agent = client(gateway, "anthropic", streams=True)
    agent.history.append({"role": "user", "content": "go"})
    place = urlsplit(gateway.url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    connection.request("POST", "/v1/messages", json.dumps(agent.body()), agent.headers())
    got = connection.getresponse()
    assert b"message_start" in got.readline()
    eventually(lambda: len(up.asks) == 2)
    connection.sock.shutdown(socket.SHUT_RDWR)
    got.close()
    connection.close()
    eventually(lambda: gateway.gateway.counts.all().get("clients gone") == 1)
    eventually(lambda: gateway.gateway._running == 0)
    agent.history[0] = {"role": "user", "content": "go, and quickly"}
    assert said(agent)[1] == "The port is 4711."
    assert gateway.gateway.counts.all().get("faults", 0) == 0
    assert up.refused == []
