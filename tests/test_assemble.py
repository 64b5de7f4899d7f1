"""Head, handoff and tail as messages that a provider accepts."""

from __future__ import annotations

from clew.assemble import assemble
from clew.wire import get
from clew.wire.problems import problems

WIRE = get("anthropic")


def message(role, *blocks):
    return WIRE.message({"role": role, "content": list(blocks)})


def text(words):
    return {"type": "text", "text": words}


def call(name):
    return {"type": "tool_use", "id": name, "name": "bash", "input": {}}


def result(name):
    return {"type": "tool_result", "tool_use_id": name, "content": "done"}


def test_the_last_user_turn_is_shown_again_without_results_that_came_with_it():
    """An agent whose user refuses a call sends the refusal as its result and the user's words in the same message."""
    spoken = message("user", result("gone"), text("No, do the tests first."))
    tail = [message("assistant", call("here")), message("user", result("here"))]
    made = assemble(WIRE, [], ["the handoff"], tail, pinned=spoken, alternates=True)
    assert [p.text for p in made.messages[0].parts] == ["the handoff", "No, do the tests first."]
    assert made.messages[0].results == ()
    assert made.messages[1:] == tuple(tail)
    assert made.repairs == ()


def test_sealed_reasoning_is_not_merged_behind_what_another_message_said():
    spoken = message("assistant", text("On it."))
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    tail = [message("user", text("Go.")), spoken, message("assistant", thought, call("here"))]
    made = assemble(WIRE, [], ["the handoff"], tail, alternates=True)
    assert made.messages[1:] == tuple(tail[1:])
    assert problems(list(made.messages), "anthropic", final=False) == []
