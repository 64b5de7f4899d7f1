from __future__ import annotations

import pytest

from clew import wire
from clew.errors import WireError
from tests.wire.builders import BODIES, chat_call


@pytest.mark.parametrize("name", sorted(BODIES))
def test_bodies_lists_and_single_messages(name):
    body = BODIES[name]
    assert wire.detect(body) == name
    bare = {k: v for k, v in body.items() if k in ("messages", "input")}
    assert wire.detect(bare) == name
    assert wire.detect(bare.get("messages") or bare.get("input")) == name


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ({"role": "user", "content": "hi"}, "openai-chat"),
        ({"role": "tool", "tool_call_id": "c", "content": "x"}, "openai-chat"),
        ({"role": "assistant", "content": None, "tool_calls": [chat_call("c")]}, "openai-chat"),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, "anthropic"),
        ({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "thinking"}]}, "anthropic"),
        ({"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}, "openai-responses"),
        ({"type": "message", "role": "user", "content": "x"}, "openai-responses"),
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, "openai-responses"),
        ({"input": "hello"}, "openai-responses"),
        ({"messages": []}, "openai-chat"),
        ({"messages": [{"role": "user", "content": "x"}], "system": "s"}, "anthropic"),
        ({"messages": [{"role": "user", "content": "x"}], "tools": [{"name": "n", "input_schema": {}}]}, "anthropic"),
        (
            {"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function", "function": {}}]},
            "openai-chat",
        ),
    ],
)
def test_by_shape(message, name):
    assert wire.detect(message) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/messages", "anthropic"),
        ("/v1/messages/count_tokens?beta=true", "anthropic"),
        ("/v1/chat/completions", "openai-chat"),
        ("/openai/responses/", "openai-responses"),
        ("/v1/responses/compact", "openai-responses"),
    ],
)
def test_by_path(path, name):
    assert wire.detect({"messages": [{"role": "user", "content": "x"}]}, path) == name


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [1], [{}], {"messages": [1]}, {"model": "x"}])
def test_what_is_none_of_them_is_refused_with_a_hint(value):
    with pytest.raises(WireError) as caught:
        wire.detect(value)
    assert "openai-chat" in caught.value.hint


def test_names_and_aliases():
    assert wire.get("openai").name == wire.get("chat").name == "openai-chat"
    assert wire.get("responses").name == "openai-responses"
    assert wire.get("messages").name == "anthropic"
    with pytest.raises(WireError):
        wire.get("gopher")
