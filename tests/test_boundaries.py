"""Cuts: never inside a group, anchors where they fit, three messages whatever they cost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.boundaries import HARD_FLOOR, choose, head_end, last_reply, last_user_turn, legal_cuts
from clew.testing.conversations import Shape, chat, in_wire
from clew.transcript import Place, Span, Transcript
from clew.wire import get

shapes = st.builds(
    Shape, turns=st.integers(1, 4), calls=st.integers(0, 6), parallel=st.integers(1, 3), length=st.just(5)
)
some = settings(max_examples=60, deadline=None)


def log_of(messages, wire="openai-chat"):
    return Transcript(get(wire).message(m) for m in in_wire(messages, wire))


@some
@given(st.integers(0, 999), shapes, st.sampled_from(["openai-chat", "anthropic", "openai-responses"]))
def test_no_legal_cut_parts_a_call_from_its_result(seed, shape, wire):
    log = log_of(chat(seed, shape), wire)
    cuts = set(legal_cuts(log, Span(0, len(log))))
    for i, m in enumerate(log):
        for k in range(len(m.parts)):
            result = log.result_of(Place(i, k))
            if result is not None:
                assert not cuts & set(range(i + 1, result.message + 1))
    assert len(log) in cuts or log.open_calls()


@some
@given(st.integers(0, 999), shapes, st.integers(10, 2_000), st.integers(1, 30))
def test_the_chosen_cut_is_legal_and_leaves_the_newest(seed, shape, budget, keep):
    log = log_of(chat(seed, shape))
    span = Span(1, len(log))
    sizes = [10 * (i % 7 + 1) for i in range(len(span))]
    cut = choose(log, sizes, span, target=budget // 2, budget=budget, keep_last=keep)
    if cut is None:
        return
    assert cut.tail in legal_cuts(log, span)
    assert span.start < cut.tail < span.end
    floor = [c for c in legal_cuts(log, span) if span.start < c <= span.end - HARD_FLOOR]
    if floor:
        assert span.end - cut.tail >= HARD_FLOOR
    if sum(sizes[-keep:]) <= budget and len(sizes) > keep:
        reach = [c for c in legal_cuts(log, span) if span.start < c <= span.end - keep]
        assert not reach or span.end - cut.tail >= keep or sum(sizes[max(reach) - span.start :]) > budget


def test_a_call_that_never_got_its_result_bars_no_cut_once_the_agent_went_on():
    talk = chat(3, Shape(turns=3, calls=2))
    dead = {"id": "dead", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    broken = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": None, "tool_calls": [dead]}]
    log = log_of([*broken, {"role": "user", "content": "Stop that."}, *talk[1:]])
    assert [p.message for p in log.open_calls()] == [1]
    cuts = legal_cuts(log, Span(0, len(log)))
    assert len([c for c in cuts if c > 3]) > 3
    assert len(log) in cuts


def test_the_last_user_turn_and_reply_stay_where_they_fit():
    log = log_of(chat(3, Shape(turns=3, calls=2)))
    span = Span(1, len(log))
    sizes = [10] * len(span)
    cut = choose(log, sizes, span, target=10, budget=10_000, keep_last=1)
    assert cut.tail <= last_user_turn(log, len(log))
    assert cut.tail <= last_reply(log, len(log))
    assert cut.user_in_tail
    assert cut.reply_in_tail


def test_the_head_is_system_and_three_messages_and_then_decays():
    log = log_of(chat(5, Shape(turns=3, calls=3, parallel=2)))
    assert head_end(log, 3, compacted=True) == 1
    assert head_end(log, 0, compacted=False) == 1
    first = head_end(log, 3, compacted=False)
    assert first >= 4
    assert first in legal_cuts(log, Span(1, len(log)))


def test_sealed_reasoning_stays_with_its_answer():
    items = [
        {"type": "message", "role": "user", "content": "go"},
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "xyz"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "ok"},
        {"type": "message", "role": "user", "content": "and?"},
    ]
    log = Transcript(get("openai-responses").message(i) for i in items)
    assert legal_cuts(log, Span(0, 6)) == [0, 1, 5, 6]


def test_no_cut_parts_the_calls_of_an_answer_that_still_waits_for_results():
    items = [{"role": "user", "content": "Go."}]
    items += [{"type": "function_call", "call_id": f"c{n}", "name": "bash", "arguments": "{}"} for n in range(3)]
    items.append({"type": "function_call_output", "call_id": "c1", "output": "ok"})
    log = Transcript(get("openai-responses").message(i) for i in items)
    assert legal_cuts(log, Span(0, len(log))) == [0, 1]
