"""What is shortened on arrival, what at an epoch, and that a pointer never points to what is not in view."""

from __future__ import annotations

import json

import pytest

from clew import Context
from clew.ledger.tools import unwrap
from clew.strategies.digest import line
from clew.testing import builders as b
from clew.testing.conversations import in_wire
from clew.transcript import Text, ToolCall, ToolResult

WIRES = ("openai-chat", "anthropic", "openai-responses")
BODY = "\n".join(f"{n}: def function_{n}(): return {n}" for n in range(60))
OTHER = "\n".join(f"{n}: the quick {n} foxes" for n in range(60))


def read(number, text=BODY, path="src/a.py"):
    return [b.call(f"c{number}", "read", {"path": path}).value, b.result(f"c{number}", text).value]


def context(wire="openai-chat", **given):
    ctx = Context(**{"window": 30_000, "wire": wire, "config": {}, "clock": lambda: 0.0, **given})
    ctx.append({"role": "user", "content": "Read it."})
    return ctx


@pytest.mark.parametrize("wire", WIRES)
def test_a_result_that_repeats_one_in_view_points_to_it(wire):
    ctx = context(wire)
    for m in in_wire([*read(1), *read(2, OTHER), *read(3), *read(4)], wire):
        ctx.append(m)
    text = json.dumps(ctx.view())
    assert text.count("function_59") == 1
    assert text.count("Same output as the earlier `read src/a.py`") == 2
    assert "the quick 59 foxes" in text
    assert {e.strategy for e in ctx.edits} == {"dedupe"}
    assert all(ctx.recall(e.reference) == BODY for e in ctx.edits)
    assert ctx.epochs == ()


def test_a_short_result_and_a_picture_with_the_same_caption_are_left_alone():
    ctx = context("anthropic")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    for n in (1, 2):
        call = {"type": "tool_use", "id": f"t{n}", "name": "shot", "input": {}}
        seen = [{"type": "text", "text": BODY}] + ([image] if n == 2 else [])
        ctx.append({"role": "assistant", "content": [call]})
        ctx.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{n}", "content": seen}]})
    assert ctx.edits == ()
    short = context()
    short.extend([*read(1, "ok"), *read(2, "ok")])
    assert short.edits == ()


def test_no_pointer_outlives_what_it_points_to():
    """After an epoch the original may be gone: then the newest repetition is shown in full again."""
    ctx = context(window=12_000, recall="clew recall REF")
    ctx.extend(read(0))
    for n in range(1, 160):
        ctx.extend(read(n) if n % 7 == 0 else read(n, f"{OTHER} {n}", f"src/b{n}.py"))
        view = ctx.view()
        texts = [json.dumps(m) for m in view]
        for i, text in enumerate(texts):
            if "Same output as the earlier `read src/a.py`" in text:
                assert any("function_59" in x for x in texts[:i])
            if "Same output as the later `read src/a.py`" in text:
                assert any("function_59" in x for x in texts[i:])
    assert len(ctx.epochs) >= 3


def test_the_size_the_engine_works_with_is_that_of_the_view():
    ctx = context(window=12_000)
    for n in range(120):
        ctx.extend(read(n) if n % 3 == 0 else read(n, f"{OTHER} {n}", f"src/b{n}.py"))
        ctx.view()
        counted = sum(ctx._log.count(m) for m in ctx._view.messages)
        assert abs(counted - ctx._state.view_tokens) <= 0.02 * counted + 8 * len(ctx._arrival)
    while ctx.undo() is not None:
        counted = sum(ctx._log.count(m) for m in ctx._view.messages)
        assert abs(counted - ctx._state.view_tokens) <= 0.02 * counted + 8 * len(ctx._arrival)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (json.dumps({"output": "a\nb\nc", "exit_code": 2}), "[terminal] ran `npm test` -> exit 2, 3 lines"),
        (
            json.dumps({"stdout": "one\ntwo", "stderr": "", "exit_code": 0}),
            "[terminal] ran `npm test` -> exit 0, 2 lines",
        ),
        ("one\ntwo\nthree\nfour", "[terminal] ran `npm test` -> 4 lines"),
    ],
)
def test_a_digest_counts_the_output_itself_and_its_real_exit_code(text, wanted):
    call = ToolCall("c", "terminal", json.dumps({"command": "npm test"}))
    result = ToolResult("c", (Text(text),))
    assert line(call, result) == wanted
    assert unwrap(result).text.count("\\n") == 0
