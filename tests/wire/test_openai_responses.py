from __future__ import annotations

import pytest

from clew import wire
from clew.errors import WireError
from clew.transcript import Image, Opaque, Reasoning, Text, ToolResult, Transcript
from tests.wire.builders import RESPONSES_BODY

W = wire.get("responses")
MESSAGES = W.request(RESPONSES_BODY).messages


def read(**value):
    return W.message(value)


def test_items_have_roles():
    assert [m.role for m in MESSAGES] == [
        "developer", "user", "user", "assistant", "assistant", "assistant", "assistant", "tool", "tool", "tool",
        "assistant", "assistant", "assistant", "assistant",
    ]  # fmt: skip


def test_reasoning_is_sealed_where_it_is_encrypted():
    assert MESSAGES[3].parts == (Reasoning("hm", True, ()),)
    assert not read(type="reasoning", summary=[], content=None).parts[0].sealed


def test_calls_of_every_kind_pair_with_their_outputs():
    calls = [c for m in MESSAGES for c in m.calls]
    assert [(c.id, c.name, c.kind) for c in calls] == [
        ("call_1", "read", "function"),
        ("call_2", "apply_patch", "custom"),
        ("call_3", "local_shell", "local_shell"),
    ]
    assert Transcript(MESSAGES).open_calls() == ()
    assert [type(p) for p in MESSAGES[8].results[0].parts] == [Text, Image]


def test_what_it_does_not_know_passes_untouched():
    search, compaction, new = MESSAGES[10:13]
    assert search.parts == (Opaque("web_search_call", "clew", ()),)
    assert compaction.parts == (Opaque("compaction", "", ()),)
    assert new.parts == (Opaque("brand_new_item", "", ()),)
    assert new.value == {"type": "brand_new_item", "payload": [1]}


def test_shell_and_patch_and_computer():
    call = read(type="shell_call", call_id="s", action={"commands": ["ls"]}).calls[0]
    assert (call.kind, call.name, call.input) == ("shell", "shell", {"commands": ["ls"]})
    out = read(
        type="shell_call_output", call_id="s", output=[{"stdout": "o", "stderr": "e", "outcome": {"type": "timeout"}}]
    )
    assert out.results[0].text == "o\ne"
    assert W.result(call, "stub").results[0].text.strip() == "stub"
    assert read(type="apply_patch_call_output", call_id="p", status="failed", output="no").results[0].is_error
    shot = read(
        type="computer_call_output",
        call_id="k",
        output={"type": "computer_screenshot", "image_url": "https://e.org/a.png"},
    )
    assert shot.results[0].parts == (Image("", "", "https://e.org/a.png", ("output",)),)
    computer = read(type="computer_call", call_id="k", action={"type": "screenshot"}).calls[0]
    with pytest.raises(WireError):
        W.result(computer, "x")


def test_an_mcp_call_holds_its_own_result():
    m = read(type="mcp_call", id="mcp_1", name="roll", arguments="{}", output="6", server_label="dice")
    call, result = m.parts
    assert (call.kind, result.kind, result.parts[0].text) == ("server", "server", "6")
    assert Transcript([m]).open_calls() == ()


def test_other_roles():
    assert read(type="mcp_approval_response", approve=True, approval_request_id="a").role == "user"
    assert read(type="item_reference", id="x").role == "assistant"


def test_text_messages_use_the_role_s_block():
    assert W.text_message("user", "x").value["content"] == [{"type": "input_text", "text": "x"}]
    assert W.text_message("assistant", "x").value["content"] == [{"type": "output_text", "text": "x"}]


def test_a_stub_is_of_its_call_s_kind():
    for m, kind in zip(
        MESSAGES[4:7], ("function_call_output", "custom_tool_call_output", "local_shell_call_output"), strict=True
    ):
        stub = W.result(m.calls[0], "x")
        assert stub.value["type"] == kind
        assert stub.results[0].call_id == m.calls[0].id


def test_messages_of_one_role_are_merged():
    a, b = W.text_message("user", "a"), read(role="user", content="b", id="msg_9")
    assert [p.text for p in W.merge(a, b).parts] == ["a", "b"]
    assert "id" not in W.merge(a, b).value
    assert W.merge(b, b).text == "b\n\nb"
    with pytest.raises(WireError):
        W.merge(MESSAGES[4], MESSAGES[5])


@pytest.mark.parametrize("value", [{}, {"type": 3}, {"type": "message"}, {"content": "x"}])
def test_what_is_no_item_is_refused(value):
    with pytest.raises(WireError):
        W.message(value)


@pytest.mark.parametrize(
    "value", [{"type": "function_call"}, {"type": "function_call_output"}, {"type": "reasoning"}, {"type": "mcp_call"}]
)
def test_bare_items_are_carried(value):
    m = W.message(value)
    assert m.value == value
    assert m.parts
    assert not any(isinstance(p, ToolResult) and p.text for p in m.parts)
