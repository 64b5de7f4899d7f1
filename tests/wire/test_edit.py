"""Edits rendered: other words at the same places, in each wire's spelling."""

from __future__ import annotations

import pytest

from clew import wire
from clew.errors import WireError
from clew.transcript import Image, Reasoning, Text, ToolCall, ToolResult
from clew.wire.edit import render, without
from tests.wire.builders import ANTHROPIC_BODY, BODIES, CHAT_BODY, DATA_URL, RESPONSES_BODY, chat_call

CHAT, ANTHROPIC, RESPONSES = (wire.get(n) for n in ("chat", "anthropic", "responses"))
CHAT_MESSAGES = CHAT.request(CHAT_BODY).messages
ANTHROPIC_MESSAGES = ANTHROPIC.request(ANTHROPIC_BODY).messages
RESPONSES_MESSAGES = RESPONSES.request(RESPONSES_BODY).messages


def test_no_edit_changes_nothing():
    for name, body in BODIES.items():
        for m in wire.get(name).request(body).messages:
            same = render(m, {})
            assert (same.value, same.parts, same.address) == (m.value, m.parts, m.address)


@pytest.mark.parametrize("name", sorted(BODIES))
def test_every_text_and_result_can_be_shown_otherwise(name):
    seen = 0
    for m in wire.get(name).request(BODIES[name]).messages:
        before = m.raw
        for i, p in enumerate(m.parts):
            if isinstance(p, (Text, ToolResult)) and getattr(p, "kind", "") != "server":
                edited = render(m, {i: "shorter"})
                assert edited.parts[i].text == "shorter"
                assert edited.role == m.role
                assert [c.id for c in edited.calls] == [c.id for c in m.calls]
                assert [r.call_id for r in edited.results] == [r.call_id for r in m.results]
                others = [q for j, q in enumerate(edited.parts) if j != i]
                assert others == [q for j, q in enumerate(m.parts) if j != i]
                seen += 1
        assert m.raw == before
    assert seen >= 4


class TestArguments:
    def test_text_stays_text(self):
        edited = render(CHAT_MESSAGES[2], {1: '{"path": "…"}'})
        assert edited.value["tool_calls"][0]["function"]["arguments"] == '{"path": "…"}'
        assert edited.calls[1] == CHAT_MESSAGES[2].calls[1]
        assert render(RESPONSES_MESSAGES[5], {0: "*** patch left out"}).value["input"] == "*** patch left out"

    def test_an_object_stays_an_object(self):
        edited = render(ANTHROPIC_MESSAGES[1], {3: '{"path": "b.py"}'})
        assert edited.value["content"][3]["input"] == {"path": "b.py"}
        assert edited.value["content"][3]["id"] == "toolu_1"
        assert render(RESPONSES_MESSAGES[6], {0: '{"command":[]}'}).value["action"] == {"command": []}

    @pytest.mark.parametrize("text", ["no json", "[1]", '"s"'])
    def test_an_object_can_be_nothing_else(self, text):
        with pytest.raises(WireError):
            render(ANTHROPIC_MESSAGES[1], {3: text})


class TestImages:
    def test_words_stand_where_the_image_was(self):
        assert render(CHAT_MESSAGES[1], {1: "[image]"}).value["content"][1] == {"type": "text", "text": "[image]"}
        assert render(RESPONSES_MESSAGES[2], {0: "[image]"}).value["content"] == [
            {"type": "input_text", "text": "[image]"}
        ]

    def test_a_cache_mark_stays(self):
        mark = {"type": "ephemeral"}
        image = {"type": "image", "source": {"type": "url", "url": "u"}, "cache_control": mark}
        m = ANTHROPIC.message({"role": "user", "content": [image]})
        assert render(m, {0: "[image]"}).value["content"] == [
            {"type": "text", "text": "[image]", "cache_control": mark}
        ]

    def test_an_image_in_a_result_goes_with_the_result_s_words(self):
        edited = render(ANTHROPIC_MESSAGES[2], {1: "shot"})
        assert edited.value["content"][1]["content"] == "shot"
        assert edited.results[0].is_error

    def test_a_stashed_image_is_dropped_from_meta(self):
        stash = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]
        m = CHAT.message({"role": "tool", "tool_call_id": "c", "content": "shot", "_anthropic_content_blocks": stash})
        edited = render(m, {1: None})
        assert "_anthropic_content_blocks" not in edited.meta
        assert edited.text == "shot"


class TestDropping:
    def test_several_blocks_at_once(self):
        m = CHAT.message({"role": "user", "content": [{"type": "text", "text": t} for t in "abcde"]})
        assert [p.text for p in render(m, {0: None, 3: None, 4: "E", 1: None}).parts] == ["c", "E"]

    def test_sealed_reasoning_as_a_whole(self):
        edited = render(ANTHROPIC_MESSAGES[1], {0: None, 1: None})
        assert [type(p) for p in edited.parts] == [Text, ToolCall, ToolCall]
        with pytest.raises(WireError, match="whole"):
            render(ANTHROPIC_MESSAGES[1], {0: "other thoughts"})
        with pytest.raises(WireError, match="whole"):
            render(RESPONSES_MESSAGES[3], {0: None})

    def test_plain_reasoning_can_be_words_or_nothing(self):
        assert render(CHAT_MESSAGES[2], {0: "short"}).parts[0] == Reasoning("short", False, ("reasoning_content",))
        assert "reasoning_content" not in render(CHAT_MESSAGES[2], {0: None}).value
        bare = ANTHROPIC.message(
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "y"}]}
        )
        assert render(bare, {0: "z"}).parts[0].text == "z"

    def test_the_words_beside_calls(self):
        m = CHAT.message({"role": "assistant", "content": "words", "tool_calls": [chat_call("c")]})
        assert render(m, {0: None}).value["content"] is None
        listed = CHAT.message(
            {"role": "assistant", "content": [{"type": "text", "text": "w"}], "tool_calls": [chat_call("c")]}
        )
        assert render(listed, {0: None}).value["content"] is None

    def test_something_must_be_left(self):
        with pytest.raises(WireError, match="nothing would be left"):
            render(CHAT_MESSAGES[6], {0: None})
        with pytest.raises(WireError, match="nothing would be left"):
            render(ANTHROPIC.message({"role": "user", "content": [{"type": "text", "text": "a"}]}), {0: None})

    def test_calls_and_results_are_not_dropped_by_edits(self):
        with pytest.raises(WireError, match="pair"):
            render(CHAT_MESSAGES[2], {1: None})
        with pytest.raises(WireError, match="pair"):
            render(ANTHROPIC_MESSAGES[2], {0: None})


class TestRefused:
    def test_what_the_provider_ran(self):
        for i in (0, 1):
            with pytest.raises(WireError, match="provider"):
                render(ANTHROPIC_MESSAGES[4], {i: "x"})

    def test_items_without_a_place_for_words(self):
        for m in RESPONSES_MESSAGES[10:13]:
            with pytest.raises(WireError):
                render(m, {0: "x"})
        shot = RESPONSES.message(
            {
                "type": "computer_call_output",
                "call_id": "k",
                "output": {"type": "computer_screenshot", "image_url": DATA_URL},
            }
        )
        with pytest.raises(WireError):
            render(shot, {0: "x"})


def test_opaque_blocks_of_a_content_give_way_to_words():
    edited = render(ANTHROPIC_MESSAGES[0], {2: "[document]"})
    assert edited.value["content"][2] == {"type": "text", "text": "[document]"}


def test_a_shell_result_keeps_its_shape():
    m = RESPONSES.message(
        {
            "type": "shell_call_output",
            "call_id": "s",
            "output": [{"stdout": "long", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}],
        }
    )
    assert render(m, {0: "short"}).value["output"] == [
        {"stdout": "short", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}
    ]


def test_a_result_without_content_gets_some():
    m = ANTHROPIC.message({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]})
    assert render(m, {0: "x"}).results[0].text == "x"


class TestWithout:
    def test_calls_and_results_can_go_in_a_repair(self):
        assert [c.id for c in without(CHAT_MESSAGES[2], {1}).calls] == ["c2"]
        assert (
            "tool_calls"
            not in (
                without(CHAT.message({"role": "assistant", "content": "x", "tool_calls": [chat_call("c")]}), {1})
            ).value
        )
        left = without(ANTHROPIC_MESSAGES[2], {0, 1})
        assert [type(p) for p in left.parts] == [Text]
        assert [c.id for c in without(ANTHROPIC_MESSAGES[1], {3}).calls] == ["toolu_2"]

    def test_none_where_nothing_is_left(self):
        assert without(CHAT_MESSAGES[3], {0}) is None
        assert without(RESPONSES_MESSAGES[4], {0}) is None
        assert without(ANTHROPIC_MESSAGES[2], {0, 1, 2}) is None
        assert (
            without(CHAT.message({"role": "assistant", "content": None, "tool_calls": [chat_call("c")]}), {0}) is None
        )

    def test_meta_stays(self):
        m = CHAT.message(
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "u"}}],
                "_k": 1,
            }
        )
        left = without(m, {1})
        assert left.meta["_k"] == 1
        assert not any(isinstance(p, Image) for p in left.parts)
