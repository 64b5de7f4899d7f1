"""The scripted upstream refuses what the real providers refuse, in their words."""

from __future__ import annotations

import re

import pytest

from clew.catalog import lookup
from clew.testing.upstream import Reply, Say, Upstream, running, script
from clew.wire import get
from clew.wire.problems import problems
from tests.testing.asking import HEADERS, MODELS, ask, body, send, user


@pytest.fixture(scope="module")
def url():
    with running(Upstream(script(otherwise=Reply((Say("fine"),))))) as upstream:
        yield upstream.url


def a(role, *blocks):
    return {"role": role, "content": list(blocks)}


def text(words, **more):
    return {"type": "text", "text": words, **more}


CALL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
U = a("user", text("hi"))

ANTHROPIC_BAD = [
    ([], {}, "at least one message is required"),
    ([a("assistant", text("hi")), U], {}, 'first message must use the "user" role'),
    ([a("user")], {}, "all messages must have non-empty content"),
    ([a("user", text(""))], {}, "text content blocks must be non-empty"),
    ([a("user", text("", **MARK))], {}, "cache_control cannot be set for empty text blocks"),
    ([a("user", text(" \n"))], {}, "non-whitespace text"),
    ([U, a("assistant", CALL), U], {}, "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"),
    ([U, a("assistant", CALL)], {"model": "claude-sonnet-4-5"}, "without `tool_result` blocks"),
    ([U, a("assistant", CALL), a("user", text("so"), RESULT)], {}, "without `tool_result` blocks immediately after"),
    ([a("user", RESULT)], {}, "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"),
    ([U, a("assistant", CALL), a("user", RESULT, RESULT)], {}, "each tool_use must have a single result"),
    ([U, a("assistant", CALL, CALL), a("user", RESULT)], {}, "`tool_use` ids must be unique"),
    ([U, a("assistant", {**CALL, "id": "a b"}), U], {}, "String should match pattern"),
    ([U, a("assistant", {**CALL, "input": "{}"}), a("user", RESULT)], {}, "Input should be a valid dictionary"),
    ([U, a("assistant", text("I"))], {}, "does not support assistant message prefill"),
    ([U, a("assistant", text("I "))], {"model": "claude-sonnet-4-5"}, "cannot end with trailing whitespace"),
    ([a("user", *[text(str(n), **MARK) for n in range(5)])], {}, "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    ([a("user", text("a", **MARK), text("b", **HOUR))], {}, "must not come after a ttl='5m'"),
    ([U], {"verbosity": "low"}, "verbosity: Extra inputs are not permitted"),
    ([U], {"context_management": {}}, "context_management: Extra inputs are not permitted"),
    ([{**U, "id": "m1"}], {}, "messages.0.id: Extra inputs are not permitted"),
    ([a("user", text("x", index=1))], {}, "messages.0.content.0.text.index: Extra inputs are not permitted"),
    ([a("user", text("x")), {"role": "tool", "content": "y"}], {}, "Input should be 'user' or 'assistant'"),
    ([U, {"role": "system", "content": "y"}, U], {}, 'Unexpected role "system"'),
    ([U], {"max_tokens": 999_999}, "which is the maximum allowed number of output tokens"),
    ([U], {"max_tokens": None}, "max_tokens: Input should be greater"),
    ([U, a("assistant", {"type": "thinking", "thinking": "hm", "signature": "forged"}, text("x")), U], {}, "Invalid `signature` in `thinking` block"),
    ([U], {"thinking": {"type": "enabled", "budget_tokens": 100}}, "greater than or equal to 1024"),
    ([U], {"tools": [{"name": "x"}]}, "tools.0.custom.input_schema: Field required"),
    ([U], {"system": [text("")]}, "system: text content blocks must be non-empty"),
]  # fmt: skip


@pytest.mark.parametrize("messages, more, words", ANTHROPIC_BAD, ids=range(len(ANTHROPIC_BAD)))
def test_messages_refuses(url, messages, more, words):
    got = ask(url, "anthropic", messages, **more)
    assert got.status == 400
    assert got.value["type"] == "error"
    assert got.value["error"]["type"] == "invalid_request_error"
    assert words in got.words


ANTHROPIC_GOOD = [
    ([U], {}),
    ([U, U], {}),
    ([U, a("assistant", CALL), a("user", RESULT, text("and"))], {}),
    ([U, a("assistant", text("x"), CALL), a("user", RESULT), U], {}),
    ([U, a("assistant", text("I"))], {"model": "claude-sonnet-4-5"}),
    ([a("user", text("a", **HOUR), text("b", **MARK))], {"system": [text("s", **HOUR)]}),
    ([U, {"role": "system", "content": "y"}, U], {"model": "claude-opus-4-8"}),
]


@pytest.mark.parametrize("messages, more", ANTHROPIC_GOOD, ids=range(len(ANTHROPIC_GOOD)))
def test_messages_accepts(url, messages, more):
    assert ask(url, "anthropic", messages, **more).status == 200


C = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}  # fmt: skip
R = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
P = {"role": "user", "content": "hi"}
IMAGE = [{"type": "image_url", "image_url": {"url": "https://x.invalid/a.png"}}]


def long_id(value):
    return {**C, "tool_calls": [{**C["tool_calls"][0], "id": value}]}


CHAT_BAD = [
    ([], {}, "Invalid 'messages': empty array", "empty_array"),
    ([{"role": "oracle", "content": "x"}], {}, "Invalid value: 'oracle'", "invalid_value"),
    ([P, C, P], {}, "The following tool_call_ids did not have response messages: c1", None),
    ([P, C], {}, "did not have response messages: c1", None),
    ([P, R], {}, "must be a response to a preceeding message with 'tool_calls'", None),
    ([P, C, R, R], {}, "must be a response to a preceeding message", None),
    ([P, {"role": "assistant", "content": None}], {}, "expected a string, got null", None),
    ([P, {**C, "tool_calls": []}], {}, "empty array", "empty_array"),
    ([P, long_id("x" * 41), {**R, "tool_call_id": "x" * 41}], {}, "maximum length 40", "string_above_max_length"),
    ([P, C, {**R, "content": IMAGE}], {}, "Image URLs are only allowed for messages with role 'user'", "invalid_value"),
    ([P], {"thinking": {}}, "Unknown parameter: 'thinking'.", "unknown_parameter"),
    ([P], {"max_completion_tokens": 9_999_999}, "is too large", "invalid_value"),
    ([P], {"stream_options": {"include_usage": True}}, "only allowed when 'stream' is enabled", "invalid_value"),
    ([P, P], {"model": "mistral-large-3"}, "roles must alternate", None),
]


@pytest.mark.parametrize("messages, more, words, code", CHAT_BAD, ids=range(len(CHAT_BAD)))
def test_chat_refuses(url, messages, more, words, code):
    got = ask(url, "openai-chat", messages, **more)
    assert got.status == 400
    assert words in got.words
    assert got.value["error"]["type"] == "invalid_request_error"
    assert got.value["error"]["code"] == code


def test_chat_accepts_a_loop_of_calls(url):
    assert ask(url, "openai-chat", [{"role": "developer", "content": "s"}, P, C, R, P, P]).status == 200


FC = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
FO = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}

RESPONSES_BAD = [
    ([P, FC], {}, "No tool output found for function call c1.", None),
    ([P, FO], {}, "No tool call found for function call output with call_id c1.", None),
    ([P, {**FC, "type": "custom_tool_call", "input": "x"}, FO], {}, "No tool call found for function call output", None),
    ([P, THOUGHT], {}, "Item 'rs_1' of type 'reasoning' was provided without its required following item.", None),
    ([P, THOUGHT, P], {}, "without its required following item", None),
    ([P, {**THOUGHT, "encrypted_content": "gAAAAforged"}, FC, FO], {}, "could not be verified", "invalid_encrypted_content"),
    ([{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}], {}, "Invalid value: 'input_text'", "invalid_value"),
    ([{"role": "user", "content": [{"type": "text", "text": "x"}]}], {}, "Invalid value: 'text'", "invalid_value"),
    ([P, {**FC, "arguments": {}}, FO], {}, "expected a string", "invalid_type"),
    ([P], {"stop": []}, "Unknown parameter: 'stop'.", "unknown_parameter"),
    ([P], {"previous_response_id": "resp_none"}, "Previous response with id 'resp_none' not found.", "previous_response_not_found"),
]  # fmt: skip


@pytest.mark.parametrize("items, more, words, code", RESPONSES_BAD, ids=range(len(RESPONSES_BAD)))
def test_responses_refuses(url, items, more, words, code):
    got = ask(url, "openai-responses", items, **more)
    assert got.status == 400
    assert words in got.words
    assert got.value["error"]["code"] == code


def test_responses_goes_on_from_a_response_it_kept(url):
    first = ask(url, "openai-responses", "one").value
    second = ask(url, "openai-responses", [P], previous_response_id=first["id"])
    assert second.status == 200
    assert second.value["usage"]["input_tokens"] > first["usage"]["input_tokens"]
    unkept = ask(url, "openai-responses", "one", store=False).value
    assert ask(url, "openai-responses", [P], previous_response_id=unkept["id"]).status == 400


@pytest.mark.parametrize(
    "wire, words, code",
    [
        ("anthropic", r"prompt is too long: \d+ tokens > 500 maximum", None),
        ("openai-chat", "This model's maximum context length is 500 tokens. However, your messages resulted in", "context_length_exceeded"),
        ("openai-responses", "Your input exceeds the context window of this model", "context_length_exceeded"),
    ],
)  # fmt: skip
def test_a_prompt_over_the_window_is_refused(wire, words, code):
    with running(Upstream(script("fine"), window=500)) as upstream:
        got = ask(upstream.url, wire, [user(wire, "word " * 2000)])
    assert got.status == 400
    assert re.search(words, got.words)
    assert got.value["error"].get("code") == code


def test_keys_versions_models_and_paths(url):
    bare = {"content-type": "application/json"}
    assert ask(url, "anthropic", [U], headers=bare).status == 401
    assert ask(url, "openai-chat", [P], headers=bare).status == 401
    assert (
        "anthropic-version: header is required" in ask(url, "anthropic", [U], headers={**bare, "x-api-key": "k"}).words
    )
    unknown = ask(url, "openai-chat", [P], model="nobody-1")
    assert (unknown.status, unknown.value["error"]["code"]) == (404, "model_not_found")
    assert ask(url, "anthropic", [U], model="nobody-1").value["error"]["type"] == "not_found_error"
    assert send(url, "GET", "/v1/unheard").status == 404
    assert send(url, "POST", "/v1/messages", b"{").status == 400
    assert send(url, "POST", "/v1/messages", b"[]").status == 400


def test_models_and_counting(url):
    listed = send(url, "GET", "/v1/models", headers={"authorization": "Bearer k"}).value
    assert any(m["id"] == "gpt-5" for m in listed["data"])
    assert send(url, "GET", "/v1/models", headers=HEADERS).value["has_more"] is False
    counted = send(
        url,
        "POST",
        "/v1/messages/count_tokens",
        b'{"model":"claude-opus-4-6","messages":[{"role":"user","content":"hi"}]}',
    )
    used = ask(url, "anthropic", [{"role": "user", "content": "hi"}]).value["usage"]["input_tokens"]
    assert counted.value == {"input_tokens": used}


# Breaches that are not of the messages: fields, limits, seals, cache marks.
# What `clew.wire.problems` does not look at: arguments as a string where an object is due, prefill, and a result of
# another kind than its call.
UNSEEN = ("valid dictionary", "assistant message prefill", "No tool call found for function call output")
OUTSIDE = ("Extra inputs", "cache_control", "maximum", "must not come after", "signature", "max_tokens", "budget", "1024",
           "tools.0", "system:", "at least one message", "empty array", "is too large", "stream_options", "Unknown parameter",
           "verified", "Previous response", "input_text", "'text'", "maximum length", "only allowed when")  # fmt: skip


@pytest.mark.parametrize(
    "wire, messages, more, words",
    [
        (wire, *case[:3])
        for wire, cases in (
            ("anthropic", ANTHROPIC_BAD),
            ("openai-chat", CHAT_BAD),
            ("openai-responses", RESPONSES_BAD),
        )
        for case in cases
        if not any(word in case[2] for word in (*OUTSIDE, *UNSEEN[:2])) and case[2] != UNSEEN[2]
    ],
)
def test_what_a_provider_refuses_the_checker_finds(wire, messages, more, words):
    """Two independent readings of the same rules; what is not about messages is left out by name."""
    model = lookup(more.get("model", MODELS[wire]))
    request = get(wire).request(body(wire, messages))
    assert problems(request.messages, wire, model=model), words
