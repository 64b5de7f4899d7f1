from __future__ import annotations

import pytest

from clew import wire
from clew.errors import WireError
from clew.transcript import Image, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.wire.builders import ANTHROPIC_BODY, PNG

W = wire.get("anthropic")
MESSAGES = W.request(ANTHROPIC_BODY).messages
USER, ASSISTANT, RESULTS, SYSTEM, SERVER, LAST = MESSAGES


def test_images_and_documents():
    assert [type(p) for p in USER.parts] == [Text, Image, Opaque]
    assert USER.parts[1] == Image("image/png", PNG, "", ("content", 1))
    assert USER.parts[2].text == "Notes\nwords"


def test_thinking_is_sealed():
    assert ASSISTANT.parts[:2] == (Reasoning("hm", True, ("content", 0)), Reasoning("", True, ("content", 1)))
    bare = W.message({"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": ""}]})
    assert bare.parts == (Reasoning("x", False, ("content", 0)),)


def test_calls_and_results_pair():
    assert [c.id for c in ASSISTANT.calls] == ["toolu_1", "toolu_2"]
    assert ASSISTANT.calls[0].arguments == '{"path":"a.py"}'
    first, second = RESULTS.results
    assert first.is_error
    assert first.text == "no such file"
    assert [type(p) for p in second.parts] == [Text, Image]
    assert second.parts[1].url == "https://example.org/a.png"
    assert Transcript(MESSAGES).open_calls() == ()


def test_results_alone_are_no_user_turn():
    assert RESULTS.is_user_turn
    only = W.message({"role": "user", "content": RESULTS.value["content"][:2]})
    assert not only.is_user_turn
    assert W.result(ASSISTANT.calls[0], "x").role == "user"


def test_the_provider_s_own_tools():
    call, result, text = SERVER.parts
    assert (call.kind, call.name, result.kind, result.call_id) == ("server", "web_search", "server", "srvtoolu_1")
    assert result.parts[0].text == "T"
    assert text.text == "Found."
    error = {
        "type": "web_fetch_tool_result",
        "tool_use_id": "s",
        "content": {"type": "web_fetch_tool_error", "error_code": "x"},
    }
    assert W.message({"role": "assistant", "content": [error]}).results[0].is_error


def test_system_messages_and_plain_content():
    assert SYSTEM.role == "system"
    assert LAST.parts == (Text("Thanks", ("content",)),)
    assert W.text_message("developer", "x").role == "system"
    with pytest.raises(WireError):
        W.text_message("tool", "x")


@pytest.mark.parametrize(
    "content", [None, [], "", [{}], [{"type": None}], ["s"], [{"type": "tool_result"}], [{"type": "tool_use"}]]
)
def test_odd_content_is_carried(content):
    m = W.message({"role": "user", "content": content})
    assert m.value["content"] == content


def test_cache_marks_do_not_change_an_address():
    marked = {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}
    plain = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    assert W.message(marked).address == W.message(plain).address


class TestMerge:
    def test_results_come_first_whatever_the_order_was(self):
        result = W.result(ToolCall("toolu_9", "x", "{}"), "r")
        both = W.merge(W.text_message("user", "words"), result)
        assert [type(p) for p in both.parts] == [ToolResult, Text]
        assert [type(p) for p in W.merge(RESULTS, result).parts] == [ToolResult, ToolResult, ToolResult, Text]

    def test_texts_and_blocks(self):
        assert W.merge(LAST, LAST).value["content"] == "Thanks\n\nThanks"
        assert [b["type"] for b in W.merge(ASSISTANT, SERVER).value["content"]][:3] == [
            "thinking",
            "redacted_thinking",
            "text",
        ]

    def test_roles_must_agree(self):
        with pytest.raises(WireError):
            W.merge(LAST, SERVER)


def test_a_stub_never_answers_a_server_call():
    with pytest.raises(WireError):
        W.result(SERVER.calls[0], "x")
