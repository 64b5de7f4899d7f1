"""Whatever rounds an upstream speaks and however its bytes are cut: one coherent answer, and a transcript that comes back."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import jsonio
from clew.catalog import lookup
from clew.gateway.recall_tool.answers import in_messages
from clew.gateway.recall_tool.joining import joining
from clew.gateway.recall_tool.splice import Restorer, Splice, from_body, mark_of
from clew.testing.upstream import Ask, Call, Reply, Say, Think, Usage, speak
from clew.testing.upstream.rules.seals import Seals
from clew.testing.upstream.speak import Turn
from clew.transcript import Reasoning
from clew.wire import get
from clew.wire.problems import problems
from clew.wire.sse import EventParser, Stream

WIRES = ("anthropic", "openai-chat", "openai-responses")
SEALS = Seals(1)
WORDS = st.text("abc é🧶\n<>", min_size=1, max_size=60).filter(str.strip)
SAYING = st.tuples(st.lists(st.builds(Think, WORDS), max_size=1), st.lists(st.builds(Say, WORDS), max_size=2)).map(
    lambda parts: [*parts[0], *parts[1]]
)
OURS = st.sampled_from([("clew_recall", {"ref": "clew:x"}), ("clew_search", {"query": "é \n"})])


@st.composite
def rounds(draw):
    """Some rounds of the gateway's calls alone, and a last one with the client's, with both, or with none."""
    names = iter(range(100))

    def ours() -> Call:
        name, given = draw(OURS)
        return Call(name, given, f"ours_{next(names)}")

    out = []
    for _ in range(draw(st.integers(0, 3))):
        out.append(Reply((*draw(SAYING), *[ours() for _ in range(draw(st.integers(1, 2)))])))
    calls = []
    if draw(st.booleans()):
        calls = [Call("bash", {"command": draw(WORDS)}, f"own_{next(names)}") for _ in range(draw(st.integers(1, 2)))]
        calls += [ours() for _ in range(draw(st.integers(0, 2)))]
        calls = draw(st.permutations(calls))
    last = Reply((*draw(SAYING), *([] if calls else [Say("The end.")]), *calls))
    return [*out, last]


def turn(wire: str, reply: Reply, n: int) -> Turn:
    body = {"model": "m", "stream": True, "stream_options": {"include_usage": True}, "store": False,
            "include": ["reasoning.encrypted_content"]}  # fmt: skip
    request = get(wire).request({"model": "m", get(wire).messages_key: [{"role": "user", "content": "go"}]})
    ask = Ask(n, wire, {}, body, request, lookup("gpt-5"), 10)
    return Turn(ask, reply, Usage(100 + n, 0, 0, 0, 10), SEALS, f"turn{n}", 1)


def joined(wire: str, replies: list[Reply], *, stream: bool, cuts=None):
    """The client's bytes, and what the upstream said in each round."""
    kind = "text/event-stream" if stream else "application/json"
    join = joining(wire, kind, "")
    assert join is not None
    out = b""
    heard = []
    for n, reply in enumerate(replies):
        spoken = turn(wire, reply, n)
        raw = b"".join(speak.events(spoken)) if stream else jsonio.dumps(speak.body(spoken))
        while raw:
            size = cuts() if cuts is not None else len(raw)
            out += join.feed(raw[:size])
            raw = raw[size:]
        out += join.end()
        heard.append(join.said())
        assert join.goes_on == (n < len(replies) - 1)
        if join.goes_on:
            join.next("", last=False)
    given = join.given()
    return out + join.closing, heard, given


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=60, deadline=None)
@given(rounds(), st.integers(0, 1000))
def test_rounds_are_one_answer(wire, replies, seed):
    dice = random.Random(seed)
    raw, heard, got = joined(wire, replies, stream=True, cuts=lambda: dice.choice([1, 7, 40, 900]))
    body, heard_whole, got_whole = joined(wire, replies, stream=False)
    assert b"clew_" not in raw
    assert b"clew_" not in body
    # Both ways the client gets the same, and the upstream said the same.
    assert [plain(m) for m in got] == [plain(m) for m in got_whole]
    assert [[plain(m) for m in s.messages] for s in heard] == [[plain(m) for m in s.messages] for s in heard_whole]
    # One answer: it ends as an answer does, and nothing of it stands twice.
    stream = Stream(wire)
    stream.feed(raw)
    assert stream.finished
    calls = any(c.name == "bash" for c in replies[-1].calls)
    assert stream.stop_reason == {
        "anthropic": ("end_turn", "tool_use"), "openai-chat": ("stop", "tool_calls"), "openai-responses": ("completed",) * 2,
    }[wire][calls]  # fmt: skip
    assert stream.usage is not None
    assert (stream.usage.prompt, stream.usage.output) == (99 + len(replies), 10 * len(replies))
    ids = [c.id for m in got for c in m.calls]
    assert ids == [c.id for c in replies[-1].calls if c.name == "bash"]
    if len(replies) == 1 and not any(c.name != "bash" for c in replies[0].calls):
        assert raw == b"".join(speak.events(turn(wire, replies[0], 0)))
        assert body == jsonio.dumps(speak.body(turn(wire, replies[0], 0)))
    for event in EventParser().feed(raw):
        assert event.data == b"[DONE]" or jsonio.loads(event.data)


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=60, deadline=None)
@given(rounds(), st.booleans())
def test_the_upstreams_transcript_comes_back(wire, replies, drops_thinking):
    """From what a client keeps: with its own results, without thinking where it drops that, and as a store kept it."""
    _, heard, got = joined(wire, replies, stream=True)
    spoken = get(wire)
    asked = spoken.message({"role": "user", "content": "go"})
    said = [m for s in heard for m in s.messages]
    upstream = []
    for s in heard[:-1]:
        upstream += [*s.messages, *in_messages([(c, "found") for c in s.calls], wire)]
    upstream += heard[-1].messages
    results = in_messages([(c, "found") for c in heard[-1].calls], wire)
    mark = mark_of(got, asked)
    assert mark is not None
    restorer = Restorer(wire)
    restorer.add(from_body(jsonio.loads(jsonio.dumps(Splice(mark, 0, tuple(upstream), tuple(results)).body())), spoken))
    kept = [m for m in got if not (drops_thinking and all(isinstance(p, Reasoning) for p in m.parts))]
    own = [spoken.result(c, "done") for m in got for c in m.calls] or [
        spoken.message({"role": "user", "content": "and?"})
    ]
    if wire == "anthropic" and len(own) > 1:
        own = [spoken.merge(*own)]
    out = restorer.restored([asked, *kept, *own])
    assert [m.raw for m in out[1 : 1 + len(upstream)]] == [m.raw for m in upstream]
    calls = [c.id for m in out for c in m.calls]
    assert calls == [c.id for r in replies for c in r.calls]
    assert sorted(r.call_id for m in out for r in m.results) == sorted(calls)
    assert [p for p in problems(out, wire) if p.code != "empty-text"] == []
    again = restorer.restored([asked, *kept, *own])
    assert all(a is b for a, b in zip(out, again, strict=True))
    assert sum(len(m.calls) for m in said) == len(calls)


def plain(message):
    """A message without what a stream says of itself only."""
    return replace(message, raw=b"").parts, message.role


def test_answers_that_look_alike_are_told_apart():
    spoken = get("openai-chat")
    ask, ok = (
        spoken.message({"role": "user", "content": "go on"}),
        spoken.message({"role": "assistant", "content": "OK."}),
    )
    other = spoken.message({"role": "assistant", "content": "what was really said"})
    mark = mark_of([ok], ask)
    restorer = Restorer("openai-chat")
    client = [ask, ok, ask]
    assert restorer.number(client, mark) == 1
    restorer.add(Splice(mark, 1, (other,)))
    assert restorer.restored([*client, ok, ask]) == [ask, ok, ask, other, ask]
    assert restorer.restored([ask, ok]) == [ask, ok]


def test_an_answer_cut_into_several_messages_is_the_same_one():
    spoken = get("anthropic")
    ask = spoken.message({"role": "user", "content": "go"})
    whole = spoken.message(
        {"role": "assistant", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two. "}]}
    )
    cut = [spoken.message({"role": "assistant", "content": t}) for t in ("One. ", "Two.")]
    restorer = Restorer("anthropic")
    restorer.add(Splice(mark_of([whole], ask), 0, (ask,)))
    assert restorer.restored([ask, *cut, ask]) == [ask, ask, ask]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stream", [True, False])
def test_rounds_that_come_packed(wire, stream):
    """Where an upstream packs though it was asked not to."""
    kind = "text/event-stream" if stream else "application/json; charset=utf-8"
    join = joining(wire, kind, "gzip")
    assert join is not None
    out = b""
    for n, part in enumerate((Call("clew_search", {"query": "x"}, "c1"), Say("The end."))):
        spoken = turn(wire, Reply((part,)), n)
        packed = gzip.compress(b"".join(speak.events(spoken)) if stream else jsonio.dumps(speak.body(spoken)))
        out += join.feed(packed[:20]) + join.feed(packed[20:]) + join.end()
        if join.goes_on:
            join.next("gzip", last=False)
    assert b"The end." in out + join.closing
    assert joining(wire, kind, "br") is None
    assert joining(wire, "text/html", "") is None
