"""Several threads and tasks on one context; calls that are given up; handoffs prepared in the background."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from clew import Context, Epoch
from clew.context.rendering import fold
from clew.errors import ClewError, SummaryError
from clew.testing import builders as b
from clew.testing.conversations import Shape, chat
from clew.testing.model import Faithful, Scripted
from clew.wire.problems import problems

LONG = Shape(turns=5, calls=8, parallel=2, length=300)
WAIT = 20.0


def context(**given):
    return Context(**{"window": 30_000, "config": {}, "clock": lambda: 0.0, **given})


class Held:
    """A summariser that waits until it is let go, or the call is given up."""

    window = 0

    def __init__(self, reply=None):
        self.started, self.go = threading.Event(), threading.Event()
        self.cancelled = False
        self._reply = reply or Faithful("1. RUN pytest — 1 lines [tool: bash]")

    def __call__(self, prompt, max_tokens, cancel=None):
        self.started.set()
        try:
            while not self.go.is_set():
                cancel.wait(0.01)
        except SummaryError:
            self.cancelled = True
            raise
        return self._reply(prompt, max_tokens)


def until(what):
    end = time.monotonic() + WAIT
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def test_eight_threads_append_and_view():
    ctx = context(window=20_000)
    ctx.append({"role": "user", "content": "Go."})
    trouble = []

    def work(n):
        try:
            for k in range(30):
                text = " ".join(f"w{n}_{k}_{i}" for i in range(40))
                ctx.extend(
                    [b.call(f"c{n}_{k}", "bash", {"command": f"run {n} {k}"}).value, b.result(f"c{n}_{k}", text).value]
                )
                view = ctx.view_messages()
                bad = [p for p in problems(list(view), "openai-chat", final=False) if p.code != "first-user"]
                if bad:
                    trouble.append(bad)
        except ClewError as e:
            trouble.append(e)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert trouble == []
    assert len(ctx._log.transcript) == 1 + 8 * 30 * 2
    assert ctx.epochs
    assert list(ctx._view.messages) == fold(ctx._log, ctx._epochs, ctx._arrival)


def test_while_a_model_writes_others_append_and_see_the_view_that_stood():
    held = Held()
    ctx = context(summarizer=held)
    ctx.extend(chat(1, LONG))
    before = [m.raw for m in ctx._view.messages]
    outcome = []
    worker = threading.Thread(target=lambda: outcome.append(ctx.compact()))
    worker.start()
    assert held.started.wait(WAIT)
    ctx.append({"role": "user", "content": "Meanwhile."})
    assert [m.raw for m in ctx.view_messages()][:-1] == before
    assert ctx.compact().kind == "busy"
    held.go.set()
    worker.join(WAIT)
    assert isinstance(outcome[0], Epoch)
    assert outcome[0].written_by == "model"
    assert ctx.view()[-1]["content"] == "Meanwhile."


def test_cancelling_ends_the_call_and_changes_nothing():
    held = Held()
    ctx = context(summarizer=held)
    ctx.extend(chat(1, LONG))
    before = [m.raw for m in ctx._view.messages]
    outcome = []
    worker = threading.Thread(target=lambda: outcome.append(ctx.compact()))
    worker.start()
    assert held.started.wait(WAIT)
    assert ctx.cancel()
    worker.join(WAIT)
    assert held.cancelled
    assert not isinstance(outcome[0], Epoch)
    assert [m.raw for m in ctx._view.messages] == before
    assert ctx.status()["phase"] == "idle"
    assert not ctx.cancel()
    held.go.set()
    assert isinstance(ctx.compact(), Epoch)


def test_a_cancelled_task_gives_its_call_up_and_the_next_view_works():
    held = Held()
    ctx = context(summarizer=held, threshold=0.2)
    ctx.extend(chat(1, LONG))

    async def go():
        task = asyncio.create_task(ctx.aview())
        await asyncio.to_thread(held.started.wait, WAIT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert ctx.status()["phase"] == "idle"
    held.go.set()
    ctx.append({"role": "user", "content": "Go on."})
    ctx.view()
    assert ctx.epochs[-1].written_by == "model"


def test_the_event_loop_goes_on_while_a_model_writes():
    held = Held()
    ctx = context(summarizer=held, threshold=0.2)
    ctx.extend(chat(1, LONG))

    async def go():
        task = asyncio.create_task(ctx.aview())
        await asyncio.to_thread(held.started.wait, WAIT)
        ticks = 0
        for _ in range(5):
            await asyncio.sleep(0)
            ticks += 1
        held.go.set()
        view = await task
        return ticks, view

    ticks, view = asyncio.run(go())
    assert ticks == 5
    assert view == ctx.view()
    assert ctx.epochs[-1].written_by == "model"


def test_closing_ends_a_call_and_who_waited_is_told():
    held = Held()
    ctx = context(summarizer=held)
    ctx.extend(chat(1, LONG))
    errors = []

    def work():
        try:
            ctx.compact()
        except ClewError as e:
            errors.append(type(e).__name__)

    worker = threading.Thread(target=work)
    worker.start()
    assert held.started.wait(WAIT)
    ctx.close()
    worker.join(WAIT)
    assert held.cancelled
    assert errors == ["Closed"]


def test_an_interrupted_call_leaves_the_context_usable():
    def interrupted(_prompt, _most):
        raise KeyboardInterrupt

    ctx = context(summarizer=interrupted)
    ctx.extend(chat(1, LONG))
    with pytest.raises(KeyboardInterrupt):
        ctx.compact()
    assert ctx.status()["phase"] == "idle"
    assert ctx.epochs == ()


# --- prepared ahead ------------------------------------------------------------------------------------------------


def test_a_handoff_prepared_ahead_is_applied_when_it_is_due():
    held = Held()
    ctx = context(summarizer=held, prepare_ahead=0.4)
    messages = chat(1, Shape(turns=9, calls=9, parallel=2, length=300))
    for m in messages:
        ctx.append(m)
        if m["role"] == "tool":
            ctx.view()
        if held.started.is_set():
            break
    assert ctx.status()["phase"] == "summarising"
    before = len(ctx.epochs)
    held.go.set()
    until(lambda: ctx.status()["phase"] == "idle")
    assert len(ctx.epochs) == before == 0
    calls = iter(messages[len(ctx._log.transcript) :])
    while not ctx.epochs:
        ctx.append(next(calls))
        ctx.view()
    assert ctx.epochs[0].written_by == "model"


def test_a_summariser_that_fails_in_the_background_is_only_reported():
    asked = Scripted(SummaryError("no such key", kind="auth"))
    ctx = context(summarizer=asked, prepare_ahead=0.3)
    messages = chat(1, Shape(turns=3, calls=6, length=300, repeat=0))
    for m in messages:
        ctx.append(m)
        ctx.view()
        if asked.prompts:
            break
    until(lambda: ctx.status()["phase"] == "idle")
    assert ctx.status()["last_error"] == "no such key"
    assert ctx.epochs == ()


def test_without_it_nothing_is_asked_before_the_threshold():
    asked = Scripted("never")
    ctx = context(summarizer=asked)
    ctx.extend(chat(1, Shape(turns=2, calls=4, length=200)))
    assert ctx.status()["used"] < ctx.status()["threshold"]
    ctx.view()
    assert asked.prompts == []
