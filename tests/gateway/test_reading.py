"""Reading with the request before at hand gives what reading alone gives, whatever was changed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import ClewError
from clew.gateway.reading import read
from clew.wire import Request, get

WIRES = ("openai-chat", "openai-responses", "anthropic")
TEXT = st.text(max_size=30) | st.sampled_from(['"', "\\", "}", "],", '{"a":1}', "é✓🧶", "\u2028", "\x7f"])
VALUE = st.recursive(st.none() | st.booleans() | st.integers() | TEXT, lambda v: st.lists(v, max_size=3), max_leaves=6)
SPACE = st.sampled_from(["", " ", "\n\t "])


@st.composite
def bodies(draw) -> list[bytes]:
    """A body and what a client may make of it: more messages, changed ones, other members, other spacing."""
    wire = draw(st.sampled_from(WIRES))
    key = get(wire).messages_key
    messages = draw(st.lists(st.builds(lambda t: {"role": "user", "content": t}, TEXT), max_size=6))
    rest = {"model": draw(TEXT), "temperature": draw(VALUE), "tools": draw(st.lists(VALUE, max_size=2) | st.none())}
    if wire != "openai-chat":
        rest["system" if wire == "anthropic" else "instructions"] = draw(TEXT)
    out = []
    for _ in range(2):
        named = [*rest.items(), (key, messages)]
        named = draw(st.permutations(named))
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: ")]))
        out.append(json.dumps(dict(named), separators=separators, ensure_ascii=draw(st.booleans())).encode())
        messages = list(messages)
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(messages)))
            messages[at : at + draw(st.integers(0, 1))] = [{"role": "user", "content": draw(TEXT)}]
        rest = rest | draw(st.dictionaries(st.sampled_from(list(rest)), VALUE | TEXT, max_size=1))
    return [wire, *out]


def outcome(raw: bytes, wire: str, previous: Request | None) -> object:
    """Everything that can be seen of what was read, or the error."""
    try:
        request = read(raw, wire, previous)
    except ClewError as e:
        return type(e), e.message
    seen = {f: getattr(request, f) for f in ("wire", "model", "system", "tools", "rest", "raw", "keys", "one_text")}
    return {**seen, "messages": [m.raw for m in request.messages], "fields": dict(request.fields)}


@given(bodies())
@settings(max_examples=150, deadline=None)
def test_the_same_as_without(drawn):
    wire, before, after = drawn
    previous = get(wire).request(before)
    assert outcome(after, wire, previous) == outcome(after, wire, None)
    again = read(after, wire, previous)
    assert get(wire).render_bytes(again.replace(model="other")) == get(wire).render_bytes(
        get(wire).request(after).replace(model="other")
    )


def test_a_control_character_in_a_name_is_no_json():
    before = b'{"model":"m","messages":[]}'
    previous = get("openai-chat").request(before)
    damaged = before.replace(b"model", b"mo\x00del")
    assert outcome(damaged, "openai-chat", previous) == outcome(damaged, "openai-chat", None)


@given(bodies(), st.data())
@settings(max_examples=150, deadline=None)
def test_damage_is_told_alike(drawn, data):
    """Bytes taken out, put in or exchanged: both readers say the same of it."""
    wire, before, after = drawn
    previous = get(wire).request(before)
    at = data.draw(st.integers(0, len(after)))
    piece = data.draw(
        st.binary(max_size=3) | st.sampled_from([b",", b"}", b"]", b'"', b"{", b"\\", b" ", b"12", b"\xff"])
    )
    damaged = after[:at] + piece + after[at + data.draw(st.integers(0, 3)) :]
    assert outcome(damaged, wire, previous) == outcome(damaged, wire, None)


def test_known_messages_are_the_same_objects():
    def body(n: int) -> bytes:
        listed = [{"role": "user", "content": f"message {i}"} for i in range(n)]
        return json.dumps({"model": "m", "messages": listed, "stream": True}).encode()

    before = get("openai-chat").request(body(50))
    after = read(body(52), "openai-chat", before)
    assert all(a is b for a, b in zip(before.messages, after.messages, strict=False))
    assert len(after.messages) == 52


@pytest.mark.parametrize("size", [1, 1 << 15, (1 << 15) - 30, 1 << 17])
def test_values_larger_than_the_window_they_are_read_through(size):
    before = get("openai-chat").request(b'{"model":"m","messages":[]}')
    text = "é" * size
    raw = json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": text}], "n": 12345}, ensure_ascii=False
    ).encode()
    request = read(raw, "openai-chat", before)
    assert request.messages[0].text == text
    assert request.rest == {"n": 12345}
    assert request.fields["n"] == b"12345"


@pytest.mark.parametrize("between", [",", ", ", " ,\n\t"])
@pytest.mark.parametrize("changed", [0, 1, 70, 199])
def test_messages_beside_a_changed_one_are_the_known_ones(between, changed):
    """However they are spaced, and wherever the change stands: nothing but that is parsed anew."""
    texts = [json.dumps({"role": "user", "content": f"note {n}"}) for n in range(200)]

    def body(listed: list[str]) -> bytes:
        return ('{"model":"m","messages":[' + between.join(listed) + "]}").encode()

    previous = get("openai-chat").request(body(texts))
    now = [*texts[:changed], json.dumps({"role": "user", "content": "another"}), *texts[changed + 1 :], texts[0]]
    again = read(body(now), "openai-chat", previous)
    assert [m.text for m in again.messages] == [json.loads(t)["content"] for t in now]
    same = [a is b for a, b in zip(again.messages, previous.messages, strict=False)]
    assert same == [n != changed for n in range(200)]
