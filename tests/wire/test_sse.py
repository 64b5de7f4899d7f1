"""Streams: what they assemble to, what their ends tell, and what a bad one does."""

from __future__ import annotations

import asyncio

import pytest

from clew.errors import InputError
from clew.wire import sse
from clew.wire.usage import Usage
from tests.wire import streams

CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "call_a", "type": "function", "function": {"name": "read", "arguments": '{"path":"ä.py"}'}},
                    {"id": "call_b", "type": "function", "function": {"name": "list", "arguments": "{}"}},
                    {"id": "call_c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
                ],
            },
            "finish_reason": "tool_calls",
        },
        {"index": 1, "message": {"role": "assistant", "content": "Grüße 🎉"}, "finish_reason": "stop"},
    ],
    "usage": {"prompt_tokens": 50, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 40}},
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [
        {"type": "thinking", "thinking": "Let me see…", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "See the docs", "citations": [{"type": "char_location", "cited_text": "a"}]},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "clew"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a", "n": [1, {"b": None}]}},
        {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 7,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 33,
    },
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "gpt-5",
    "output": [
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "One"}, {"type": "summary_text", "text": "Two"}],
            "encrypted_content": "gAAA",
        },
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hello ☀", "annotations": []}],
        },
        {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read", "arguments": '{"a":1}'},
        {"id": "ct_1", "type": "custom_tool_call", "call_id": "call_2", "name": "patch", "input": "*** Begin"},
    ],
    "usage": {"input_tokens": 80, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 12},
}
CASES = [
    ("openai-chat", CHAT, streams.chat),
    ("anthropic", MESSAGE, streams.anthropic),
    ("openai-responses", RESPONSE, streams.responses),
]


def fed(wire, data, size=None, **options):
    stream = sse.Stream(wire, **options)
    for i in range(0, len(data), size or len(data) or 1):
        stream.feed(data[i : i + (size or len(data))])
    stream.close()
    return stream


@pytest.mark.parametrize("size", [1, 2, 7, None])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("wire, body, cut", CASES)
def test_a_stream_assembles_to_the_response_it_was_cut_from(wire, body, cut, end, size):
    got = fed(wire, streams.sse(cut(body), end=end), size).assembled()
    assert got.body == body
    assert got.finished
    assert not got.notes


def test_usage_and_stop_reason_come_from_the_tail():
    chat = fed("openai-chat", streams.sse(streams.chat(CHAT), done=True))
    assert (chat.stop_reason, chat.usage) == ("tool_calls", Usage(input=10, cache_read=40, output=9))
    message = fed("anthropic", streams.sse(streams.anthropic(MESSAGE)))
    assert (message.stop_reason, message.usage) == ("tool_use", Usage(7, 100, 20, 0, 33))
    response = fed("openai-responses", streams.sse(streams.responses(RESPONSE)))
    assert (response.stop_reason, response.usage) == ("completed", Usage(input=16, cache_read=64, output=12))


def test_the_message_values_are_told_apart():
    assert fed("openai-chat", streams.sse(streams.chat(CHAT))).assembled().values[1] == CHAT["choices"][1]["message"]
    (message,) = fed("anthropic", streams.sse(streams.anthropic(MESSAGE))).assembled().values
    assert message == {"role": "assistant", "content": MESSAGE["content"]}
    items = fed("openai-responses", streams.sse(streams.responses(RESPONSE))).assembled().values
    assert list(items) == RESPONSE["output"]


@pytest.mark.parametrize("wire, body, cut", CASES)
def test_a_stream_cut_anywhere_gives_a_partial_message_and_says_so(wire, body, cut):
    data = streams.sse(cut(body))
    last = data.rstrip().rfind(b"data: ")
    for end in range(0, last, 37):
        got = fed(wire, data[:end]).assembled()
        assert not got.finished
        assert len(got.values) <= len(fed(wire, data).assembled().values)


def test_a_text_that_was_cut_off_is_kept_as_far_as_it_came():
    events = streams.anthropic({**MESSAGE, "content": [{"type": "text", "text": "abcdef"}]})
    got = fed("anthropic", streams.sse(events[:4])).assembled()
    assert got.values == ({"role": "assistant", "content": [{"type": "text", "text": "abc"}]},)


def test_a_call_whose_input_was_cut_off_is_not_made_up():
    events = streams.anthropic({**MESSAGE, "content": [MESSAGE["content"][5]]})
    got = fed("anthropic", streams.sse(events[:5])).assembled()
    assert got.body["content"] == [{**MESSAGE["content"][5], "input": {}}]


@pytest.mark.parametrize("told, dones", [(False, True), (True, False)])
def test_responses_output_is_known_from_its_items_or_from_the_last_event(told, dones):
    events = streams.responses(RESPONSE, told=told, dones=dones)
    assert fed("openai-responses", streams.sse(events)).assembled().body == RESPONSE


def test_responses_deltas_alone_give_the_items_of_a_cut_stream():
    events = streams.responses(RESPONSE, dones=False)[:-1]
    got = fed("openai-responses", streams.sse(events)).assembled()
    assert [i["type"] for i in got.values] == [i["type"] for i in RESPONSE["output"]]
    assert got.values[1]["content"] == [{"type": "output_text", "text": "Hello ☀"}]
    assert got.values[2]["arguments"] == '{"a":1}'
    assert not got.finished


@pytest.mark.parametrize(
    "wire, data",
    [
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ("openai-chat", {"error": {"message": "Overloaded"}}),
        ("openai-responses", {"type": "error", "code": "server_error", "message": "Overloaded"}),
        ("openai-responses", {"type": "response.failed", "response": {"status": "failed", "error": {"code": "x"}}}),
    ],
)
def test_an_error_in_the_middle_ends_it_unfinished(wire, data):
    body, cut = next((b, c) for w, b, c in CASES if w == wire)
    stream = fed(wire, streams.sse([*cut(body)[:4], data]))
    assert stream.error
    assert not stream.finished
    assert not stream.assembled().finished


def test_comments_pings_ids_and_a_byte_order_mark_pass():
    data = b"\xef\xbb\xbf: hello\n\nid: 4\nretry: 10\n" + streams.sse(streams.chat(CHAT)).replace(
        b"\n\n", b"\n\n: OPENROUTER PROCESSING\n\n"
    )
    assert fed("openai-chat", data, 5).assembled().body == CHAT


def test_data_over_several_lines_is_one_value():
    data = b'event: message_stop\ndata: {"type":\ndata:  "message_stop"}\n\n'
    assert fed("anthropic", data, 3).finished


def test_the_last_event_needs_no_blank_line():
    data = streams.sse(streams.anthropic(MESSAGE)).rstrip(b"\n")
    assert fed("anthropic", data).assembled().body == MESSAGE


def test_parallel_calls_of_one_index_are_told_apart_by_their_ids():
    def delta(**call):
        return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}

    events = [
        delta(index=0, id="a", type="function", function={"name": "f", "arguments": '{"x":'}),
        delta(index=0, id="a", type="function", function={"name": "f", "arguments": "1}"}),
        delta(index=0, id="b", type="function", function={"name": "g", "arguments": "{}"}),
        delta(id="c", type="function", function={"name": "h", "arguments": ""}),
        delta(function={"arguments": "[]"}),
    ]
    (message,) = fed("openai-chat", streams.sse(events)).assembled().values
    assert [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message["tool_calls"]] == [
        ("a", "f", '{"x":1}'),
        ("b", "g", "{}"),
        ("c", "h", "[]"),
    ]


def test_reasoning_details_and_log_probabilities_grow_together():
    def chunk(delta, logprob):
        choice = {"index": 0, "delta": delta, "finish_reason": None, "logprobs": {"content": [{"token": logprob}]}}
        return {"id": "1", "choices": [choice]}

    events = [
        chunk({"role": "assistant", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a"}]}, "x"),
        chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}]}, "y"),
    ]
    got = fed("openai-chat", streams.sse(events)).assembled()
    detail = {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"}
    assert got.values[0]["reasoning_details"] == [detail]
    assert got.body["choices"][0]["logprobs"] == {"content": [{"token": "x"}, {"token": "y"}]}


def test_the_legacy_function_call_is_assembled():
    events = [
        {"choices": [{"index": 0, "delta": {"function_call": {"name": "f", "arguments": ""}}}]},
        {"choices": [{"index": 0, "delta": {"function_call": {"arguments": "{}"}}, "finish_reason": "function_call"}]},
    ]
    (message,) = fed("openai-chat", streams.sse(events)).assembled().values
    assert message["function_call"] == {"name": "f", "arguments": "{}"}


def test_usage_that_ends_in_zeros_keeps_what_was_told_before():
    events = streams.anthropic(MESSAGE)
    events[-2]["usage"] = {"input_tokens": 0, "output_tokens": 33}
    assert fed("anthropic", streams.sse(events)).usage == Usage(7, 100, 20, 0, 33)


def test_invalid_tool_input_is_kept_under_a_name_that_says_so():
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a'}},
        {"type": "content_block_stop", "index": 0},
    ]
    (message,) = fed("anthropic", streams.sse(events)).assembled().values
    assert message["content"][0]["input"] == {"INVALID_JSON": '{"a'}


def test_an_event_over_the_limit_is_dropped_and_said():
    data = b'data: {"type":"ping","x":"' + b"a" * 500 + b'"}\n\n' + streams.sse(streams.anthropic(MESSAGE))
    got = fed("anthropic", data, 11, max_event=450).assembled()
    assert got.body == MESSAGE
    assert got.notes == ("1 events over the size limit were left out",)
    assert not got.finished


def test_a_stream_over_the_limit_still_tells_its_end():
    stream = fed("anthropic", streams.sse(streams.anthropic(MESSAGE)), max_total=900)
    got = stream.assembled()
    assert not got.finished
    assert got.usage.output == 33
    assert got.stop_reason == "tool_use"
    assert "over the size limit" in got.notes[0]


def test_what_is_no_json_is_counted_and_passed_over():
    data = b"data: <html>\n\ndata: [1]\n\n" + b"data: " + b"[" * 50000 + b"\n\n" + streams.sse(streams.chat(CHAT))
    got = fed("openai-chat", data).assembled()
    assert got.body == CHAT
    assert got.notes == ("3 events were not JSON objects and were left out",)


def test_tee_passes_the_very_bytes():
    chunks = [b"da", b"ta: {}\r", b"\n\r\n", b"", b"\xff\xfe"]
    assert list(sse.tee(chunks, sse.Stream("anthropic"))) == chunks

    async def both():
        async def source():
            for chunk in chunks:
                yield chunk

        return [c async for c in sse.atee(source(), sse.Stream("anthropic"))]

    assert asyncio.run(both()) == chunks


def test_events_are_given_to_the_caller_as_they_complete():
    parser = sse.EventParser()
    assert parser.feed(b"event: a\ndata: 1\n") == []
    assert parser.feed(b"data: 2\n\ndata: 3\n\n") == [sse.Event("a", b"1\n2"), sse.Event("", b"3")]
    assert parser.close() == []


def test_an_unknown_wire_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="openai-chat, openai-responses, anthropic"):
        sse.Stream("gopher")
