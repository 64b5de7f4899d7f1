"""Every key of `compression`: changing it changes what the engine does, or its page says who else reads it."""

from __future__ import annotations

import dataclasses
import json
from functools import cache

import pytest

from clew import Context, Epoch
from clew.config.schema import Compression
from clew.errors import SummaryError
from clew.handoff.page import Budget
from clew.testing import builders as b
from clew.testing.model import Scripted, record

WINDOW = 12_000

# Read by whoever stands around the engine: what their pages call them.
ELSEWHERE = {
    "in_place": "host",
    "hygiene_threshold": "gateway",
    "hygiene_min_messages": "Hygiene",
    "hygiene_hard_message_limit": "Hygiene",
}
VIEWS = {
    "enabled": False,
    "threshold": 0.7,
    "target_ratio": 0.6,
    "protect_last_n": 16,
    "protect_first_n": 0,
    "min_tail_messages": 15,
    "max_output": 4_000,
    "threshold_floor": 9_000,
    "threshold_ceiling": 3_000,
    "ledger_max_tokens": 300,
    "system_note": "system",
    "tail_soft_ceiling": 4.0,
}
SUMMARY = {
    "summary_min_tokens": 4_000,
    "summary_headroom": 2.0,
    "summary_ratio": 0.04,
    "summary_max_ratio": 0.05,
    "summary_max_tokens": 400,
}
OTHERS = {"abort_on_summary_failure", "min_saving", "max_strikes"}


def talk(count=34):
    """A request, calls whose results vary in length, and a question now and then."""
    out = [{"role": "system", "content": "You are careful."}, b.user("Check every part of src/.").value]
    for n in range(count):
        words = 240 if n % 9 == 5 else 10 + 8 * (n % 4)
        body = " ".join(f"line_{n}_{k}" for k in range(words))
        out += [b.call(f"c{n}", "bash", {"command": f"grep -n part_{n} src/file_{n}.py"}).value]
        out += [b.result(f"c{n}", body).value]
        if n % 9 == 7:
            out += [b.assistant(f"Part {n} is done.").value, b.user(f"Go on with part {n + 1}.").value]
    return out


def opened(compression, summarizer=None, window=WINDOW):
    settings = {"compression": {"protect_last_n": 4, **compression}}
    return Context(window, config=settings, clock=lambda: 0.0, summarizer=summarizer)


@cache
def views(**compression):
    """Every view of a session. So much of the threshold is the tail's that sixteen messages fit it."""
    roomy = {"target_ratio": 0.4} if "protect_last_n" in compression else {}
    ctx, seen = opened({**roomy, **compression}), []
    for m in talk():
        if m["role"] == "assistant":
            seen.append(json.dumps(ctx.view()))
        ctx.append(m)
    return seen


def test_every_key_is_tested_here_or_says_who_reads_it():
    fields = {f.name: f.metadata["doc"] for f in dataclasses.fields(Compression)}
    assert {*VIEWS, *SUMMARY, *OTHERS, *ELSEWHERE} == set(fields)
    for key, reader in ELSEWHERE.items():
        assert reader in fields[key]


@pytest.mark.parametrize("key", sorted(VIEWS))
def test_a_key_changes_what_is_sent(key):
    usual = {"protect_last_n": 4} if key == "protect_last_n" else {}
    assert views(**{key: VIEWS[key]}) != views(**usual)


@pytest.mark.parametrize("key", sorted(SUMMARY))
def test_a_key_changes_how_long_a_models_handoff_may_be(key):
    def most(**more):
        model = Scripted(record({"Goal": "Check src/."}))
        free = {"summary_min_tokens": 100, "summary_max_ratio": 0.5}
        ctx = opened({**free, **more}, model)
        ctx.extend(talk())
        ctx.compact()
        return model.limits[0]

    assert most(**{key: SUMMARY[key]}) != most()


@pytest.mark.parametrize(("abort", "made"), [(False, 1), (True, 0)])
def test_a_failed_summary_may_leave_everything_as_it_was(abort, made):
    ctx = opened({"abort_on_summary_failure": abort}, Scripted(SummaryError("down", kind="server")))
    ctx.extend(talk())
    ctx.compact()
    assert len(ctx.epochs) == made


@pytest.mark.parametrize(
    ("given", "strikes", "tighter"),
    [({}, 0, False), ({"min_saving": 0.9}, 4, True), ({"min_saving": 0.9, "max_strikes": 9}, 4, False)],
)
def test_strikes_come_by_the_share_and_the_number_that_are_set(given, strikes, tighter):
    ctx = opened(given)
    for n in range(4):
        ctx.extend([renamed(m, n) for m in talk(12)[1:]])
        assert isinstance(ctx.compact(), Epoch)
    assert ctx.status()["strikes"] == strikes
    assert (ctx.status()["level"] > 0) is tighter
    assert ("in a row" in ctx.status()["sentence"]) is tighter


def renamed(message, n):
    """The message with call ids that no other round has."""
    if "tool_call_id" in message:
        return {**message, "tool_call_id": f"{n}-{message['tool_call_id']}"}
    if "tool_calls" in message:
        return {**message, "tool_calls": [{**c, "id": f"{n}-{c['id']}"} for c in message["tool_calls"]]}
    return message


def test_the_ledgers_handoff_takes_about_what_is_set():
    def tokens(most):
        ctx = opened({"ledger_max_tokens": most}, window=200_000)
        for n in range(6):
            ctx.extend([renamed(m, n) for m in talk()[1:]])
            epoch = ctx.compact()
        return ctx._log.measure(epoch.handoff)

    small, large = tokens(1_500), tokens(6_000)
    assert small < 0.6 * large
    assert small <= 1_500 * 1.3  # what must be kept is kept, whatever it costs
    assert large <= 6_000 * 1.1
    both = Budget.of(100_000, most=2_000)
    assert both.cap + both.closing == pytest.approx(2_000, abs=2)
