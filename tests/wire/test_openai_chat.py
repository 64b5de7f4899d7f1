from __future__ import annotations

import pytest

from clew import wire
from clew.errors import WireError
from clew.transcript import Image, Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.wire.builders import CHAT_BODY, DATA_URL, PNG, chat_call

W = wire.get("chat")


def read(**value):
    return W.message(value)


def test_a_conversation_is_read():
    roles = [m.role for m in W.request(CHAT_BODY).messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]


def test_calls_keep_their_arguments_as_text():
    (call,) = read(role="assistant", content=None, tool_calls=[chat_call("c1", arguments='{"a" : 1}')]).parts
    at = ("tool_calls", 0, "function", "arguments")
    assert call == ToolCall("c1", "read", '{"a" : 1}', "function", at)
    assert call.input == {"a": 1}


def test_custom_and_legacy_calls():
    custom = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "free text"}}
    assert read(role="assistant", tool_calls=[custom]).calls[0].kind == "custom"
    call = read(role="assistant", content=None, function_call={"name": "f", "arguments": "{}"}).calls[0]
    result = read(role="function", name="f", content="ok")
    assert result.role == "tool"
    assert result.results[0].call_id == call.id
    assert W.result(call, "stub").value == {"role": "function", "name": "f", "content": "stub"}


def test_images_are_taken_out_of_data_urls():
    content = [
        {"type": "image_url", "image_url": {"url": DATA_URL}},
        {"type": "image_url", "image_url": "https://e.org/a.png"},
    ]
    assert read(role="user", content=content).parts == (
        Image("image/png", PNG, "", ("content", 0)),
        Image("", "", "https://e.org/a.png", ("content", 1)),
    )


def test_other_blocks_are_opaque_and_readable():
    content = [
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "JVBERi0="}},
        {"type": "text", "text": "see"},
        "bare",
        17,
    ]
    parts = read(role="user", content=content).parts
    assert [getattr(p, "kind", "text") for p in parts] == ["input_audio", "file", "text", "text", "unknown"]
    assert parts[1].text == "a.pdf"
    assert parts[3] == Text("bare", ("content", 3))


def test_reasoning_is_read_once_though_it_is_sent_twice():
    details = [{"type": "reasoning.text", "text": "why", "signature": "s"}]
    m = read(role="assistant", content="x", reasoning="why", reasoning_content="why", reasoning_details=details)
    assert [p for p in m.parts if isinstance(p, Reasoning)] == [
        Reasoning("why", False, ("reasoning_content",)),
        Reasoning("", True, ("reasoning_details",)),
    ]
    assert m.text == "x"


def test_refusal_and_audio():
    parts = read(role="assistant", content=None, refusal="no", audio={"id": "a1"}).parts
    assert parts == (Opaque("refusal", "no", ("refusal",)), Opaque("audio", "", ("audio",)))


def test_a_multimodal_envelope_is_a_result_with_an_image():
    envelope = {
        "_multimodal": True,
        "content": [{"type": "text", "text": "shot"}, {"type": "image_url", "image_url": {"url": DATA_URL}}],
    }
    (result,) = read(role="tool", tool_call_id="c", content=envelope).parts
    assert isinstance(result, ToolResult)
    assert [type(p) for p in result.parts] == [Text, Image]
    assert result.parts[0].at == ("content", "content", 0, "text")


def test_images_stashed_beside_the_content_are_seen_and_not_sent():
    stash = [
        {"type": "text", "text": "shot"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    ]
    m = read(role="tool", tool_call_id="c", content="shot", _anthropic_content_blocks=stash)
    assert m.parts[1] == Image("image/png", PNG, "", ("_anthropic_content_blocks", 1))
    assert PNG.encode() not in m.raw


def test_odd_calls_are_carried():
    m = read(
        role="assistant",
        content="",
        tool_calls=[1, {"id": "x", "type": "new"}, {"id": None, "function": {"name": None, "arguments": {"a": 1}}}],
    )
    assert [type(p).__name__ for p in m.parts] == ["Text", "Opaque", "Opaque", "ToolCall"]
    assert m.calls[0].arguments == '{"a":1}'


class TestMerge:
    def test_texts_are_joined_with_a_blank_line(self):
        a, b = W.text_message("user", "a"), W.text_message("user", "b")
        assert W.merge(a, b).value == {"role": "user", "content": "a\n\nb"}

    def test_blocks_follow_each_other(self):
        a = read(role="user", content=[{"type": "image_url", "image_url": {"url": DATA_URL}}])
        assert [type(p) for p in W.merge(a, W.text_message("user", "b")).parts] == [Image, Text]

    def test_calls_are_kept_from_both(self):
        a = read(role="assistant", content=None, tool_calls=[chat_call("1")], reasoning_content="r1")
        b = read(role="assistant", content="t", tool_calls=[chat_call("2")], reasoning_content="r2")
        both = W.merge(a, b)
        assert [c.id for c in both.calls] == ["1", "2"]
        assert both.value["reasoning_content"] == "r1\n\nr2"
        assert both.text == "t"

    @pytest.mark.parametrize(("one", "other"), [("user", "assistant"), ("tool", "tool")])
    def test_others_are_refused(self, one, other):
        with pytest.raises(WireError):
            W.merge(read(role=one, content="a"), read(role=other, content="b"))


def test_a_stub_result_answers_its_call():
    call = read(role="assistant", tool_calls=[chat_call("c9")]).calls[0]
    assert W.result(call, "s").results[0].call_id == "c9"
    with pytest.raises(WireError):
        W.result(ToolCall("x", "y", "", "server"), "s")


def test_plain_messages_have_speaking_roles():
    assert W.text_message("developer", "x").role == "developer"
    with pytest.raises(WireError):
        W.text_message("tool", "x")
