"""No message is shown otherwise than it arrived without an edit that says so, and no user's message goes unseen."""

from __future__ import annotations

import json

import pytest

import clew
from clew.testing.session import generate

WORDS = "harbour/file{n}.py holds the tariff of dock {n}; limit_{n} is {n}00. "


def answered(n):
    return {"role": "assistant", "content": f"step {n}: " + WORDS.format(n=n) * 30}


def worked(wire, n):
    """A call and its result."""
    said = WORDS.format(n=n) * 40
    if wire == "anthropic":
        use = {"type": "tool_use", "id": f"c{n}", "name": "Read", "input": {"path": f"harbour/file{n}.py"}}
        return [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{n}", "content": said}]},
        ]
    arguments = json.dumps({"path": f"harbour/file{n}.py"})
    if wire == "openai-responses":
        return [
            {"type": "function_call", "call_id": f"c{n}", "name": "Read", "arguments": arguments},
            {"type": "function_call_output", "call_id": f"c{n}", "output": said},
        ]
    call = {"id": f"c{n}", "type": "function", "function": {"name": "Read", "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": said},
    ]


def spoken(n):
    return f"Now look at dock {n} and tell me whether its tariff is right."


def shown(view):
    return json.dumps(view)


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic"])
def test_what_is_not_in_view_has_an_edit_also_what_the_head_held_at_first(wire):
    messages = generate(1, turns=16).messages
    if wire == "anthropic":
        messages = [{"role": "user", "content": spoken(n)} if n % 2 == 0 else answered(n) for n in range(100)]
    with clew.Context(24_000, wire=wire, config={}, clock=lambda: 0.0) as ctx:
        for m in messages:
            if m["role"] == "assistant":
                ctx.view()
            ctx.append(m)
        view = shown(ctx.view())
        assert len(ctx.epochs) >= 3
        edited = {e.message for e in ctx.edits}
        unsaid = [i for i, m in enumerate(messages) if json.dumps(m["content"])[1:-1] not in view and i not in edited]
        assert unsaid == []
        assert all(e.reference for e in ctx.edits if e.part < 0)


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize("steps", [0, 1, 3, 9])
def test_users_words_stay_in_view_wherever_the_epochs_cut(wire, steps):
    """Short messages, far under the budget: each is there at every request, whichever message the handoff met."""
    said = []
    with clew.Context(24_000, wire=wire, config={}, clock=lambda: 0.0) as ctx:
        for n in range(0, 120, max(steps, 1)):
            said.append(spoken(n))
            ctx.append({"role": "user", "content": said[-1]})
            for k in range(n, n + steps):
                view = shown(ctx.view())
                assert [s for s in said if s not in view] == []
                ctx.extend(worked(wire, k))
            ctx.view()
            ctx.append(answered(n))
        assert len(ctx.epochs) >= 4
