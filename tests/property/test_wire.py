"""What holds of any body and any message, in every format."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from clew import wire
from clew.transcript import Image, Reasoning, Text, ToolCall, ToolResult, at_path
from clew.wire.convert import convert
from clew.wire.edit import render
from clew.wire.problems import problems
from tests.wire.builders import BODIES

NAMES = sorted(BODIES)
names = st.sampled_from(NAMES)
# Every character there is, lone surrogates too: a client may send them escaped.
texts = st.text(st.characters(codec=None), max_size=20)
keys = st.one_of(
    st.text(st.characters(codec=None), max_size=6).filter(lambda k: k[:1] != "_"),
    st.sampled_from(["", " ", "a.b", "\x00", "é", "\ud800"]),
)
numbers = st.one_of(st.integers(), st.integers(-(2**200), 2**200), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=12,
)
extras = st.dictionaries(keys, values, max_size=3)
spellings = st.sampled_from(
    [
        {"ensure_ascii": True},
        {"ensure_ascii": True, "separators": (",", ":")},
        {"ensure_ascii": True, "indent": 2},
        {"ensure_ascii": True, "indent": "\t", "separators": (" ,", "\n:")},
    ]
)


def sample_messages(name):
    body = BODIES[name]
    return st.sampled_from(body.get("messages") or body["input"])


@st.composite
def wild_messages(draw, name):
    """A real message with unknown fields, or with any of its own made into anything."""
    message = {**draw(extras), **draw(sample_messages(name))}
    for key in (
        draw(st.lists(st.sampled_from(sorted(set(message) - {"role", "type"})), max_size=2))
        if set(message) - {"role", "type"}
        else ()
    ):
        message[key] = draw(values)
    return message


@st.composite
def bodies(draw):
    name = draw(names)
    key = wire.get(name).messages_key
    body = {**draw(extras), **{k: v for k, v in BODIES[name].items() if draw(st.booleans())}}
    body[key] = draw(st.lists(wild_messages(name), max_size=4))
    return name, dict(draw(st.permutations(sorted(body.items(), key=lambda kv: repr(kv[0])))))


@settings(max_examples=100, deadline=None)
@given(bodies(), spellings)
def test_any_body_comes_back(body_of, spelling):
    name, value = body_of
    w = wire.get(name)
    body = json.dumps(value, **spelling).encode()
    request = w.request(body)
    assert w.render_bytes(request) == body
    assert w.render(request) == value
    rebuilt = w.render_bytes(request.replace(messages=request.messages))
    assert json.loads(rebuilt) == value
    assert list(json.loads(rebuilt)) == list(value)
    for m in request.messages:
        assert m.raw in body
        assert m.raw in rebuilt
    assert w.render(w.request(value)) == value


@settings(max_examples=100, deadline=None)
@given(names.flatmap(lambda n: st.tuples(st.just(n), wild_messages(n))))
def test_any_message_is_carried_and_its_parts_are_in_place(named):
    name, value = named
    m = wire.get(name).message(value)
    assert m.value == value
    assert len(m.address) == 32
    assert wire.get(name).message(m.raw).parts == m.parts
    for p in m.parts:
        if isinstance(p, (Text, Image)):
            there = at_path(value, p.at)
            assert there == p.text if isinstance(p, Text) else isinstance(there, dict)
        if isinstance(p, ToolResult):
            for inner in p.parts:
                at_path(value, inner.at)


@settings(max_examples=100, deadline=None)
@given(
    names.flatmap(lambda n: st.tuples(st.just(n), sample_messages(n), extras)), texts.filter(bool), st.integers(0, 9)
)
def test_an_edit_changes_its_part_and_nothing_else(sample, text, pick):
    name, value, more = sample
    m = wire.get(name).message({**more, **value})
    editable = [
        i for i, p in enumerate(m.parts) if isinstance(p, (Text, ToolResult)) and getattr(p, "kind", "") != "server"
    ]
    if not editable:
        return
    i = editable[pick % len(editable)]
    before = m.raw
    edited = render(m, {i: text})
    assert edited.parts[i].text == text
    assert [p for j, p in enumerate(edited.parts) if j != i] == [p for j, p in enumerate(m.parts) if j != i]
    assert (m.raw, edited.role) == (before, m.role)
    assert set(edited.value) == set(m.value)
    for key in more.keys() - value.keys():
        assert edited.value[key] == more[key]


# --- chat protocol: an oracle written from the rules, beside the checker

ids = st.sampled_from(["a", "b", "c"])
arguments = st.sampled_from(["{}", "", "[", "null"])
steps = st.one_of(
    st.builds(lambda t: {"role": "user", "content": t}, st.sampled_from(["", "u"])),
    st.builds(
        lambda t: {"role": "assistant", "content": t},
        st.sampled_from([None, "", "t", [], [{"type": "text", "text": ""}]]),
    ),
    st.builds(
        lambda cs: {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": i, "type": "function", "function": {"name": "f", "arguments": a}} for i, a in cs],
        },
        st.lists(st.tuples(ids, arguments), min_size=1, max_size=3),
    ),
    st.builds(lambda i: {"role": "tool", "tool_call_id": i, "content": "r"}, ids),
    st.just({"role": "wizard", "content": "x"}),
)


def breaches(messages):
    """How many rules of a chat endpoint are broken, counted plainly."""
    n, waiting = 0, []
    for m in [*messages, {"role": "end"}]:
        if m["role"] == "tool":
            if m["tool_call_id"] in waiting:
                waiting.remove(m["tool_call_id"])
            else:
                n += 1
            continue
        n += len(waiting)
        made = m.get("tool_calls") or []
        waiting = [c["id"] for c in made]
        n += sum(c["function"]["arguments"] == "[" for c in made)
        n += m["role"] == "assistant" and not made and m["content"] != "t"
        n += m["role"] == "wizard"
    return n


@settings(max_examples=100, deadline=None)
@given(st.lists(steps, max_size=8))
def test_the_checker_misses_no_breach(values_):
    found = problems([wire.get("chat").message(v) for v in values_], "chat")
    doubled = sum(p.code == "duplicate-id" for p in found)
    assert len(found) - doubled == breaches(values_)


# --- conversions

words = st.text(string.ascii_letters + " äé漢", min_size=1, max_size=12).filter(lambda t: t.strip())
call_ids = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=9)


@st.composite
def conversations(draw):
    out = [{"role": "system", "content": draw(words)}] if draw(st.booleans()) else []
    for n in range(draw(st.integers(1, 3))):
        out.append({"role": "user", "content": draw(words)})
        made = draw(st.lists(call_ids, unique=True, max_size=3))
        if made:
            objects = [draw(st.dictionaries(words, st.one_of(words, st.integers()), max_size=2)) for _ in made]
            calls = [
                {
                    "id": f"{i}{n}",
                    "type": "function",
                    "function": {"name": "f", "arguments": json.dumps(o, ensure_ascii=False, separators=(",", ":"))},
                }
                for i, o in zip(made, objects, strict=True)
            ]
            out.append({"role": "assistant", "content": draw(st.one_of(st.none(), words)), "tool_calls": calls})
            out += [{"role": "tool", "tool_call_id": f"{i}{n}", "content": draw(words)} for i in made]
        out.append({"role": "assistant", "content": draw(words)})
    return out


def seen(messages):
    return [
        (m.role, m.text, [(c.id, c.name, c.arguments) for c in m.calls], [(r.call_id, r.text) for r in m.results])
        for m in messages
    ]


@settings(max_examples=60, deadline=None)
@given(conversations(), st.sampled_from(["anthropic", "openai-responses"]))
@example([{"role": "user", "content": "A"}, {"role": "assistant", "content": "A "}], "anthropic")
def test_a_conversation_survives_the_way_there_and_back(values_, other):
    messages = [wire.get("chat").message(v) for v in values_]
    there = convert(messages, "chat", other)
    assert problems(there.messages, other) == []
    if other == "anthropic" and (last := values_[-1]["content"]) != last.rstrip():  # which it takes from nobody
        assert [(loss.place, loss.what) for loss in there.lost] == [
            (len(values_) - 1, "blanks at the end of the last answer")
        ]
        messages[-1] = wire.get("chat").message({**values_[-1], "content": last.rstrip()})
    else:
        assert there.lost == ()
    back = convert(there.messages, other, "chat", system=there.system)
    assert back.lost == ()
    assert seen(back.messages) == seen(messages)


said = st.sampled_from(["a", "b ", " ", "\n", ""])


@st.composite
def uneasy(draw):
    """Valid Responses conversations with blanks, silences, late outputs and anybody first."""
    out, waiting = [], []
    for n in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(["user", "assistant", "system", "call", "output"]))
        if kind == "call":
            out.append(
                {
                    "type": "function_call",
                    "call_id": f"c{n}",
                    "name": "f",
                    "arguments": draw(st.sampled_from(["{}", "", "null"])),
                }
            )
            waiting.append(f"c{n}")
        elif kind != "output":
            out.append({"type": "message", "role": kind, "content": draw(said)})
        elif waiting:
            call = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
            out.append({"type": "function_call_output", "call_id": call, "output": draw(said)})
    return out + [{"type": "function_call_output", "call_id": i, "output": "o"} for i in waiting]


@settings(max_examples=100, deadline=None)
@given(uneasy())
def test_what_was_valid_is_valid_in_every_other_format(values_):
    given_ = [wire.get("responses").message(v) for v in values_]
    assume(not problems(given_, "responses"))
    for target in ("chat", "anthropic"):
        there = convert(given_, "responses", target)
        found = {p.code for p in problems(there.messages, target)}
        losses = {loss.what for loss in there.lost}
        assert found <= ({"first-not-user"} if "that the assistant speaks first" in losses else set())
        assert sum(len(m.results) for m in there.messages) == sum(len(m.results) for m in given_)
        if target == "chat":  # carries blanks, so the way on to Anthropic is the same as the direct one
            onward = convert(there.messages, "chat", "anthropic")
            assert {p.code for p in problems(onward.messages, "anthropic")} <= {"first-not-user"}


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_no_conversion_fails_and_every_target_is_readable(name, data):
    messages = [wire.get(name).message(v) for v in data.draw(st.lists(wild_messages(name), max_size=4))]
    for target in NAMES:
        converted = convert(messages, name, target)
        carried = [p for m in converted.messages for p in m.parts]
        if target != name:
            assert not any(isinstance(p, Reasoning) for p in carried)
            assert sum(isinstance(p, ToolCall) for p in carried) == sum(
                c.kind != "server" for m in messages for c in m.calls
            )
