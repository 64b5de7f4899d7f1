"""Whatever the conversation: the view is valid, bounded, stable, reproducible, and nothing is lost."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew import Context
from clew.context.rendering import fold
from clew.handoff.template import BANNER, END_MARKER
from clew.ledger.foreign import SHORT_BANNER
from clew.testing.conversations import Shape, chat, in_wire
from clew.wire import get
from clew.wire.problems import problems

WIRES = ("openai-chat", "anthropic", "openai-responses")
shapes = st.builds(
    Shape,
    turns=st.integers(1, 6),
    calls=st.integers(0, 12),
    parallel=st.integers(1, 3),
    length=st.integers(5, 900),
    repeat=st.sampled_from([0, 2, 5]),
)
some = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def played(messages, wire, window, **more):
    """The context after the whole conversation, and every view that was sent."""
    ctx = Context(window, wire=wire, config={}, clock=lambda: 0.0, **more)
    views = []
    for m in messages:
        if m.get("role") == "assistant" or m.get("type") in ("function_call", "reasoning"):
            views.append((ctx.view_messages(), len(ctx.epochs)))
        ctx.append(m)
    views.append((ctx.view_messages(), len(ctx.epochs)))
    return ctx, views


@pytest.mark.parametrize("wire", WIRES)
@some
@given(seed=st.integers(0, 10_000), shape=shapes, window=st.sampled_from([4_000, 6_000, 12_000, 40_000]))
def test_every_view_is_valid_bounded_and_stable(wire, seed, shape, window):
    messages = in_wire(chat(seed, shape), wire)
    ctx, views = played(messages, wire, window)
    limit = ctx._state.limits.hard
    for view, _ in views:
        assert sum(ctx._log.count(m) for m in view) <= limit
        assert [p for p in problems(list(view), wire, final=False) if p.code != "first-user"] == []
    for (before, epoch), (after, later) in pairwise(views):
        if epoch == later:
            assert after[: len(before)] == before
            assert [m.raw for m in after[: len(before)]] == [m.raw for m in before]


@pytest.mark.parametrize("wire", WIRES)
@some
@given(seed=st.integers(0, 10_000), shape=shapes)
def test_the_view_is_the_fold_of_the_log(wire, seed, shape):
    ctx, views = played(in_wire(chat(seed, shape), wire), wire, 8_000)
    assert [m.raw for m in views[-1][0]] == [m.raw for m in fold(ctx._log, ctx._epochs, ctx._arrival)]


@some
@given(seed=st.integers(0, 10_000), shape=shapes)
def test_the_same_conversation_gives_the_same_bytes(seed, shape):
    messages = chat(seed, shape)
    first, second = (played(messages, "openai-chat", 8_000)[1] for _ in range(2))
    assert [[m.raw for m in v] for v, _ in first] == [[m.raw for m in v] for v, _ in second]


@some
@given(seed=st.integers(0, 10_000), shape=shapes)
def test_asking_again_changes_nothing(seed, shape):
    ctx, _ = played(chat(seed, shape), "openai-chat", 8_000)
    once = ctx.view()
    epochs = len(ctx.epochs)
    for _ in range(3):
        if len(ctx.epochs) == epochs:
            assert ctx.view() == once or len(ctx.epochs) > epochs


@some
@given(seed=st.integers(0, 10_000), shape=shapes)
def test_nothing_is_lost(seed, shape):
    messages = chat(seed, shape)
    ctx, _ = played(messages, "openai-chat", 6_000)
    assert [m.value for m in ctx._log.transcript] == messages
    for e in ctx.edits:
        original = ctx.recall(e.reference)
        message = messages[e.message]
        if e.part >= 0 and isinstance(message.get("content"), str) and message["role"] == "tool":
            assert original == message["content"]
        else:
            assert original
    for m in messages:
        if m["role"] == "tool":
            word = m["content"].split()[0]
            assert ctx.search(word)


@some
@given(seed=st.integers(0, 10_000), shape=shapes, at=st.floats(0, 1))
def test_time_travel_shows_what_was_sent(seed, shape, at):
    messages = chat(seed, shape)
    ctx = Context(8_000, config={}, clock=lambda: 0.0)
    sent = {}
    for i, m in enumerate(messages):
        if m["role"] == "assistant":
            sent[i] = ctx.view()
        ctx.append(m)
    for i, view in sent.items():
        # an epoch made later at the same length can't have been seen then
        assert ctx.view_at(i) == view


@some
@given(seed=st.integers(0, 10_000), shape=shapes)
def test_undoing_every_epoch_gives_the_whole_back(seed, shape):
    messages = chat(seed, shape)
    ctx, _ = played(messages, "openai-chat", 8_000)
    while ctx.undo() is not None:
        pass
    assert [m.raw for m in ctx._view.messages] == [m.raw for m in fold(ctx._log, (), ctx._arrival)]
    shown = [json.loads(m.raw) for m in ctx._view.messages]
    changed = {e.message for e in ctx.edits}
    assert all(a == b for i, (a, b) in enumerate(zip(shown, messages, strict=True)) if i not in changed)


@pytest.mark.parametrize("wire", WIRES)
@some
@given(seed=st.integers(0, 10_000), shape=shapes)
def test_the_handoff_stands_once_and_the_first_message_is_a_user(wire, seed, shape):
    ctx, _ = played(in_wire(chat(seed, shape), wire), wire, 6_000)
    text = "\n".join(m.raw.decode() for m in ctx.view_messages())
    made = 1 if ctx.epochs else 0
    assert text.count(BANNER) + text.count(SHORT_BANNER) == made
    assert text.count(END_MARKER) == made
    spoken = [m for m in ctx.view_messages() if m.role not in ("system", "developer")]
    assert spoken[0].role == "user"
    assert get(wire).name == wire
