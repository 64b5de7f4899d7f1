"""What users call, in all three wires: whatever goes in can be asked for again."""

from __future__ import annotations

import asyncio
import copy
import json

import pytest

from clew import Context, Epoch, Refusal, compress
from clew.context import tools as recall_tools
from clew.errors import Closed, ConfigError, InputError, UnknownReference, WireError
from clew.testing.conversations import Shape, chat, in_wire
from clew.wire import get
from clew.wire.problems import problems

WIRES = ("openai-chat", "anthropic", "openai-responses")
LONG = Shape(turns=5, calls=8, parallel=2, length=300)


def filled(wire="openai-chat", *, seed=1, shape=LONG, **given):
    ctx = Context(**{"window": 12_000, "wire": wire, "config": {}, "clock": lambda: 0.0, **given})
    messages = in_wire(chat(seed, shape), wire)
    ctx.extend(messages)
    return ctx, messages


@pytest.mark.parametrize("wire", WIRES)
def test_a_short_conversation_comes_out_as_it_went_in(wire):
    messages = in_wire(chat(2, Shape(turns=2, calls=2, length=20, repeat=0)), wire)
    with Context(wire=wire, config={}) as ctx:
        for m in messages:
            ctx.append(m)
        assert ctx.view() == messages
        assert asyncio.run(ctx.aview()) == messages
        assert ctx.edits == ()
        assert ctx.status()["epochs"] == 0


@pytest.mark.parametrize("wire", WIRES)
def test_compacting_shortens_the_view_and_loses_nothing(wire):
    ctx, messages = filled(wire)
    before = ctx.status()["used"]
    made = ctx.compact()
    assert isinstance(made, Epoch)
    assert ctx.status()["used"] < before
    assert made.receipt.holds
    assert ctx.receipts == (made.receipt,)
    assert problems(list(ctx.view_messages()), wire) == []
    assert [m.value for m in ctx._log.transcript] == messages
    assert {e.reference for e in ctx.edits if e.reference}
    for e in ctx.edits:
        assert ctx.recall(e.reference)


@pytest.mark.parametrize("wire", WIRES)
def test_request_holds_what_a_body_needs(wire):
    tools = [{"type": "function", "name": "bash", "parameters": {"type": "object"}}]
    system = "You are a careful engineer."
    ctx = Context(wire=wire, config={}, tools=tools, system=system)
    ctx.append({"role": "user", "content": "Hello"})
    request = ctx.request()
    assert request["tools"] == tools
    key = get(wire).system_key
    if key:
        assert request[key] == system
    else:
        assert request["messages"][0] == {"role": "system", "content": system}
    assert request[get(wire).messages_key][-1]["content"] == "Hello"
    request["tools"].append("mine")
    request[get(wire).messages_key].clear()
    assert ctx.request()["tools"] == tools
    assert ctx.view()


def test_what_is_appended_is_copied_and_what_is_returned_is_the_callers():
    ctx = Context(config={})
    message = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
    given = copy.deepcopy(message)
    ctx.append(given)
    given["content"][0]["text"] = "changed"
    view = ctx.view()
    view[0]["content"][0]["text"] = "changed"
    assert ctx.view() == [message]


@pytest.mark.parametrize("wire", WIRES)
def test_a_host_that_copies_its_transcript_gets_the_same_bytes(wire):
    messages = in_wire(chat(1, LONG), wire)
    views = []
    for given in (messages, copy.deepcopy(messages), json.loads(json.dumps(messages))):
        ctx = Context(12_000, wire=wire, config={}, clock=lambda: 0.0)
        for m in given:
            ctx.append(copy.deepcopy(m))
            ctx.view()
        views.append([m.raw for m in ctx.view_messages()])
        assert ctx.epochs
    assert views[0] == views[1] == views[2]


def test_extend_takes_all_or_none():
    ctx = Context(config={})
    ctx.append({"role": "user", "content": "Hello"})
    for bad in ("no message", {"role": 7, "content": "x"}, {"content": "x"}, None):
        with pytest.raises(WireError):
            ctx.extend([{"role": "assistant", "content": "Hi"}, bad])
    assert len(ctx.view()) == 1


@pytest.mark.parametrize("wire", WIRES)
def test_undo_goes_back_epoch_by_epoch_to_the_whole(wire):
    ctx, messages = filled(wire, shape=Shape(turns=4, calls=9, length=500, repeat=0), window=200_000)
    assert isinstance(ctx.compact(), Epoch)
    first = ctx.view()
    more = in_wire(chat(9, Shape(turns=6, calls=9, length=500, system=False, repeat=0)), wire)
    renamed = json.loads(json.dumps(more).replace("call_", "later_"))
    ctx.extend(renamed)
    assert isinstance(ctx.compact(), Epoch)
    assert ctx.undo().number == 2
    assert ctx.view()[: len(first)] == first
    assert ctx.view()[-len(renamed) :] == renamed
    assert ctx.undo().number == 1
    assert ctx.view() == [*messages, *renamed]
    assert ctx.undo() is None


def test_view_at_shows_each_moment():
    ctx, messages = filled()
    whole = len(messages)
    ctx.compact()
    assert ctx.view_at(whole) == ctx.view()
    assert ctx.view_at(3) == messages[:3]
    assert ctx.view_at(0) == []
    for n in (-1, whole + 1):
        with pytest.raises(InputError):
            ctx.view_at(n)


@pytest.mark.parametrize("wire", WIRES)
def test_search_finds_what_left_the_view_first_and_recall_prints_it(wire):
    ctx, _ = filled(wire)
    ctx.compact()
    hits = ctx.search("Turn 0")
    assert hits
    assert not hits[0].in_view
    assert "turn 0" in ctx.recall(hits[0].reference).lower()
    assert ctx.search("") == []
    assert ctx.search("no such words anywhere") == []
    with pytest.raises(UnknownReference):
        ctx.recall("clew:aaaaaaaaaaaa")


@pytest.mark.parametrize("wire", WIRES)
def test_search_finds_calls_by_the_tools_name_and_by_values_that_json_spells_otherwise(wire):
    ctx = Context(wire=wire, config={})
    arguments = json.dumps({"path": 'src/größe.py\nsecond "line"'})  # escaped in the call's JSON
    call = {"id": "c1", "type": "function", "function": {"name": "mcp__files__mark_it", "arguments": arguments}}
    chat_ = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    ctx.extend(in_wire([*chat_, {"role": "tool", "tool_call_id": "c1", "content": "done"}], wire))
    for wanted in ("mcp__files__mark_it", "src/größe.py", 'second "line"'):
        assert [h.role for h in ctx.search(wanted)] == ["assistant"], wanted


@pytest.mark.parametrize("wire", WIRES)
def test_the_tools_answer_in_words_also_where_the_call_is_wrong(wire):
    ctx, _ = filled(wire, recall="tool")
    ctx.compact()
    names = {t.get("name") or t["function"]["name"] for t in ctx.tools()}
    assert names == {"clew_recall", "clew_search"}
    ref = next(e.reference for e in ctx.edits)
    whole = ctx.handle_call("clew_recall", {"ref": ref})
    assert whole == ctx.recall(ref)
    assert ctx.handle_call("clew_recall", json.dumps({"ref": ref, "lines": "1-1"})) == whole.split("\n")[0]
    assert "no range of lines" in ctx.handle_call("clew_recall", {"ref": ref, "lines": "a-b"})
    assert "known" in ctx.handle_call("clew_recall", "{broken")
    assert ref.startswith("clew:")
    assert "turn 0" in ctx.handle_call("clew_search", {"query": "Turn 0"}).lower()
    assert ctx.handle_call("clew_search", {"query": "no such words"}) == "Nothing was found."
    with pytest.raises(InputError):
        ctx.handle_call("bash", {})


@pytest.mark.parametrize(
    ("lines", "shown"),
    [("", "a\nb\nc\nd"), ("2", "b"), ("2-3", "b\nc"), ("3-", "c\nd"), ("-2", "a\nb"), (" 2 - 9 ", "b\nc\nd")],
)
def test_a_model_asks_for_lines_as_a_person_does(lines, shown):
    assert recall_tools.line_range("a\nb\nc\nd", lines) == shown


@pytest.mark.parametrize("lines", ["a-b", "0-2", "3-1", "5", "-"])
def test_a_range_that_is_none_is_told_in_words_and_not_answered_with_everything(lines):
    said = recall_tools.line_range("a\nb\nc\nd", lines)
    assert "line" in said
    assert "a\nb" not in said


def test_the_ledger_and_the_status_speak_of_the_conversation():
    ctx, messages = filled()
    assert ctx.ledger.seen == len(messages)
    assert ctx.ledger.requests[0].text.startswith("Turn 0")
    status = ctx.status()
    assert "nothing has been compacted yet" in status["sentence"]
    ctx.compact()
    status = ctx.status()
    assert status["epochs"] == 1
    assert status["written_by"] == "ledger"
    assert "epoch 1" in status["sentence"]
    assert json.dumps(status)


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        ("openai-chat", {"prompt_tokens": 9_000, "completion_tokens": 10}),
        ("openai-responses", {"input_tokens": 9_000, "output_tokens": 10}),
        ("anthropic", {"input_tokens": 1_000, "cache_read_input_tokens": 8_000, "output_tokens": 10}),
    ],
)
def test_what_the_provider_counted_is_believed(wire, usage):
    ctx = Context(20_000, wire=wire, config={}, threshold=0.4)
    ctx.extend(in_wire(chat(3, Shape(turns=4, calls=4, length=60)), wire))
    ctx.view()
    assert not ctx.epochs
    ctx.report(usage)
    assert ctx.status()["used"] == 9_000
    ctx.report({})
    ctx.report({"nothing": "known"})
    assert ctx.status()["used"] == 9_000
    ctx.append({"role": "user", "content": "Go on."})
    ctx.view()
    assert ctx.epochs


def test_a_closed_context_says_so_and_what_it_knew_can_still_be_read():
    ctx, _ = filled()
    ctx.compact()
    ctx.close()
    ctx.close()
    for use in (
        lambda: ctx.append({"role": "user", "content": "x"}),
        ctx.view,
        ctx.compact,
        ctx.make_fit,
        ctx.undo,
        lambda: ctx.report({"prompt_tokens": 5, "completion_tokens": 1}),
        lambda: asyncio.run(ctx.aview()),
    ):
        with pytest.raises(Closed):
            use()
    assert ctx.status()["phase"] == "closed"
    assert ctx.search("Turn 0")
    assert not ctx.cancel()


def test_compress_is_one_call():
    messages = chat(1, LONG)
    done = compress(messages, 12_000, config={})
    assert done.receipt is done.epoch.receipt
    assert done.refusal is None
    assert len(done.messages) < len(messages)
    small = compress(messages[:2], config={})
    assert small.messages == messages[:2]
    assert isinstance(small.refusal, Refusal)
    assert small.epoch is None


def test_too_little_to_compact_is_reported_and_changes_nothing():
    ctx = Context(config={})
    ctx.extend([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])
    view = ctx.view()
    outcome = ctx.compact()
    assert isinstance(outcome, Refusal)
    assert outcome.kind == "nothing"
    assert outcome.reason in ctx.status()["sentence"]
    assert ctx.view() == view


@pytest.mark.parametrize(
    "given", [{"threshold": 0}, {"threshold": 1.2}, {"window": 900, "max_output": 800}, {"prepare_ahead": 2}]
)
def test_settings_that_leave_no_room_are_refused(given):
    with pytest.raises(ConfigError):
        Context(config={}, **given)


def test_items_of_responses_are_no_turns_that_have_to_alternate():
    config = {"models": {"strict": {"window": 4_000, "quirks": {"alternation": True}}}}
    ctx, _ = filled("openai-responses", model="strict", window=4_000, config=config)
    assert isinstance(ctx.compact(), Epoch)
    assert problems(list(ctx.view_messages()), "openai-responses") == []


@pytest.mark.parametrize("args", ["[1]", "5", '"clew:aaaaaaaaaaaa"', "null", ""])
def test_a_call_whose_arguments_are_no_object_is_answered_in_words(args):
    ctx = Context(config={})
    assert "known" in ctx.handle_call("clew_recall", args)
    assert ctx.handle_call("clew_search", args) == "Nothing was found."


def test_a_window_of_nothing_is_an_error_and_not_the_default():
    with pytest.raises(ConfigError, match="leaves no room"):
        Context(0, config={})
