from __future__ import annotations

import json
import os

import pytest

from clew import wire
from clew.wire.convert import Loss, convert
from clew.wire.problems import problems
from tests.conftest import ROOT
from tests.wire.builders import BODIES, DATA_URL, chat_call, messages

GOLDEN = ROOT / "tests" / "golden" / "wire"
PAIRS = [(a, b) for a in sorted(BODIES) for b in sorted(BODIES) if a != b]


def body_messages(name):
    return wire.get(name).request(BODIES[name])


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_conversions_are_as_written_down(source, target):
    request = body_messages(source)
    system = wire.system_text(request) if request.system else ""
    converted = convert(request.messages, source, target, system=system)
    found = {
        "system": converted.system,
        "messages": [m.value for m in converted.messages],
        "lost": [[loss.place, loss.what] for loss in converted.lost],
    }
    file = GOLDEN / f"{source}.to.{target}.json"
    if os.environ.get("CLEW_WRITE_GOLDEN"):
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    assert found == json.loads(file.read_text())
    assert problems(converted.messages, target) == []


def test_one_format_is_left_alone():
    given = body_messages("anthropic").messages
    converted = convert(given, "messages", "anthropic", system="s")
    assert converted.messages == given
    assert (converted.lost, converted.system) == ((), "s")


def what(converted):
    return [loss.what for loss in converted.lost]


def test_ids_fit_the_other_provider_and_still_pair():
    values = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [chat_call("a.b"), chat_call("a:b")]},
        {"role": "tool", "tool_call_id": "a:b", "content": "2"},
        {"role": "tool", "tool_call_id": "a.b", "content": "1"},
    ]
    converted = convert(messages("openai-chat", values), "chat", "anthropic")
    assert [c.id for c in converted.messages[1].calls] == ["a_b", "a_b_"]
    assert [(r.call_id, r.text) for r in converted.messages[2].results] == [("a_b_", "2"), ("a_b", "1")]


def test_arguments_that_are_no_json_are_carried_as_text():
    values = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [chat_call("a", arguments="{cut")]},
    ]
    converted = convert(messages("openai-chat", values), "chat", "anthropic")
    assert converted.messages[1].calls[0].input == {"input": "{cut"}
    assert what(converted) == ["arguments as they were, which are no JSON"]


def test_an_image_in_a_result_is_named_where_it_can_not_go():
    values = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "shot", "input": {}}]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "content": [{"type": "image", "source": {"type": "url", "url": "u"}}],
                }
            ],
        },
    ]
    given = messages("anthropic", values)
    chat = convert(given, "anthropic", "chat")
    assert chat.messages[1].results[0].text == "[image]"
    assert chat.lost == (Loss(1, "an image in a tool result"),)
    responses = convert(given, "anthropic", "responses")
    assert responses.messages[1].results[0].parts[0].url == "u"
    assert responses.lost == ()


def test_fields_nobody_knows_are_named():
    values = [
        {
            "role": "user",
            "name": "ann",
            "content": [
                {"type": "text", "text": "x", "shade": 1},
                {"type": "image_url", "image_url": {"url": DATA_URL}},
            ],
        },
        {"role": "user", "content": ""},
    ]
    converted = convert(messages("openai-chat", values), "chat", "responses")
    assert converted.lost == (
        Loss(0, "the field `name`"),
        Loss(0, "the field `shade`"),
        Loss(1, "a user message without content"),
    )


def test_words_after_a_call_are_named_where_their_order_is_lost():
    content = [{"type": "tool_use", "id": "t", "name": "f", "input": {}}, {"type": "text", "text": "later"}]
    given = messages("anthropic", [{"role": "assistant", "content": content}])
    assert what(convert(given, "anthropic", "chat")) == ["that a text came after a call"]
    assert what(convert(given, "anthropic", "responses")) == []


def test_leading_system_messages_move_out_for_anthropic():
    values = [
        {"role": "system", "content": "a"},
        {"role": "developer", "content": "b"},
        {"role": "user", "content": "c"},
        {"role": "system", "content": "d"},
    ]
    converted = convert(messages("openai-chat", values), "chat", "anthropic", system="z")
    assert converted.system == "z\n\na\n\nb"
    assert [(m.role, m.text) for m in converted.messages] == [("user", "c"), ("system", "d")]


def test_users_who_speak_twice_are_one_turn_for_anthropic():
    values = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    converted = convert(messages("openai-chat", values), "chat", "anthropic")
    assert [p.text for p in converted.messages[0].parts] == ["a", "b"]


def test_blanks_that_anthropic_refuses_are_left_out_and_named():
    values = [
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": " \n"},
        {"role": "user", "content": "B "},
        {"role": "assistant", "content": "A "},
    ]
    given = messages("openai-chat", values)
    converted = convert(given, "chat", "anthropic")
    assert [(m.role, m.text) for m in converted.messages] == [("user", "A\nB "), ("assistant", "A")]
    assert converted.lost == (Loss(1, "a text of blanks"), Loss(3, "blanks at the end of the last answer"))
    assert problems(converted.messages, "anthropic") == []
    assert convert(given, "chat", "responses").lost == ()


def test_system_words_behind_a_message_that_is_left_out_lead_too():
    values = [{"role": "user", "content": ""}, {"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
    converted = convert(messages("openai-chat", values), "chat", "anthropic")
    assert (converted.system, [m.text for m in converted.messages]) == ("a", ["b"])


def test_an_assistant_who_speaks_first_is_named():
    given = messages("openai-chat", [{"role": "assistant", "content": "Hello."}])
    assert what(convert(given, "chat", "anthropic")) == ["that the assistant speaks first"]


def test_results_that_stand_apart_from_their_calls_come_behind_them():
    values = [
        {"role": "user", "content": "x"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
        {"role": "user", "content": "and?"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ]
    for target in ("chat", "anthropic"):
        converted = convert(messages("openai-responses", values), "responses", target)
        assert converted.lost == (Loss(5, "where a result stood"),)
        assert problems(converted.messages, target) == []
        assert [r.call_id for m in converted.messages for r in m.results] == ["b", "a"]
        assert converted.messages[-1].text.endswith("and?")
