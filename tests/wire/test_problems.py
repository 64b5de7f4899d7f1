from __future__ import annotations

import pytest

from clew.catalog.model import Quirks
from clew.wire.problems import problems
from tests.wire.builders import BODIES, DATA_URL, chat_call, messages

IMAGE = {"type": "image_url", "image_url": {"url": DATA_URL}}


def codes(name, *values, **options):
    return [(p.place, p.code) for p in problems(messages(name, list(values)), name, **options)]


def user(text="hi"):
    return {"role": "user", "content": text}


def calls(*ids, content=None):
    return {"role": "assistant", "content": content, "tool_calls": [chat_call(i) for i in ids]}


def result(call_id, content="ok"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def use(*ids, **more):
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": i, "name": "f", "input": {}, **more} for i in ids],
    }


def answer(*ids, text=""):
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in ids]
    return {"role": "user", "content": blocks + ([{"type": "text", "text": text}] if text else [])}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_sound_conversations_have_none(name):
    body = BODIES[name]
    assert problems(messages(name, body.get("messages") or body["input"]), name) == []


class TestChat:
    def check(self, *values, **options):
        return codes("openai-chat", *values, **options)

    def test_parallel_results_come_in_any_order(self):
        assert self.check(user(), calls("a", "b"), result("b"), result("a")) == []

    def test_ids_may_come_again_in_a_later_turn(self):
        assert self.check(user(), calls("a"), result("a"), calls("a"), result("a")) == []

    def test_pairs(self):
        assert self.check(user(), result("a")) == [(1, "orphan-result")]
        assert self.check(user(), calls("a"), user()) == [(1, "missing-result")]
        assert self.check(user(), calls("a", "b"), result("a"), user(), result("b")) == [
            (1, "missing-result"),
            (4, "orphan-result"),
        ]
        assert self.check(user(), calls("a"), result("a"), result("a")) == [(3, "duplicate-result")]
        assert self.check(user(), calls("a", "a"), result("a"), result("a")) == [(1, "duplicate-id")]

    def test_calls_at_the_end_count_when_nothing_follows(self):
        assert self.check(user(), calls("a", "b"), result("a")) == [(1, "missing-result")]
        assert self.check(user(), calls("a", "b"), result("a"), final=False) == []

    def test_arguments(self):
        bad = {"role": "assistant", "content": None, "tool_calls": [chat_call("a", arguments='{"cut": "of')]}
        assert self.check(user(), bad, result("a")) == [(1, "bad-arguments")]
        as_object = {"role": "assistant", "content": None, "tool_calls": [chat_call("a", arguments={"a": 1})]}
        assert self.check(user(), as_object, result("a")) == [(1, "bad-arguments")]
        nothing = {"role": "assistant", "content": "done", "tool_calls": []}
        assert self.check(user(), nothing) == [(1, "empty-calls")]
        quoting = calls("a", content='she wrote "arguments": {"x": 1}')
        assert self.check(user(), quoting, result("a")) == []

    def test_names_and_ids(self):
        call = {"type": "function", "function": {"name": "", "arguments": ""}}
        found = self.check(user(), {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": "x"})
        assert found == [(1, "missing-id"), (1, "missing-name"), (2, "missing-id")]

    @pytest.mark.parametrize("content", [None, "", [], [{"type": "text", "text": ""}]])
    def test_an_assistant_that_says_nothing(self, content):
        assert self.check(user(), {"role": "assistant", "content": content}) == [(1, "empty-content")]

    def test_a_user_without_content(self):
        assert self.check({"role": "user", "content": None}) == [(0, "empty-content")]
        assert self.check(user("")) == []

    def test_roles(self):
        assert self.check({"role": "wizard", "content": "x"}) == [(0, "unknown-role")]

    def test_images(self):
        assert self.check(user(), calls("a"), result("a", [IMAGE])) == [(2, "image-in-result")]
        assert self.check(user(), calls("a"), result("a", [IMAGE]), model=Quirks(image_in_tool_result=True)) == []
        assert self.check(user(), {"role": "assistant", "content": [IMAGE]}) == [(1, "misplaced-image")]

    def test_a_call_where_no_call_may_be(self):
        legacy = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
        assert self.check(user(), legacy, {"role": "function", "name": "f", "content": "x"}) == []
        assert self.check(user(), legacy) == [(1, "missing-result")]

    def test_what_a_model_insists_on(self):
        strict = Quirks(alternation=True, first_user=True, call_id="[a-zA-Z0-9]{9}")
        assert self.check(user(), user(), model=strict) == [(1, "alternation")]
        assert self.check({"role": "assistant", "content": "x"}, model=strict) == [(0, "first-not-user")]
        assert self.check(user(), calls("a"), result("a"), model=strict) == [(1, "bad-id")]
        late = {"role": "system", "content": "s"}
        assert self.check(late, user(), late, model=strict) == [(2, "system-mid")]
        assert self.check(late, user(), late) == []


class TestAnthropic:
    def check(self, *values, **options):
        return codes("anthropic", *values, **options)

    def test_results_come_first_in_the_next_user_turn(self):
        assert self.check(user(), use("a", "b"), answer("b", "a", text="and?")) == []
        assert self.check(user(), use("a"), user("no result"), answer("a")) == [(3, "result-not-first")]
        turned = {"role": "user", "content": list(reversed(answer("a", text="t")["content"]))}
        assert self.check(user(), use("a"), turned) == [(2, "result-not-first")]

    def test_neighbours_of_one_role_are_one_turn(self):
        assert self.check(user(), use("a"), use("b"), answer("a"), answer("b"), user("go on")) == []
        assert [
            c for _, c in self.check(user(), use("a"), use("b"), answer("a", "b"), model=Quirks(alternation=True))
        ] == ["alternation"]

    def test_pairs(self):
        assert self.check(user(), answer("x")) == [(1, "result-not-first"), (1, "orphan-result")]
        assert self.check(user(), use("a"), user(), {"role": "assistant", "content": "x"}) == [(1, "missing-result")]
        assert self.check(user(), use("a")) == [(1, "missing-result")]
        assert self.check(user(), use("a"), final=False) == []
        assert self.check(user(), use("a"), {"role": "system", "content": "s"}, answer("a")) == [
            (1, "missing-result"),
            (3, "orphan-result"),
        ]
        assert self.check(user(), use("a", "a"), answer("a", "a")) == [(1, "duplicate-id")]

    def test_a_result_of_the_provider_has_its_call_before_it(self):
        hosted = [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        ]
        assert self.check(user(), {"role": "assistant", "content": hosted}) == []
        assert self.check(user(), {"role": "assistant", "content": hosted[1:]}) == [(1, "orphan-result")]

    def test_first_message(self):
        assert self.check({"role": "assistant", "content": "x"}) == [(0, "first-not-user")]
        assert self.check({"role": "system", "content": "x"}, user()) == [(0, "first-not-user")]

    def test_empty(self):
        assert self.check({"role": "user", "content": []}) == [(0, "empty-content")]
        assert self.check(user(" \n")) == [(0, "empty-text")]
        assert self.check(user(), {"role": "assistant", "content": "prefill "}) == [(1, "trailing-space")]

    def test_thinking(self):
        thought = {"type": "thinking", "thinking": "h", "signature": "s"}
        words = {"type": "text", "text": "w"}
        assert self.check(user(), {"role": "assistant", "content": [thought, words, thought, words]}) == []
        assert self.check(user(), {"role": "assistant", "content": [words, thought]}) == [(1, "thinking-not-first")]
        unsigned = {"type": "thinking", "thinking": "h"}
        assert self.check(user(), {"role": "assistant", "content": [unsigned, words]}) == [(1, "unsigned-thinking")]

    def test_blocks_in_the_wrong_message(self):
        wrong = {"role": "user", "content": use("a")["content"]}
        assert (0, "misplaced-call") in self.check(wrong)
        assert (1, "misplaced-result") in self.check(user(), {"role": "assistant", "content": answer("a")["content"]})

    def test_arguments_and_ids(self):
        assert self.check(user(), use("a", input="x"), answer("a")) == [(1, "bad-arguments")]
        assert self.check(user(), use("a", input=None), answer("a")) == [(1, "bad-arguments")]
        assert self.check(user(), use("a", input='{"x": 1}'), answer("a")) == [(1, "bad-arguments")]
        assert self.check(user(), use("a", input={"input": "x"}), answer("a")) == []
        assert self.check(user(), use("a b"), answer("a b")) == [(1, "bad-id")]

    def test_images_may_stand_in_results(self):
        shot = [{"type": "image", "source": {"type": "url", "url": "u"}}]
        with_image = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": shot}]}
        assert self.check(user(), use("a"), with_image) == []

    def test_roles(self):
        assert self.check(user(), {"role": "tool", "content": "x"}) == [(1, "unknown-role")]


CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "ok"}
THOUGHT = {"type": "reasoning", "summary": []}


class TestResponses:
    def check(self, *values, **options):
        return codes("openai-responses", *values, **options)

    def test_pairs_anywhere(self):
        assert self.check(user(), CALL, user("meanwhile"), OUTPUT) == []
        assert self.check(user(), CALL, OUTPUT, CALL, OUTPUT) == []
        assert self.check(user(), OUTPUT) == [(1, "orphan-result")]
        assert self.check(user(), OUTPUT, CALL) == [(1, "orphan-result"), (2, "missing-result")]
        assert self.check(user(), CALL, OUTPUT, OUTPUT) == [(3, "duplicate-result")]
        assert self.check(user(), CALL, CALL, OUTPUT, OUTPUT) == [(2, "duplicate-id")]

    def test_a_previous_response_may_hold_the_call(self):
        assert self.check(OUTPUT, continued=True) == []
        assert self.check(OUTPUT) == [(0, "orphan-result")]

    def test_reasoning_goes_with_what_came_of_it(self):
        assert self.check(user(), THOUGHT, CALL, OUTPUT) == []
        assert self.check(user(), THOUGHT, user()) == [(1, "reasoning-alone")]
        assert self.check(user(), THOUGHT) == [(1, "reasoning-alone")]
        assert self.check(user(), THOUGHT, final=False) == []

    def test_arguments_and_content(self):
        assert self.check(user(), {**CALL, "arguments": "{"}, OUTPUT) == [(1, "bad-arguments")]
        assert self.check(user(), {"type": "message", "role": "assistant", "content": []}) == [(1, "empty-content")]
        assert self.check({"type": "message", "role": "wizard", "content": "x"}) == [(0, "unknown-role")]

    def test_who_says_which_text(self):
        def said(role, kind, text="x"):
            return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

        assert self.check(said("user", "input_text"), said("assistant", "output_text")) == []
        assert self.check(said("user", "input_text"), said("assistant", "input_text")) == [(1, "misplaced-text")]
        assert self.check(said("user", "output_text")) == [(0, "misplaced-text")]
        assert self.check(said("user", "input_text", '"output_text"')) == []


def test_each_problem_says_what_is_wrong():
    (found,) = problems(messages("openai-chat", [user(), calls("abc")]), "chat")
    assert (found.place, found.part) == (1, 0)
    assert "'abc'" in found.sentence
