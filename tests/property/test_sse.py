"""Streams, property by property: however a response is cut, it comes together; whatever comes, nothing breaks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from clew import jsonio
from clew.wire import sse
from tests.wire import streams

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=6)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORDS
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(NAMES, v, max_size=3), max_leaves=8)
INPUTS = st.dictionaries(NAMES, VALUES, max_size=3)
COUNTS = st.integers(1, 10**6)


@st.composite
def calls(draw):
    names = draw(st.lists(NAMES, max_size=3))
    made = []
    for i, name in enumerate(names):
        if draw(st.booleans()):
            written = jsonio.dumps(draw(INPUTS)).decode()
            made.append({"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": written}})
        else:
            made.append({"id": f"call_{i}", "type": "custom", "custom": {"name": name, "input": draw(WORDS)}})
    return made


@st.composite
def chats(draw):
    choices = []
    for i in range(draw(st.integers(1, 3))):
        message = {"role": "assistant", "content": draw(st.none() | WORDS)}
        for key in ("reasoning_content", "refusal"):
            if draw(st.booleans()):
                message[key] = draw(WORDS)
        made = draw(calls())
        if made:
            message["tool_calls"] = made
            message["content"] = message["content"] or None
        choices.append({"index": i, "message": message, "finish_reason": draw(st.sampled_from(["stop", "tool_calls"]))})
    usage = {"prompt_tokens": draw(COUNTS), "completion_tokens": draw(COUNTS)}
    return {"id": "c", "object": "chat.completion", "model": draw(NAMES), "choices": choices, "usage": usage}


BLOCKS = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, WORDS),
    st.builds(lambda t, c: {"type": "text", "text": t, "citations": c}, WORDS, st.lists(INPUTS, max_size=2)),
    st.builds(lambda t, s: {"type": "thinking", "thinking": t, "signature": s}, WORDS, NAMES),
    st.builds(lambda i, n, v: {"type": "tool_use", "id": i, "name": n, "input": v}, NAMES, NAMES, INPUTS),
    st.builds(lambda v: {"type": "web_search_tool_result", "content": v}, VALUES),
)


@st.composite
def messages(draw):
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": draw(st.lists(BLOCKS, max_size=4)),
        "stop_reason": draw(st.sampled_from(["end_turn", "tool_use"])),
        "stop_sequence": draw(st.none() | WORDS),
        "usage": {"input_tokens": draw(COUNTS), "output_tokens": draw(COUNTS)},
    }


ITEMS = st.one_of(
    st.builds(lambda t: {"type": "message", "content": [{"type": "output_text", "text": t}]}, WORDS),
    st.builds(lambda t: {"type": "message", "content": [{"type": "refusal", "refusal": t}]}, WORDS),
    st.builds(
        lambda a, b: {"type": "reasoning", "summary": [{"type": "summary_text", "text": t} for t in (a, b)]},
        WORDS,
        WORDS,
    ),
    st.builds(lambda v: {"type": "function_call", "name": "f", "arguments": jsonio.dumps(v).decode()}, INPUTS),
    st.builds(lambda t: {"type": "custom_tool_call", "name": "f", "input": t}, WORDS),
)


@st.composite
def replies(draw):
    items = draw(st.lists(ITEMS, max_size=4))
    usage = {"input_tokens": draw(COUNTS), "output_tokens": draw(COUNTS)}
    output = [{"id": f"i{i}", **item} for i, item in enumerate(items)]
    return {"id": "r", "object": "response", "status": "completed", "output": output, "usage": usage}


BODIES = st.one_of(
    st.tuples(st.just("openai-chat"), chats(), st.just(streams.chat)),
    st.tuples(st.just("anthropic"), messages(), st.just(streams.anthropic)),
    st.tuples(st.just("openai-responses"), replies(), st.just(streams.responses)),
)


def cut(data, places):
    at = sorted({p % (len(data) + 1) for p in places} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(at)]


@settings(max_examples=100, deadline=None)
@given(BODIES, st.integers(1, 9), st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(0, 10**6), max_size=40))
def test_whatever_the_cuts_the_response_comes_together(case, size, end, places):
    wire, body, events = case
    stream = sse.Stream(wire)
    chunks = cut(streams.sse(events(body, size), end=end), places)
    assert list(sse.tee(chunks, stream)) == chunks
    got = stream.assembled()
    assert got.body == body
    assert got.finished


@settings(max_examples=60, deadline=None)
@given(replies(), st.integers(1, 9))
def test_responses_items_come_together_from_their_deltas_alone(body, size):
    stream = sse.Stream("openai-responses")
    stream.feed(streams.sse(streams.responses(body, size, told=False, dones=False)))
    # An empty text has deltas too, so nothing is missing.
    assert stream.assembled().body == body


@settings(max_examples=60, deadline=None)
@given(BODIES, st.integers(0, 10**6))
def test_a_cut_stream_never_claims_more_than_was_said(case, at):
    wire, body, events = case
    data = streams.sse(events(body))
    stream, whole = sse.Stream(wire), sse.Stream(wire)
    stream.feed(data[: at % len(data)])
    whole.feed(data)
    part, full = stream.assembled(), whole.assembled()
    assert len(part.values) <= len(full.values)
    if part.finished:
        assert part.values == full.values


KINDS = st.sampled_from(
    [
        "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
        "message_stop", "error", "ping", "response.created", "response.output_item.added", "response.output_text.delta",
        "response.output_item.done", "response.function_call_arguments.delta", "response.completed", "response.failed",
        "response.reasoning_summary_text.delta", "response.output_text.annotation.added",
    ]
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "type", "index", "output_index", "content_index", "delta", "message", "content_block", "usage", "item", "response",
        "output", "content", "choices", "tool_calls", "function", "error", "finish_reason", "citations", "citation",
        "partial_json", "text", "input_tokens", "id", "summary", "arguments", "name", "annotations", "logprobs",
    ]
)  # fmt: skip
ODD = st.recursive(
    SCALARS | KINDS,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(KEYS, v, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["openai-chat", "anthropic", "openai-responses"]), st.data())
def test_no_event_breaks_the_reading(wire, data):
    odd = st.dictionaries(KEYS, ODD, max_size=5)
    events = data.draw(st.lists(st.tuples(KINDS, odd), max_size=8))
    stream = sse.Stream(wire)
    for kind, value in events:
        stream.feed(streams.sse([{**value, "type": kind} if data.draw(st.booleans()) else value]))
    got = stream.assembled()
    assert jsonio.loads(jsonio.dumps(got.body)) == got.body


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.lists(st.integers(0, 10**6), max_size=20))
def test_events_don_t_depend_on_where_the_bytes_were_cut(data, places):
    data = data.replace(b"a", b"\r").replace(b"b", b"\n").replace(b"c", b"data:")
    whole, parts = sse.EventParser(), sse.EventParser()
    expected = whole.feed(data) + whole.close()
    got = [event for chunk in cut(data, places) for event in parts.feed(chunk)] + parts.close()
    assert got == expected
