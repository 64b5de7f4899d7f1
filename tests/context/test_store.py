"""With a store: another process shows the same bytes, finds every original, and two on one session don't fight."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading

import pytest

from clew import Context, Epoch
from clew.errors import StoreError
from clew.recall import current, discover
from clew.store import open_store
from clew.testing.conversations import Shape, chat, in_wire
from clew.testing.model import Scripted

WIRES = ("openai-chat", "anthropic", "openai-responses")
LONG = Shape(turns=6, calls=9, parallel=2, length=300, repeat=3)

READER = """
import json, sys
from clew import Context
url, wire, refs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
ctx = Context(12_000, wire=wire, config={}, clock=lambda: 0.0, store=url, session_id="one")
view = [m.raw.decode() for m in ctx._view.messages]
found = [ctx.recall(r) for r in refs]
print(json.dumps({"view": view, "found": found, "epochs": len(ctx.epochs), "hits": len(ctx.search("Turn 0"))}))
"""


def opened(url, wire="openai-chat", **given):
    return Context(
        **{
            "window": 12_000,
            "wire": wire,
            "config": {},
            "clock": lambda: 0.0,
            "store": url,
            "session_id": "one",
            **given,
        }
    )


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/clew.sqlite"


def play(ctx, messages):
    for m in messages:
        if m.get("role") == "assistant" or m.get("type") == "function_call":
            ctx.view()
        ctx.append(m)
    ctx.view()


@pytest.mark.parametrize("wire", WIRES)
def test_another_process_shows_the_same_bytes_and_finds_every_original(url, wire):
    with opened(url, wire, recall="clew recall REF") as ctx:
        play(ctx, in_wire(chat(5, LONG), wire))
        assert len(ctx.epochs) >= 2
        refs = sorted({e.reference for e in ctx.edits} | {r for p in ctx.receipts for r in p.references})
        texts = [ctx.recall(r) for r in refs]
        view = [m.raw.decode() for m in ctx._view.messages]
        epochs = len(ctx.epochs)
    told = subprocess.run(
        [sys.executable, "-c", READER, url, wire, json.dumps(refs)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    there = json.loads(told.stdout)
    assert there["view"] == view
    assert there["found"] == texts
    assert there["epochs"] == epochs
    assert there["hits"] > 0


@pytest.mark.parametrize("wire", WIRES)
def test_going_on_after_a_restart_is_as_if_there_had_been_none(url, wire, tmp_path):
    messages = in_wire(chat(7, LONG), wire)
    half = len(messages) // 2
    while messages[half].get("role") != "user" or messages[half].get("type") == "function_call_output":
        half += 1
    with opened(url, wire) as ctx:
        play(ctx, messages[:half])
    with opened(url, wire) as ctx:
        play(ctx, messages[half:])
        broken = [m.raw for m in ctx._view.messages]
    with opened(f"sqlite:///{tmp_path}/whole.sqlite", wire) as ctx:
        play(ctx, messages[:half])
        play(ctx, messages[half:])
        assert [m.raw for m in ctx._view.messages] == broken


def test_what_was_undone_stays_undone_after_a_restart(url):
    with opened(url) as ctx:
        play(ctx, chat(5, LONG))
        before = len(ctx.epochs)
        ctx.undo()
        ctx.undo()
        view = [m.raw for m in ctx._view.messages]
    with opened(url) as again:
        assert len(again.epochs) == before - 2
        assert [m.raw for m in again._view.messages] == view
        made = again.compact()
        assert isinstance(made, Epoch)
        assert again.undo().number == made.number
    with opened(url) as third:
        assert len(third.epochs) == before - 2
        assert [m.raw for m in third._view.messages] == view


def test_the_counters_go_on_where_they_were(url):
    with opened(url) as ctx:
        play(ctx, chat(3, Shape(turns=2, calls=3, length=60)))
        ctx.report({"prompt_tokens": 4_000, "completion_tokens": 5})
        status = ctx.status()
    with opened(url) as again:
        assert {k: v for k, v in again.status().items() if k != "sentence"} == {
            k: v for k, v in status.items() if k != "sentence"
        }


def test_of_two_on_one_session_the_slower_takes_the_fasters_epoch_over(url):
    messages = chat(5, Shape(turns=4, calls=7, length=250))
    with opened(url, window=30_000) as one:
        one.extend(messages)
        with opened(url, window=30_000) as two:
            made = one.compact()
            assert isinstance(made, Epoch)
            outcome = two.compact()
            assert not isinstance(outcome, Epoch)
            assert outcome.kind == "busy"
            assert len(two.epochs) == 1
            assert [m.raw for m in two._view.messages] == [m.raw for m in one._view.messages]
            assert two.status()["used"] == one.status()["used"]
    assert len(open_store(url).epochs("one")) == 1


def test_while_a_model_writes_in_one_process_another_neither_compacts_nor_loses_anything(url):
    started, go = threading.Event(), threading.Event()

    def slow(_prompt, _most):
        started.set()
        assert go.wait(20)
        return "I'm sorry, but I can't help with that."

    messages = chat(5, Shape(turns=4, calls=7, length=250))
    one = opened(url, window=30_000, summarizer=slow)
    one.extend(messages)
    two = opened(url, window=30_000)
    outcome = []
    worker = threading.Thread(target=lambda: outcome.append(one.compact()))
    worker.start()
    assert started.wait(20)
    refused = two.compact()
    assert not isinstance(refused, Epoch)
    assert refused.kind == "busy"
    go.set()
    worker.join(20)
    assert isinstance(outcome[0], Epoch)
    assert two.compact().kind in ("busy", "nothing", "larger")
    assert len(two.epochs) == 1
    one.close()
    two.close()


@pytest.mark.parametrize("patient", [False, True])
def test_at_the_wall_a_view_waits_for_who_is_compacting(url, patient):
    """The other one holds the right to compact; it is done a moment later."""
    store = open_store(url)
    with opened(url, window=9_000) as ctx:
        ctx.extend(chat(5, Shape(turns=4, calls=7, length=250)))
        other = store.acquire("one", "another", 60.0)
        assert other is not None
        timer = threading.Timer(0.3, store.release, (other,))
        timer.start()
        view = asyncio.run(ctx.aview()) if patient else ctx.view()
        timer.join()
        assert len(ctx.epochs) == 1
        assert len(view) < len(ctx._log.transcript)
    store.close()


def test_a_message_another_process_wrote_first_is_a_conflict_and_nothing_is_taken(url):
    with opened(url) as one, opened(url) as two:
        one.append({"role": "user", "content": "First."})
        with pytest.raises(StoreError):
            two.append({"role": "user", "content": "Also first."})
        assert two.view() == []
        assert len(open_store(url).messages("one")) == 1


def test_a_context_closes_the_store_it_opened_and_no_other(url):
    store = open_store(url)
    with Context(config={}, store=store, session_id="mine") as ctx:
        ctx.append({"role": "user", "content": "Hello"})
    assert len(store.messages("mine")) == 1
    store.close()


def test_a_summariser_sees_no_secret_and_the_store_holds_the_original(url):
    secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    asked = Scripted("I'm sorry, but I can't help with that.")
    messages = chat(5, Shape(turns=3, calls=7, length=250))
    messages.insert(2, {"role": "user", "content": f"The token is {secret}; keep it to yourself."})
    with opened(url, summarizer=asked, window=30_000) as ctx:
        ctx.extend(messages)
        ctx.compact()
        assert asked.prompts
        assert not any(secret in p for p in asked.prompts)
        assert secret not in ctx.epochs[-1].handoff
    assert any(secret in s.message.text for s in open_store(url).messages("one"))


def test_what_a_view_left_out_or_cut_is_found_and_what_it_shows_is_not(url):
    """The store knows what a running conversation has in view, for a search that starts in another process."""
    with opened(url, recall="clew recall REF") as ctx:
        ctx.append({"role": "system", "content": "You are careful with needle0."})
        for n in range(1, 30):
            rows = 1500 if n == 28 else 60
            ctx.append({"role": "user", "content": f"request {n} about needle{n}"})
            call = {"id": f"c{n}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
            ctx.append({"role": "assistant", "content": None, "tool_calls": [call]})
            output = "\n".join(f"row {i} of run {n}: mark{n}x{i}" for i in range(rows))
            ctx.append({"role": "tool", "tool_call_id": f"c{n}", "content": output})
            view = json.dumps(ctx.view())
        assert ctx.epochs
    store = open_store(url)
    now = current(store, "one")
    assert now.cut, "the long output is shown in part"
    marks = [f"mark{n}x{i}" for n in range(1, 30) for i in (0, 30, 59)] + [f"mark28x{i}" for i in range(0, 1500, 50)]
    shown = {m for m in marks if re.search(rf"\b{m}\b", view)}
    assert shown
    for mark in marks:
        assert mark in shown or discover(store, mark, current=now).hits, mark
    assert not discover(store, "needle0", current=now).hits
    assert not discover(store, "needle29", current=now).hits
