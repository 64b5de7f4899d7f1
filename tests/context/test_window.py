"""The window: what counts, what is clipped, what is said where nothing helps."""

from __future__ import annotations

import json

import pytest

from clew import Context, Epoch, compress
from clew.errors import WindowTooSmall
from clew.strategies.args import shrunk
from clew.testing import builders as b
from clew.testing.conversations import Shape, chat, in_wire
from clew.wire.problems import problems

WIRES = ("openai-chat", "anthropic", "openai-responses")
BIG = " ".join(f"word{n}" for n in range(40_000))


def small(wire="openai-chat", window=4_000, **given):
    return Context(window, wire=wire, config={}, clock=lambda: 0.0, **given)


def fits(ctx):
    view = ctx.view_messages()
    assert sum(ctx._log.count(m) for m in view) <= ctx._state.limits.hard
    return view


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("place", ["result", "last user", "only user", "first user", "first result", "arguments"])
def test_one_message_larger_than_the_window_is_clipped_and_recall_gives_it_back(wire, place):
    messages = chat(4, Shape(turns=3, calls=3, length=60, repeat=0))
    match place:
        case "result":
            next(m for m in reversed(messages) if m["role"] == "tool")["content"] = BIG
        case "last user":
            messages.append({"role": "user", "content": BIG})
        case "only user":
            messages = [{"role": "user", "content": BIG}]
        case "first user":
            messages[1]["content"] = BIG
        case "first result":
            messages = [{"role": "user", "content": "Read a.txt."}, b.call("c1", "read", {"path": "a.txt"}).value]
            messages.append(b.result("c1", BIG).value)
        case "arguments":
            arguments = json.dumps({"path": "a.txt", "content": BIG})
            call = {"id": "big", "type": "function", "function": {"name": "write", "arguments": arguments}}
            messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
            messages += [{"role": "tool", "tool_call_id": "big", "content": "ok"}]
    ctx = small(wire, recall="clew recall REF")
    ctx.extend(in_wire(messages, wire))
    view = fits(ctx)
    assert len(ctx.epochs) == 1
    assert fits(ctx) == view
    assert [p for p in problems(list(view), wire, final=False) if p.code != "first-user"] == []
    assert any(BIG in ctx.recall(e.reference) for e in ctx.edits)
    for m in view:
        for c in m.calls:
            json.loads(c.arguments)


def test_a_view_that_cant_fit_says_what_fills_it_and_never_loops():
    ctx = small(window=3_000)
    ctx.append({"role": "system", "content": BIG})
    ctx.extend(chat(1, Shape(turns=4, calls=3, length=100, system=False)))
    for _ in range(3):
        with pytest.raises(WindowTooSmall) as e:
            ctx.view()
    assert "3,000" in str(e.value)
    assert "window" in e.value.hint
    assert len(ctx.epochs) <= 3


def test_output_system_and_tools_are_taken_off_the_window():
    tools = [
        {"type": "function", "function": {"name": f"tool_{n}", "parameters": {"type": "object"}}} for n in range(40)
    ]
    plain = Context(20_000, config={})
    full = Context(20_000, config={}, tools=tools, max_output=4_000)
    assert full.status()["hard_limit"] < plain.status()["hard_limit"] - 4_000
    assert full.status()["threshold"] == int(0.5 * full.status()["hard_limit"])
    apart = Context(20_000, config={}, wire="anthropic", system="word " * 2_000)
    assert apart.status()["hard_limit"] < 18_500
    assert Context(20_000, config={}, overhead=1_000).status()["hard_limit"] == 19_000


def test_switched_off_it_changes_nothing_and_refuses_nothing():
    ctx = Context(2_000, config={"compression": {"enabled": False}})
    messages = chat(1, Shape(turns=4, calls=5, length=300))
    ctx.extend(messages)
    assert ctx.view() == messages
    assert ctx.edits == ()
    assert "compression is off" in ctx.status()["sentence"]
    assert ctx.compact(force=False).kind == "off"


def test_an_epoch_that_only_shortens_is_kept_and_others_follow_it(tmp_path):
    url = f"sqlite:///{tmp_path}/s.sqlite"
    with small(store=url, session_id="one") as ctx:
        ctx.append({"role": "user", "content": f"Never push to main.\n\n{BIG}"})
        view = fits(ctx)
        assert len(ctx.epochs[0].span) == 0
    with small(store=url, session_id="one") as ctx:
        assert fits(ctx) == view
        ctx.extend([m for m in chat(4, Shape(turns=6, calls=6, length=200, system=False)) if m["role"] != "system"])
        fits(ctx)
        assert len(ctx.epochs) > 1
        text = json.dumps(ctx.view())
        assert "Never push to main." in text
        assert all(ctx.recall(e.reference) for e in ctx.edits)


@pytest.mark.parametrize("window", [1_500, 2_500, 4_000])
@pytest.mark.parametrize("wire", WIRES)
def test_tiny_windows_hold(wire, window):
    ctx = small(wire, window)
    for m in in_wire(chat(6, Shape(turns=12, calls=2, parallel=1, length=40)), wire):
        ctx.append(m)
        assert fits(ctx)


def test_long_arguments_of_old_calls_shrink_and_stay_json():
    given = json.dumps({"path": "a/b.py", "n": 3, "big": "x" * 4_000, "list": ["y" * 900, True, None], "s": "short"})
    value = json.loads(shrunk(given))
    assert value["path"] == "a/b.py"
    assert value["n"] == 3
    assert value["s"] == "short"
    assert value["list"][1:] == [True, None]
    assert "3,800 characters left out" in value["big"]
    assert shrunk("{broken") == "{broken"


def picture(text, mark):
    url = f"data:image/png;base64,{mark * 300}"
    return {
        "role": "user",
        "content": [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}],
    }


def test_pictures_of_earlier_turns_give_way_and_the_newest_stays():
    messages = [picture("Look at this one.", "A"), {"role": "assistant", "content": "I see."}]
    for n in range(30):
        messages += [
            m.value for m in (b.call(f"c{n}", "bash", {"command": f"ls {n}"}), b.result(f"c{n}", f"file_{n} " * 90))
        ]
    messages += [picture("And this.", "B"), {"role": "assistant", "content": "I see that too."}]
    messages += [picture("Now this.", "C"), {"role": "assistant", "content": "And that."}]
    done = compress(messages, 20_000, config={})
    text = json.dumps(done.messages)
    assert isinstance(done.epoch, Epoch)
    assert "C" * 300 in text
    assert "A" * 300 not in text
    assert "B" * 300 not in text


def thinking(n):
    said = {"type": "thinking", "thinking": f"step {n} " * 40, "signature": f"sig{n}=="}
    call = {"type": "tool_use", "id": f"t{n}", "name": "bash", "input": {"command": f"grep x{n}"}}
    out = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"line {n} of the output\n" * 60}
    return [{"role": "assistant", "content": [said, call]}, {"role": "user", "content": [out]}]


def test_sealed_thinking_is_kept_whole_or_dropped_whole():
    ctx = small("anthropic", 8_000)
    ctx.append({"role": "user", "content": "Find it."})
    kept = []
    for n in range(40):
        for m in thinking(n):
            ctx.append(m)
        kept = [
            p for m in ctx.view() if isinstance(m["content"], list) for p in m["content"] if p["type"] == "thinking"
        ]
        for p in kept:
            number = int(p["signature"][3:-2])
            assert p["thinking"] == f"step {number} " * 40
        assert problems(list(ctx.view_messages()), "anthropic") == []
    assert ctx.epochs
    assert 0 < len(kept) < 40


def test_where_what_must_be_kept_has_no_room_the_error_names_some_of_it():
    ctx = small(window=1_000)
    for n in range(90):
        rule = f"Never touch storage/account_{n}/secret_{n}.txt."
        ctx.extend([{"role": "user", "content": rule}, {"role": "assistant", "content": "Noted."}])
    with pytest.raises(WindowTooSmall, match=r"pinned fact.*Never touch storage"):
        ctx.view()
