"""Bodies taken apart and put together: nothing is lost, and what is not edited keeps its bytes."""

from __future__ import annotations

import json

import pytest

from clew import wire
from clew.errors import TooLarge, WireError
from clew.transcript import Opaque, at_path
from clew.wire.spans import MAX_DEPTH
from tests.wire.builders import ANTHROPIC_BODY, BODIES, CHAT_BODY, RESPONSES_BODY, compact

NAMES = sorted(BODIES)


@pytest.mark.parametrize("name", NAMES)
def test_an_untouched_body_comes_back_to_the_byte(name):
    for body in (compact(BODIES[name]), json.dumps(BODIES[name], indent=2).encode()):
        request = wire.get(name).request(body)
        assert wire.get(name).render_bytes(request) == body


@pytest.mark.parametrize("name", NAMES)
def test_the_value_comes_back_with_its_key_order(name):
    w = wire.get(name)
    value = w.render(w.request(BODIES[name]))
    assert compact(value) == compact(BODIES[name])


@pytest.mark.parametrize("name", NAMES)
def test_after_a_change_everything_else_keeps_its_bytes(name):
    w = wire.get(name)
    spaced = json.dumps(BODIES[name], indent=1).encode()
    request = w.request(spaced)
    one_less = request.replace(messages=request.messages[:-1])
    rendered = w.render_bytes(one_less)
    assert json.loads(rendered) == {**BODIES[name], w.messages_key: BODIES[name][w.messages_key][:-1]}
    for m in one_less.messages:
        assert m.raw in rendered
        assert m.raw in spaced
    assert one_less.raw is None
    assert w.render(one_less) == json.loads(rendered)


def test_a_member_that_is_replaced_is_the_only_one_that_changes():
    w = wire.get("anthropic")
    request = w.request(compact(ANTHROPIC_BODY))
    rendered = json.loads(w.render_bytes(request.replace(system="Other", tools=[], model="m2")))
    assert rendered == {**ANTHROPIC_BODY, "system": "Other", "tools": [], "model": "m2"}
    assert list(rendered) == list(ANTHROPIC_BODY)


def test_rest_is_replaced_where_it_differs():
    w = wire.get("chat")
    request = w.request(b'{"model":"m","messages":[],"stream": true,"n":1e0}')
    changed = request.replace(rest={**request.rest, "stream": False, "user": "u"})
    assert w.render_bytes(changed) == b'{"model":"m","messages":[],"stream":false,"n":1e0,"user":"u"}'


def test_what_has_no_field_of_its_own_stands_in_rest():
    request = wire.get("responses").request(RESPONSES_BODY)
    assert request.rest["previous_response_id"] == "resp_1"
    assert request.system == "Be brief."
    assert request.model == "some-model"
    assert "input" not in request.rest


@pytest.mark.parametrize(
    ("name", "words"),
    [("openai-chat", "Be brief."), ("anthropic", "Be brief."), ("openai-responses", "Be brief.\n\nRules.")],
)
def test_the_system_prompt_is_found_wherever_it_stands(name, words):
    assert wire.system_text(wire.get(name).request(BODIES[name])) == words


def test_chat_has_no_system_to_replace():
    request = wire.get("chat").request(CHAT_BODY)
    with pytest.raises(WireError, match="among the messages"):
        request.replace(system="x")


@pytest.mark.parametrize("name", NAMES)
def test_messages_of_the_previous_request_are_the_same_objects(name):
    w = wire.get(name)
    first = w.request(compact({**BODIES[name], w.messages_key: BODIES[name][w.messages_key][:-1]}))
    second = w.request(compact(BODIES[name]), previous=first)
    assert second == w.request(compact(BODIES[name]))
    assert all(a is b for a, b in zip(first.messages, second.messages, strict=False))
    changed = [{**BODIES[name][w.messages_key][0], "x": 1}, *BODIES[name][w.messages_key][1:]]
    third = w.request(compact({**BODIES[name], w.messages_key: changed}), previous=second)
    assert third.messages[0].value == changed[0]
    assert third.messages[1] is second.messages[1]


def test_what_a_host_kept_beside_an_earlier_message_is_not_taken_over():
    w = wire.get("openai-chat")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    plain = {"role": "user", "content": "x"}
    first = w.request(compact({"messages": [{**plain, "_anthropic_content_blocks": [image]}]}))
    assert first.messages[0].meta
    second = w.request(compact({"messages": [plain]}), previous=first)
    assert (second.messages[0].raw, second.messages[0].meta) == (first.messages[0].raw, {})
    assert len(second.messages[0].parts) == 1


def test_null_members_stay_null():
    body = b'{"model":null,"tools":null,"system":null,"messages":[]}'
    w = wire.get("anthropic")
    request = w.request(body)
    assert json.loads(w.render_bytes(request.replace(messages=()))) == json.loads(body)
    assert w.render(request) == json.loads(body)


class TestResponsesInput:
    w = wire.get("responses")

    def test_a_string_is_one_user_message_and_stays_a_string(self):
        body = b'{"model": "m", "input": "hello", "stream": true}'
        request = self.w.request(body)
        assert [(m.role, m.text) for m in request.messages] == [("user", "hello")]
        assert self.w.render_bytes(request) == body
        assert self.w.render(request) == json.loads(body)

    def test_a_string_becomes_a_list_when_a_message_is_added(self):
        request = self.w.request(b'{"model":"m","input":"hello"}')
        more = request.replace(messages=[*request.messages, self.w.text_message("assistant", "hi")])
        assert json.loads(self.w.render_bytes(more))["input"][0] == {"role": "user", "content": "hello"}
        assert len(self.w.render(more)["input"]) == 2

    def test_a_body_without_input_gets_none(self):
        body = b'{"model":"m","conversation":"conv_1"}'
        request = self.w.request(body)
        assert request.messages == ()
        assert json.loads(self.w.render_bytes(request.replace(model="n"))) == {"model": "n", "conversation": "conv_1"}


class TestMeta:
    def test_keys_with_an_underscore_are_never_sent(self):
        w = wire.get("chat")
        m = w.message({"role": "user", "content": "hi", "_ts": 5, "_id": {"a": 1}})
        assert dict(m.meta) == {"_ts": 5, "_id": {"a": 1}}
        assert m.raw == b'{"role":"user","content":"hi"}'
        request = w.request(b'{"messages": [{"role": "user", "content": "hi", "_ts": 5}]}')
        assert b"_ts" not in w.render_bytes(request)
        assert request.messages[0].meta["_ts"] == 5

    def test_bytes_without_meta_are_kept_as_they_came(self):
        raw = b'{ "content" : "caf\\u00e9", "role":"user" }'
        m = wire.get("chat").message(raw)
        assert m.raw == raw
        assert m.text == "café"

    def test_the_caller_s_value_is_not_shared(self):
        value = {"role": "user", "content": [{"type": "text", "text": "a"}], "_k": [1]}
        m = wire.get("chat").message(value)
        value["content"][0]["text"] = "b"
        value["_k"].append(2)
        m.value["content"][0]["text"] = "c"
        assert m.value["content"][0]["text"] == "a" == m.text
        assert m.meta["_k"] == [1]


class TestOddJson:
    w = wire.get("chat")

    @pytest.mark.parametrize(
        "raw",
        [
            b'{"role":"user","content":"lone \\ud83d surrogate"}',
            b'{"role":"user","content":"x","big":123456789012345678901234567890}',
            b'{"role":"user","content":"one","content":"two"}',
            b'{"role":"user","content":"x","":{"":""},"a b":1}',
            b'{"role":"user","content":"x","f":1.0,"e":1E5,"z":-0.0}',
        ],
    )
    def test_it_passes_and_keeps_its_bytes(self, raw):
        body = b'{"messages":[' + raw + b'],"model":"m"}'
        request = self.w.request(body)
        assert request.messages[0].raw == raw
        assert self.w.render_bytes(request) == body
        assert raw in self.w.render_bytes(request.replace(model="n"))
        assert self.w.message(raw).value == json.loads(raw)

    def test_a_big_integer_is_exact_after_an_edit_elsewhere(self):
        from clew.wire.edit import render

        raw = b'{"role":"user","content":"x","big":123456789012345678901234567890}'
        assert render(self.w.message(raw), {0: "y"}).value["big"] == 123456789012345678901234567890

    def test_a_name_given_twice_counts_the_last_time(self):
        request = self.w.request(b'{"messages":[{"role":"user","content":"a"}],"messages":[]}')
        assert request.messages == ()
        assert self.w.render_bytes(request.replace(model="m")) == b'{"messages":[],"model":"m"}'

    @pytest.mark.parametrize("levels", [MAX_DEPTH + 5, 1500, 200_000])
    def test_deep_nesting_is_refused_by_name(self, levels):
        deep = b"[" * levels + b"]" * levels
        with pytest.raises(TooLarge):
            self.w.message(b'{"role":"user","content":' + deep + b"}")
        with pytest.raises(TooLarge):
            self.w.request(b'{"messages":[],"x":' + deep + b"}")

    def test_nesting_below_the_limit_passes(self):
        levels = MAX_DEPTH - 10
        deep = b"[" * levels + b"]" * levels
        m = self.w.message(b'{"role":"user","content":"x","deep":' + deep + b"}")
        assert len(m.address) == 32
        assert m.value["deep"]

    def test_deep_and_cyclic_python_values_are_refused(self):
        deep: list = []
        for _ in range(5000):
            deep = [deep]
        with pytest.raises(TooLarge):
            self.w.message({"role": "user", "content": deep})
        cyclic: dict = {"role": "user"}
        cyclic["content"] = cyclic
        with pytest.raises((WireError, TooLarge)):
            self.w.message(cyclic)

    @pytest.mark.parametrize(
        "body",
        [
            b"", b" ", b"{", b"[]", b"null", b'"x"', b"{}", b'{"messages":1}', b'{"messages":[1]}', b'{"messages":[]} x',
            b'{"messages":[{"role":"user"},]}', b'{"messages":[],}', b'{"messages" []}', b"{messages:[]}", b"{1:2}",
            b'{"messages":[{"content":"no role"}]}', b'{"messages":[{"role":"user","content":"\xff"}]}',
            b'{"messages":[{"role":"us', b'{"messages":[', b'{"messages":[{"role":"user"}', b'{"messages":[{"role":3}]}',
        ],
    )  # fmt: skip
    def test_what_is_no_body_is_refused_with_a_hint(self, body):
        with pytest.raises(WireError) as caught:
            self.w.request(body)
        assert caught.value.status == 400

    @pytest.mark.parametrize("value", [[], "x", 3, None, b"[1]", b"{", b"\xff", {"role": "user", "content": {1, 2}}])
    def test_what_is_no_message_is_refused(self, value):
        with pytest.raises(WireError):
            self.w.message(value)


@pytest.mark.parametrize("name", NAMES)
def test_every_part_says_where_it_stands(name):
    for m in wire.get(name).request(BODIES[name]).messages:
        for p in m.parts:
            there = at_path(m.value, p.at)
            if hasattr(p, "text") and isinstance(there, str) and not isinstance(p, Opaque):
                assert there == p.text


@pytest.mark.parametrize("name", NAMES)
def test_addresses_ignore_key_order(name):
    for m in wire.get(name).request(BODIES[name]).messages:
        turned = dict(reversed(m.value.items()))
        assert wire.get(name).message(turned).address == m.address
