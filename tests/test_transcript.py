"""Addresses, chains, pairs and places: what everything else stands on."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import jsonio
from clew.transcript import Place, Span, Transcript, at_path, chain, put, reference, text_address, without_cache_marks
from clew.wire import get

CHAT, ANTHROPIC = get("openai-chat"), get("anthropic")
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def shuffled(value):
    if isinstance(value, dict):
        return {k: shuffled(value[k]) for k in reversed(list(value))}
    return [shuffled(v) for v in value] if isinstance(value, list) else value


@given(json_values)
def test_a_value_comes_back_from_its_bytes(value):
    assert jsonio.exact(jsonio.dumps(value)) == json.loads(json.dumps(value))


@given(json_values)
def test_canonical_bytes_dont_depend_on_key_order(value):
    assert jsonio.canonical(value) == jsonio.canonical(shuffled(value))


@given(json_values)
def test_a_copy_is_equal_and_the_callers_own(value):
    copied = jsonio.copy(value)
    assert copied == value
    if isinstance(copied, dict):
        copied["new"] = 1
        assert "new" not in value
    elif isinstance(copied, list):
        copied.append(1)
        assert len(value) == len(copied) - 1


def test_an_address_depends_on_neither_key_order_nor_cache_marks():
    block = {"type": "text", "text": "hello"}
    plain = ANTHROPIC.message({"role": "user", "content": [block]})
    turned = ANTHROPIC.message({"content": [{"text": "hello", "type": "text"}], "role": "user"})
    marked = ANTHROPIC.message({"role": "user", "content": [{**block, "cache_control": {"type": "ephemeral"}}]})
    other = ANTHROPIC.message({"role": "user", "content": [{**block, "text": "hullo"}]})
    assert plain.address == turned.address == marked.address
    assert other.address != plain.address


def test_a_cache_mark_in_a_calls_input_is_the_agents_own_data():
    one, two = (
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"cache_control": v}}]}
        for v in ("on", "off")
    )
    assert ANTHROPIC.message(one).address != ANTHROPIC.message(two).address
    assert without_cache_marks(one) == one


def test_addresses_and_references_are_the_same_in_every_process():
    code = (
        "from clew.wire import get; from clew.transcript import text_address\n"
        "print(get('openai-chat').message({'role': 'user', 'content': 'naïve 日本'}).address, text_address('x'))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": s}
        ).stdout
        for s in ("1", "2")
    }
    here = CHAT.message({"role": "user", "content": "naïve 日本"})
    assert seen == {f"{here.address} {text_address('x')}\n"}
    assert reference(here.address) == "clew:" + here.address[:12]
    assert len(reference(here.address)) == 17


texts = st.lists(st.text(max_size=6), min_size=1, max_size=6)


@given(texts, texts)
def test_chains_agree_exactly_where_prefixes_do(left, right):
    a, b = (Transcript(CHAT.message({"role": "user", "content": t}) for t in side) for side in (left, right))
    for i in range(min(len(a), len(b))):
        assert (a.chain_at(i) == b.chain_at(i)) == (left[: i + 1] == right[: i + 1])


def test_a_chain_grows_by_one_message():
    log = Transcript([CHAT.message({"role": "user", "content": "a"}), CHAT.message({"role": "user", "content": "b"})])
    assert log.chain_at(1) == chain(chain("", log[0].address), log[1].address)


def call(id_):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }


def result(id_, text):
    return {"role": "tool", "tool_call_id": id_, "content": text}


def test_calls_know_their_results_and_ids_may_come_again():
    log = Transcript(
        CHAT.message(m) for m in (call("x"), result("x", "first"), call("x"), result("x", "second"), call("y"))
    )
    assert log.result_of(Place(0, 0)) == Place(1, 0)
    assert log.result_of(Place(2, 0)) == Place(3, 0)
    assert log.call_of(Place(3, 0)) == Place(2, 0)
    assert log.part(Place(3, 0)).text == "second"
    assert log.open_calls() == (Place(4, 0),)


def test_a_result_without_a_call_has_none():
    log = Transcript([CHAT.message(result("x", "lonely"))])
    assert log.call_of(Place(0, 0)) is None


def test_metadata_is_kept_and_never_sent():
    m = CHAT.message({"role": "user", "content": "hi", "_origin": {"line": 3}})
    assert m.meta == {"_origin": {"line": 3}}
    assert b"_origin" not in m.raw
    assert m.address == CHAT.message({"role": "user", "content": "hi"}).address


def test_a_value_given_out_is_the_callers_own():
    m = CHAT.message({"role": "user", "content": [{"type": "text", "text": "hi"}]})
    m.value["content"][0]["text"] = "changed"
    assert m.value["content"][0]["text"] == "hi"
    assert b"changed" not in m.raw


@given(json_values)
def test_put_changes_its_place_alone(value):
    outer = {"a": [1, {"b": value}, 3], "c": "d"}
    changed = put(outer, ("a", 1, "b"), "new")
    assert at_path(changed, ("a", 1, "b")) == "new"
    assert outer["a"][1]["b"] == value
    assert {**changed, "a": outer["a"]} == outer


@pytest.mark.parametrize(("start", "end", "length"), [(0, 3, 3), (2, 2, 0), (5, 1, 0)])
def test_a_span_has_a_length(start, end, length):
    assert len(Span(start, end)) == length
