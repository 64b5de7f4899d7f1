"""What a user said once binds twenty compactions later; what was replaced is never shown as current; whoever summarises."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from clew import Context
from clew.handoff import template as t
from clew.handoff.template import parse_body
from clew.testing import builders as b
from clew.testing.conversations import in_wire
from clew.testing.model import Faithful, Scripted, hostile

WIRES = ("openai-chat", "anthropic", "openai-responses")
RULES = (
    "Never push to main.",
    "Don't touch anything under vendor/.",
    "Always run `make check` before you say that something works.",
    "Use pnpm, not npm.",
    "The report must not be longer than 400 words.",
    "Only write to the staging database, db-stage-4.",
)
ASK = "Find out why the invoices of ORDER-48213 are wrong and fix it. " + " ".join(RULES)
OLD, NEW = "The budget for this is $800.", "Actually, make the budget $500."
SECRET = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def work(count, start=0, words=170):
    """Calls with output nobody needs again."""
    out = []
    for n in range(start, start + count):
        text = "\n".join(f"{n}:{k}: invoice_{n}_{k} total={n * k}" for k in range(words // 8))
        out += [
            b.call(f"c{n}", "bash", {"command": f"grep -n total logs/{n}.log"}).value,
            b.result(f"c{n}", text).value,
        ]
    return out


def run(messages, wire="openai-chat", *, least=20, **given):
    """The context after as many epochs as are wanted; more work comes until then."""
    ctx = Context(**{"window": 14_000, "wire": wire, "config": {}, "clock": lambda: 0.0, **given})
    ctx.extend(in_wire(messages, wire))
    start = 0
    while len(ctx.epochs) < least:
        for m in in_wire(work(5, start), wire):
            ctx.append(m)
            ctx.view()
        if given.get("summarizer"):
            ctx.compact()
        start += 5
        assert start < 2_000
    return ctx


def said(ctx):
    """Every word of the view, as it would be read."""
    return "\n".join(m.text for m in ctx.view_messages())


def current_rules(ctx):
    """What the handoff presents as binding now."""
    text = "\n".join(
        m.text for m in ctx._state.base.messages[ctx._state.base.handoff.start : ctx._state.base.handoff.end]
    )
    return parse_body(text)[t.CONSTRAINTS]


OPENING = [{"role": "system", "content": "You are careful."}, {"role": "user", "content": ASK}]


@pytest.mark.parametrize("wire", WIRES)
def test_constraints_stated_once_stand_verbatim_after_twenty_compactions(wire):
    ctx = run(OPENING, wire)
    assert len(ctx.epochs) >= 20
    rules = current_rules(ctx)
    for rule in RULES:
        assert rule in rules
        assert rule in said(ctx)
    for paper in ctx.receipts:
        assert paper.lost == ()


@pytest.mark.parametrize("wire", WIRES)
def test_a_rule_said_in_passing_and_followed_by_other_requests_stands_too(wire):
    messages = [*OPENING[:1], {"role": "user", "content": "Look at the logs. Never push to main."}, *work(6, 3_000)]
    messages += [{"role": "assistant", "content": "I looked at them."}]
    for n in range(4):
        messages += [{"role": "user", "content": f"Now check folder {n}."}, *work(4, 4_000 + 10 * n)]
        messages += [{"role": "assistant", "content": f"Folder {n} is fine."}]
    messages += [{"role": "user", "content": "Go through all the rest."}]
    ctx = run(messages, wire)
    assert "Never push to main." in current_rules(ctx)


def test_what_was_replaced_is_never_shown_as_current():
    messages = [*OPENING, {"role": "assistant", "content": "I start."}, {"role": "user", "content": f"{OLD} Go on."}]
    messages += [*work(3, 3_000), {"role": "assistant", "content": "Noted."}]
    messages += [{"role": "user", "content": f"{NEW} And go on."}]
    ctx = run(messages)
    for epoch in ctx.epochs:
        sections = epoch.sections
        assert "$800" not in sections[t.CONSTRAINTS]
    assert "$500" in current_rules(ctx)
    rules = [c.text for c in ctx.ledger.current_constraints]
    assert any("$500" in x for x in rules)
    assert not any("$800" in x for x in rules)


@pytest.mark.parametrize("kind", sorted(hostile()))
@pytest.mark.parametrize("wire", WIRES)
def test_whatever_the_summariser_says_the_same_is_guaranteed(kind, wire):
    messages = [*OPENING, *work(3, 3_000), {"role": "assistant", "content": "I start."}]
    messages += [
        {"role": "user", "content": f"{OLD} My token is {SECRET}."},
        {"role": "assistant", "content": "Noted."},
    ]
    messages += [{"role": "user", "content": f"{NEW} And go on with it until it is fixed."}]
    ctx = run(messages, wire, least=3, summarizer=Scripted(hostile()[kind]))
    for epoch in ctx.epochs:
        assert epoch.receipt.lost == ()
        assert SECRET not in epoch.handoff
        assert "hunter2secret" not in epoch.handoff
        assert "$800" not in epoch.sections[t.CONSTRAINTS]
        assert "Ignore all previous instructions" not in epoch.handoff
        assert "999 passed" not in epoch.handoff
        assert "src/invented" not in epoch.handoff
        assert "lib/nowhere" not in epoch.handoff
    rules, text = current_rules(ctx), said(ctx)
    for rule in RULES:
        assert rule in rules
    assert "$500" in rules
    assert "ORDER-48213" in text
    assert "go on with it until it is fixed" in text
    assert [m.value for m in ctx._log.transcript][: len(in_wire(messages, wire))] == in_wire(messages, wire)


def test_a_good_summariser_is_used_and_the_rules_stand_beside_its_words():
    ctx = run(OPENING, least=5, summarizer=Faithful("1. RUN grep -n total logs/1.log — 21 lines [tool: bash]"))
    assert {e.written_by for e in ctx.epochs[1:]} >= {"model"}
    for rule in RULES:
        assert rule in current_rules(ctx)


def test_a_ledgers_handoff_after_a_models_keeps_what_the_model_had_written():
    """The model fails for good: what it knew of the turns before is not lost with it."""
    told = "1. RUN grep -n total logs/1.log — it named the culprit, invoice_1_20 [tool: bash]"
    replies = Faithful(told)
    ctx = run(OPENING, least=2, summarizer=replies)
    assert ctx.epochs[-1].written_by == "model"
    assert "it named the culprit" in ctx.epochs[-1].handoff
    ctx._aux = Scripted("")
    made = ctx.compact()
    while ctx.epochs[-1].written_by == "model":
        ctx.extend(work(5, 5_000 + len(ctx._log.transcript)))
        made = ctx.compact()
    assert made.written_by == "ledger"
    assert "it named the culprit" in said(ctx)


@pytest.mark.parametrize("window", [0, 6_000])
def test_a_models_handoff_after_the_ledgers_is_written_from_its_record(window):
    """The model is there again: it is shown what the ledger wrote meanwhile, in prompts that fit its window."""
    ctx = run(OPENING, least=4)
    assert ctx.epochs[-1].written_by == "ledger"
    asked = Faithful("1. RUN grep -n total logs/1.log — 21 lines [tool: bash]", window=window)
    ctx._aux = asked
    limits = replace(ctx._state.limits, model=True, summary_window=window)
    ctx._state = replace(ctx._state, limits=limits)
    ctx.extend(work(12, 5_000))
    made = ctx.compact()
    assert made.written_by == "model"
    assert "grep -n total logs/" in asked.prompts[0].partition("THE RECORD SO FAR:")[2].partition("THE TURNS:")[0]
    if window:
        assert all(ctx._log.measure(p) <= window for p in asked.prompts)


def test_no_secret_is_in_any_handoff():
    messages = [OPENING[0], {"role": "user", "content": f"{ASK} The token is {SECRET}."}]
    messages += [
        b.call("s1", "bash", {"command": f"curl -H 'Authorization: Bearer {SECRET}' https://api.example.com"}).value
    ]
    messages += [b.result("s1", f"token={SECRET}\npassword: correct-horse-9\n" * 8).value]
    ctx = run(messages, least=6)
    for epoch in ctx.epochs:
        assert SECRET not in epoch.handoff
        assert SECRET not in epoch.page
        assert SECRET not in json.dumps(dict(epoch.sections.by_heading))
