"""Eight behaviours that break the engine Clew has to beat, as seen in live runs; none of them here."""

from __future__ import annotations

import json
import re

import pytest

from clew import Context, Epoch
from clew.handoff.template import BANNER, SECTIONS
from clew.ledger.tools import unwrap
from clew.strategies.digest import line
from clew.transcript import Text as Words
from clew.transcript import ToolCall, ToolResult

SYSTEM = {"role": "system", "content": "You are a careful engineer."}


def tool_loop(calls, *, length=900, start=0, task="Find out why order ORDER-77123 failed and write report.md."):
    """One user turn, then as many calls as are wanted."""
    messages = [SYSTEM, {"role": "user", "content": task}] if not start else []
    for n in range(start, start + calls):
        arguments = json.dumps({"command": f"grep -n failure-{n} logs/part_{n}.log"})
        call = {"id": f"c{n}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
        body = "\n".join(f"{n}:{k}: entry_{n}_{k} worker={k % 7} state=done" for k in range(length // 12))
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": body},
        ]
    return messages


def play(messages, **given):
    ctx = Context(**{"window": 16_000, "config": {}, "clock": lambda: 0.0, **given})
    sizes = []
    for m in messages:
        if m["role"] == "assistant":
            sizes.append(sum(ctx._log.count(x) for x in ctx.view_messages()))
        ctx.append(m)
    ctx.view()
    return ctx, sizes


def summary(prompt: str, max_tokens: int) -> str:
    assert prompt
    assert max_tokens
    ran = list(dict.fromkeys(re.findall(r"grep -n failure-\d+ logs/part_\d+\.log", prompt)))[:40]
    actions = "\n".join(f"{n}. RUN `{command}` — 75 lines [tool: bash]" for n, command in enumerate(ran, 1))
    said = {"Goal": "Find out why order ORDER-77123 failed.", "Completed Actions": actions}
    return "\n\n".join(f"## {s}\n{said.get(s, 'None.')}" for s in SECTIONS)


@pytest.mark.parametrize("summarizer", [None, summary])
def test_a_run_with_one_user_turn_compacts_as_well_at_the_tenth_epoch_as_at_the_first(summarizer):
    ctx, sizes = play(tool_loop(400), summarizer=summarizer)
    assert len(ctx.epochs) >= 10
    early, late = ctx.receipts[1], ctx.receipts[9]
    assert late.after <= 1.5 * early.after
    assert max(sizes) <= ctx._state.limits.hard
    assert max(sizes[300:]) <= 1.3 * max(sizes[:200])
    assert any("ORDER-77123" in m["content"] for m in ctx.view() if m["role"] == "user")


def test_large_outputs_in_a_small_window_dont_thrash():
    ctx, _ = play(tool_loop(30, length=6_800), window=64_000)
    assert len(ctx.epochs) <= 12
    assert ctx.status()["strikes"] < 2


def test_never_two_handoffs_and_no_nested_banners_after_many_rounds():
    ctx, _ = play(tool_loop(500))
    assert len(ctx.epochs) >= 20
    assert json.dumps(ctx.view()).count(BANNER) == 1


def test_what_was_archived_is_found_from_its_own_session(tmp_path):
    messages = tool_loop(120)
    ctx, _ = play(messages, store=f"sqlite:///{tmp_path}/s.sqlite", session_id="one")
    view = json.dumps(ctx.view())
    assert "entry_3_7" not in view
    hits = ctx.search("entry_3_7")
    assert hits
    assert not hits[0].in_view
    assert "entry_3_7" in ctx.recall(hits[0].reference)


def test_the_first_message_stays_a_users_and_each_message_is_stored_once(tmp_path):
    from clew import open_store

    messages = tool_loop(60)
    for turn in range(5):
        messages += [
            {"role": "assistant", "content": f"Part {turn} is done."},
            {"role": "user", "content": f"Go on with part {turn + 1}."},
            *tool_loop(20, start=100 * (turn + 1)),
        ]
    url = f"sqlite:///{tmp_path}/s.sqlite"
    ctx, _ = play(messages, store=url, session_id="one")
    spoken = [m for m in ctx.view() if m["role"] != "system"]
    assert spoken[0]["role"] == "user"
    assert len(open_store(url).messages("one")) == len(messages)


def test_the_summariser_reads_the_originals_and_wrapped_output_is_counted_by_its_own_lines():
    asked = []

    def write(prompt, max_tokens):
        asked.append(prompt)
        return summary(prompt, max_tokens)

    messages = tool_loop(40)
    play(messages, summarizer=write)
    assert "entry_2_3 worker=3 state=done" in "\n".join(asked)
    wrapped = ToolResult("c", (Words(json.dumps({"output": "a\nb\nc", "exit_code": 1})),))
    assert unwrap(wrapped).lines == 3
    call = ToolCall("c", "terminal", json.dumps({"command": "npm test"}))
    assert line(call, wrapped) == "[terminal] ran `npm test` -> exit 1, 3 lines"


def test_savings_are_those_of_the_views_real_size():
    ctx, _ = play(tool_loop(100))
    for paper in ctx.receipts:
        assert paper.saved == paper.before - paper.after
    last = ctx.epochs[-1]
    base = sum(ctx._log.count(m) for m in last.base.messages)
    tail = sum(
        ctx._log.size(i) - sum(e.saved for e in last.base.edits.get(i, ())) for i in range(last.base.tail, last.at)
    )
    assert last.receipt.after == base + tail


def test_after_an_auth_failure_a_new_context_knows_nothing_of_it():
    from clew.errors import SummaryError

    def locked_out(prompt, max_tokens):
        raise SummaryError("no such key", kind="auth")

    ctx, _ = play(tool_loop(60), summarizer=locked_out)
    assert ctx.status()["last_error"]
    fresh, _ = play(tool_loop(60), summarizer=summary)
    assert not fresh.status()["last_error"]
    assert isinstance(fresh.compact(), Epoch) or fresh.epochs
