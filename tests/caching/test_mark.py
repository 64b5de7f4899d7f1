"""Where marks go: the seeds' table, the client's own, what can't carry one, the handoff's pages."""

from __future__ import annotations

import json

import pytest

from clew.caching import mark, sent
from clew.catalog import lookup
from clew.economics import CacheState, price
from clew.transcript import Span
from clew.wire import get
from tests.caching.requests import (
    HOUR,
    LONG,
    MARK,
    OPENROUTER,
    anthropic,
    bare,
    chat,
    compacted,
    marks,
    said,
    turns,
    user,
)

SONNET = lookup("claude-sonnet-4-6")
TOOLS, SYSTEM, MESSAGES = 0, 1, 2


def places(request):
    return [place for place, _ in marks(request)]


def test_the_system_prompt_and_the_last_three_messages():
    done = mark(anthropic(turns(7)), SONNET)
    assert marks(done) == [((1, 0, 0), "5m"), ((2, 4, 0), "5m"), ((2, 5, 0), "5m"), ((2, 6, 0), "5m")]


def test_a_string_becomes_a_text_block_and_a_list_is_marked_on_its_last():
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    done = mark(anthropic([user("one"), said("two"), {"role": "user", "content": blocks}]), SONNET)
    values = [m.value["content"] for m in done.messages]
    assert values[0] == [{"type": "text", "text": "one", "cache_control": MARK}]
    assert values[2] == [blocks[0], {**blocks[1], "cache_control": MARK}]
    assert done.system == [{"type": "text", "text": "Be brief. " + LONG, "cache_control": MARK}]


def test_a_tool_result_carries_the_mark_on_its_block_not_on_the_message():
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "42"}
    call = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    done = mark(
        anthropic([user("go"), {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]), SONNET
    )
    assert done.messages[2].value == {"role": "user", "content": [{**result, "cache_control": MARK}]}
    assert done.messages[1].value["content"] == [{**call, "cache_control": MARK}]


def many_calls(n):
    calls = [{"type": "tool_use", "id": f"t{i}", "name": "read", "input": {}} for i in range(n)]
    results = [{"type": "tool_result", "tool_use_id": f"t{i}", "content": "42"} for i in range(n)]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


@pytest.mark.parametrize(("calls", "marked"), [(9, [9, 10, 11]), (25, [1, 26, 27])])
def test_a_turn_longer_than_the_look_back_keeps_a_mark_where_the_request_before_ended(calls, marked):
    made = [{"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in range(calls)]
    results = [{"role": "tool", "tool_call_id": f"c{i}", "content": "42"} for i in range(calls)]
    turn = [user("go"), {"role": "assistant", "content": None, "tool_calls": made}, *results]
    done = mark(chat(turn), SONNET, upstream=OPENROUTER)
    assert [index for section, index, _ in places(done) if section == MESSAGES] == marked


@pytest.mark.parametrize("calls", [1, 9, 10, 15, 40])
def test_what_was_sent_before_is_read_however_many_calls_a_turn_has(calls):
    before = [user("go"), said("so"), user("on " + LONG)]
    state, _ = price(CacheState(), sent(mark(anthropic(before), SONNET), SONNET).priced, SONNET, 0.0)
    _, bill = price(state, sent(mark(anthropic([*before, *many_calls(calls)]), SONNET), SONNET).priced, SONNET, 1.0)
    assert bill.read > 2 * len(LONG) // 5


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "thinking", "thinking": "hm", "signature": "s"}],
        [{"type": "redacted_thinking", "data": "x"}],
        [{"type": "text", "text": ""}],
        [{"type": "text", "text": " \n"}],
        "",
        [],
        None,
    ],
)  # fmt: skip
def test_what_can_carry_no_mark_is_passed_over_for_the_message_before(content):
    done = mark(anthropic([user("one"), said("two"), user("three"), {"role": "assistant", "content": content}]), SONNET)
    assert places(done) == [(1, 0, 0), (2, 0, 0), (2, 1, 0), (2, 2, 0)]


def test_thinking_before_a_text_leaves_the_text_to_be_marked():
    content = [{"type": "text", "text": "so"}, {"type": "thinking", "thinking": "hm", "signature": "s"}]
    done = mark(anthropic([user("one"), {"role": "assistant", "content": content}, user("two")]), SONNET)
    assert (2, 1, 0) in places(done)


def test_system_messages_mid_way_are_no_part_of_the_window():
    done = mark(anthropic([user("a"), said("b"), user("c"), {"role": "system", "content": "Remember."}]), SONNET)
    assert places(done) == [(1, 0, 0), (2, 0, 0), (2, 1, 0), (2, 2, 0)]


def test_without_a_system_prompt_the_last_tool_that_is_sent_at_once_is_marked():
    tools = [
        {"name": "a", "input_schema": {}, "description": LONG},
        {"name": "b", "input_schema": {}},
        {"name": "c", "input_schema": {}, "defer_loading": True},
    ]
    done = mark(anthropic([user("hi")], system=None, tools=tools), SONNET)
    assert places(done) == [(TOOLS, 1, 0), (MESSAGES, 0, 0)]


# --- the client's own


def test_a_client_that_rolls_its_own_window_gets_only_what_outlives_an_epoch():
    messages = turns(6)
    messages[5] = {"role": "assistant", "content": [{"type": "text", "text": "x", "cache_control": MARK}]}
    done = mark(anthropic(messages), SONNET)
    assert places(done) == [(1, 0, 0), (2, 5, 0)]


def test_claude_codes_three_marks_leave_one_for_the_last_page():
    system = [
        {"type": "text", "text": "billing"},
        {"type": "text", "text": LONG, "cache_control": MARK},
        {"type": "text", "text": LONG, "cache_control": MARK},
    ]
    request, span = compacted(
        "anthropic",
        2,
        [said("ok"), {"role": "user", "content": [{"type": "text", "text": "go on", "cache_control": MARK}]}],
    )
    done = mark(request.replace(system=system), SONNET, base=span)
    assert places(done) == [(1, 1, 0), (1, 2, 0), (2, 0, 1), (2, 2, 0)]


@pytest.mark.parametrize(("n", "places_"), [(1, [4, 5, 6]), (2, [5, 6]), (3, [6]), (4, [])])
def test_a_clients_marks_on_its_system_prompt_leave_fewer_for_the_window(n, places_):
    system = [{"type": "text", "text": LONG, "cache_control": MARK} for _ in range(n)]
    done = mark(anthropic(turns(7), system=system), SONNET)
    assert [p[1] for p in places(done) if p[0] == MESSAGES] == places_
    assert len(places(done)) == 4


@pytest.mark.parametrize("n", [4, 5])
def test_where_the_client_used_them_up_the_request_is_left_alone(n):
    messages = [{"role": "user", "content": [{"type": "text", "text": LONG, "cache_control": MARK} for _ in range(n)]}]
    request = anthropic(messages)
    assert mark(request, SONNET) is request


def test_one_inside_a_tool_result_and_one_on_the_whole_request_count():
    inner = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "text", "text": "x", "cache_control": MARK}],
    }
    request = anthropic([{"role": "user", "content": [inner]}, user(LONG)], cache_control=MARK)
    assert [p for p, _ in marks(mark(request, SONNET))] == [(1, 0, 0), (2, 0, 0), (3, 0, 0)]


def test_a_long_life_before_short_ones_whoever_asked():
    marked = {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": MARK}]}
    hour = {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": HOUR}]}
    assert [t for _, t in marks(mark(anthropic([*turns(3), marked]), SONNET, ttl="1h"))] == ["1h", "5m"]
    assert [t for _, t in marks(mark(anthropic([*turns(3), hour]), SONNET, ttl="5m"))] == ["1h", "1h"]
    short = [{"type": "text", "text": LONG, "cache_control": MARK}]
    assert {t for _, t in marks(mark(anthropic(turns(3), system=short), SONNET, ttl="1h"))} == {"5m"}


# --- when there is nothing to mark


def test_a_request_below_the_least_size_is_left_alone_and_what_is_above_it_depends_on_the_model():
    small = anthropic([user("hi")], system="short")
    assert mark(small, SONNET) is small
    middling = anthropic([user("hi")], system="word " * 2000)
    assert mark(middling, SONNET) is not middling
    assert mark(middling, lookup("claude-opus-4-6")) is middling


def test_a_system_prompt_too_small_to_be_stored_gets_no_mark():
    assert places(mark(anthropic(turns(4), system="short"), SONNET)) == [(2, 1, 0), (2, 2, 0), (2, 3, 0)]


@pytest.mark.parametrize("model", ["gpt-5.1", "deepseek-v4-pro", "llama-3.3"])
def test_models_that_take_no_marks_get_none(model):
    request = anthropic(turns(3))
    assert mark(request, lookup(model)) is request


def test_on_the_chat_wire_only_openrouter_gets_them():
    request = chat(turns(3))
    assert mark(request, SONNET) is request
    assert mark(request, SONNET, upstream="https://openrouter.ai.example.com/v1") is request
    assert places(mark(request, SONNET, upstream=OPENROUTER)) == [(1, 0, 0), (2, 1, 0), (2, 2, 0), (2, 3, 0)]


def test_on_the_chat_wire_a_tools_words_carry_it_and_a_bare_call_is_passed_over():
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    result = {"role": "tool", "tool_call_id": "c", "content": "42"}
    done = mark(chat([user("one"), call, result]), SONNET, upstream=OPENROUTER)
    assert done.messages[3].value == {**result, "content": [{"type": "text", "text": "42", "cache_control": MARK}]}
    assert done.messages[2].value == call
    assert places(done) == [(1, 0, 0), (2, 1, 0), (2, 3, 0)]


# --- the handoff's pages


def test_merged_pages_become_blocks_and_the_last_one_is_marked():
    request, span = compacted("anthropic", 2, [said("ok"), user("go on"), said("done"), user("more")])
    done = mark(request, SONNET, base=span)
    texts = [b["text"] for b in done.messages[0].value["content"]]
    assert len(texts) == 3
    assert "".join(texts) == request.messages[0].value["content"]
    assert texts[2].lstrip().startswith("## Historical Task Snapshot")
    assert places(done) == [(1, 0, 0), (2, 0, 1), (2, 3, 0), (2, 4, 0)]


def test_pages_that_are_messages_of_their_own_are_marked_where_they_stand():
    request, span = compacted("openai-chat", 2, [said("ok"), user("go on")])
    done = mark(request, SONNET, base=span, upstream=OPENROUTER)
    assert places(done) == [(1, 0, 0), (2, 2, 0), (2, 4, 0), (2, 5, 0)]
    assert len(done.messages) == len(request.messages)


def test_a_page_stays_byte_for_byte_up_to_its_mark_when_the_next_epoch_adds_one():
    tail = [said("ok"), user("go on")]
    (first, a), (second, b) = compacted("anthropic", 1, tail), compacted("anthropic", 2, tail)
    one, two = mark(first, SONNET, base=a), mark(second, SONNET, base=b)
    assert one.messages[0].value["content"][0]["text"] == two.messages[0].value["content"][0]["text"]
    assert one.messages[0].value["content"][0]["cache_control"] == MARK
    assert "cache_control" not in two.messages[0].value["content"][0]


@pytest.mark.parametrize("pages", [0])
def test_a_handoff_without_pages_is_no_place_that_lasts(pages):
    request, span = compacted("anthropic", pages, [said("ok"), user("go on " + LONG)])
    assert places(mark(request, SONNET, base=span)) == places(mark(request, SONNET))


def test_a_live_message_merged_after_the_handoff_still_gets_its_own_mark():
    request, span = compacted("anthropic", 1, [])
    assert len(request.messages) == 1
    assert places(mark(request, SONNET, base=span)) == [(1, 0, 0), (2, 0, 0), (2, 0, 1)]


def test_a_span_that_names_nothing_is_as_none():
    request = anthropic(turns(5))
    assert mark(request, SONNET, base=Span(0, 0)) == mark(request, SONNET)


# --- bytes


def test_the_bytes_of_a_marked_request():
    body = b'{"model": "claude-sonnet-4-6","max_tokens":9, "system": "%s","messages": [{"role": "user",  "content": "one"}, {"role":"assistant","content":"two"},{"role":"user","content":"three"},{"role":"assistant","content":"\xc3\xa4"},{"role":"user","content":"five"}],"stream":true}'  # fmt: skip
    body = body % LONG.encode()
    request = get("anthropic").request(body)
    block = b'{"role":"%s","content":[{"type":"text","text":"%s","cache_control":{"type":"ephemeral","ttl":"1h"}}]}'
    assert get("anthropic").render_bytes(mark(request, SONNET, ttl="1h")) == (
        b'{"model":"claude-sonnet-4-6","max_tokens":9,"system":[{"type":"text","text":"'
        + LONG.encode()
        + b'","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role": "user",  "content": "one"},'
        b'{"role":"assistant","content":"two"},'
        + block % (b"user", b"three") + b"," + block % (b"assistant", "ä".encode()) + b"," + block % (b"user", b"five")
        + b'],"stream":true}'
    )  # fmt: skip


def test_the_callers_values_stay_as_they_are():
    request, span = compacted("anthropic", 2, [said("ok"), user("go on")])
    before = get("anthropic").render_bytes(request)
    system, tools = json.dumps(request.system), json.dumps(request.tools)
    mark(request, SONNET, base=span)
    assert get("anthropic").render_bytes(request) == before
    assert (json.dumps(request.system), json.dumps(request.tools)) == (system, tools)
    assert bare(mark(request, SONNET, base=span)) == bare(request)
