"""The scripted upstream: streams that add up, a cache that is billed, thinking that is sealed, faults on demand."""

from __future__ import annotations

import http.client
import json

import pytest

from clew.errors import InputError
from clew.testing.upstream import (
    Ask,
    Call,
    Cut,
    Errand,
    HangUp,
    Lie,
    MidError,
    Nonsense,
    Refuse,
    Reply,
    Say,
    Slow,
    Think,
    Upstream,
    on,
    running,
    script,
)
from clew.wire.sse import Stream
from clew.wire.usage import read
from tests.testing.asking import PATHS, ask, shell, user

WIRES = list(PATHS)
FULL = Reply(
    (
        Think("let me see"),
        Say("I'll look: é, 漢字.\n"),
        Call("Bash", {"command": "ls -la"}),
        Call("Bash", {"command": "pwd"}),
    )
)


def streamed(raw: bytes, wire: str):
    stream = Stream(wire)
    stream.feed(raw)
    stream.close()
    return stream.assembled()


def without(value, *keys):
    """The value without ids, which differ from request to request."""
    if isinstance(value, dict):
        return {k: without(v, *keys) for k, v in value.items() if k not in keys}
    return [without(v, *keys) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_adds_up_to_the_body(wire):
    more = {"stream_options": {"include_usage": True}} if wire == "openai-chat" else {}
    with running(Upstream(script(FULL, FULL, otherwise=FULL))) as up:
        whole = ask(up.url, wire, [user(wire)]).value
        stream = ask(up.url, wire, [user(wire)], stream=True, **more)
    assert stream.headers["content-type"].startswith("text/event-stream")
    got = streamed(stream.raw, wire)
    assert got.finished
    assert got.notes == ()
    ids = (
        "id",
        "call_id",
        "created",
        "object",
        "item_id",
        "usage",
        "logprobs",
        "system_fingerprint",
        "encrypted_content",
    )
    assert without(got.body, *ids) == without(whole, *ids)
    assert got.usage.output == read(whole, wire).output


@pytest.mark.parametrize("wire", WIRES)
def test_the_same_seed_gives_the_same_bytes(wire):
    def play():
        with running(Upstream(script(FULL), seed=7)) as up:
            return ask(up.url, wire, [user(wire)], stream=True).raw

    assert play() == play()


def test_a_script_that_is_over_says_so():
    play = script("one")
    with running(Upstream(play)) as up:
        assert ask(up.url, "openai-chat", [user("openai-chat")]).status == 200
        asked = Ask(1, "", {}, {}, up.asks[0].request, up.asks[0].model, 0)
    with pytest.raises(InputError, match="1 turns and request 1 came"):
        play(asked)


def test_thinking_comes_back_unchanged_or_not_at_all():
    with running(Upstream(script(FULL, otherwise=Reply((Say("ok"),))))) as up:
        said = ask(up.url, "anthropic", [user("anthropic")]).value["content"]
        results = [
            {"type": "tool_result", "tool_use_id": b["id"], "content": "x"} for b in said if b["type"] == "tool_use"
        ]
        turn = {"role": "user", "content": results}
        assert ask(up.url, "anthropic", [user(""), {"role": "assistant", "content": said}, turn]).status == 200
        dropped = [b for b in said if b["type"] != "thinking"]
        assert ask(up.url, "anthropic", [user(""), {"role": "assistant", "content": dropped}, turn]).status == 200
        forged = [{**b, "thinking": "something else"} if b["type"] == "thinking" else b for b in said]
        got = ask(up.url, "anthropic", [user(""), {"role": "assistant", "content": forged}, turn])
    assert (got.status, "Invalid `signature`" in got.words) == (400, True)


def test_encrypted_reasoning_belongs_to_its_item():
    include = {"include": ["reasoning.encrypted_content"], "store": False}
    with running(
        Upstream(script(Reply((Think("hm"), Say("a"))), Reply((Think("ah"), Say("b"))), otherwise=Reply((Say("c"),))))
    ) as up:
        first, second = (ask(up.url, "openai-responses", "hi", **include).value["output"] for _ in range(2))
        assert ask(up.url, "openai-responses", first).status == 200
        anonymous = [{k: v for k, v in item.items() if k != "id"} for item in first]
        assert ask(up.url, "openai-responses", anonymous).status == 200
        swapped = [{**first[0], "encrypted_content": second[0]["encrypted_content"]}, first[1]]
        got = ask(up.url, "openai-responses", swapped)
    assert got.value["error"]["code"] == "invalid_encrypted_content"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_the_cache_is_written_read_and_forgotten():
    clock, mark = Clock(), {"type": "ephemeral"}
    long = "stone " * 6000

    def turn(up, *texts):
        blocks = [{"type": "text", "text": t} for t in texts]
        blocks[-1]["cache_control"] = mark
        return read(ask(up.url, "anthropic", [{"role": "user", "content": blocks}]).value, "anthropic")

    with running(Upstream(script(otherwise=Reply((Say("ok"),))), clock=clock)) as up:
        first = turn(up, long)
        second = turn(up, long, "more")
        clock.now += 299
        third = turn(up, long, "more", "and more")
        clock.now += 301
        cold = turn(up, long, "more", "and more")
    assert first.cache_read == 0
    assert first.cache_write_5m > 6000
    assert second.cache_read == first.prompt
    assert third.cache_read == second.prompt
    assert cold.cache_read == 0
    assert cold.cache_write_5m == third.prompt


def test_keys_do_not_share_a_cache_and_a_bias_shows_in_every_count():
    words = [{"role": "user", "content": "stone " * 3000}]
    headers = {"content-type": "application/json", "authorization": "Bearer other"}
    with running(Upstream(script(otherwise=Reply((Say("ok"),))), bias=1.1)) as up:
        first, again = (read(ask(up.url, "openai-chat", words).value) for _ in range(2))
        other = read(ask(up.url, "openai-chat", words, headers=headers).value)
    with running(Upstream(script(otherwise=Reply((Say("ok"),))))) as up:
        plain = read(ask(up.url, "openai-chat", words).value)
    assert (first.cache_read, other.cache_read) == (0, 0)
    assert again.cache_read > 2900
    assert again.cache_read % 128 == 0
    assert 1.09 < first.prompt / plain.prompt < 1.11


def test_a_text_and_a_block_of_it_are_the_same_to_the_cache():
    long, mark = "stone " * 6000, {"type": "ephemeral"}
    after = [
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": mark}]},
    ]
    with running(Upstream(script(otherwise=Reply((Say("ok"),))))) as up:
        ask(up.url, "anthropic", [{"role": "user", "content": [{"type": "text", "text": long, "cache_control": mark}]}])
        used = read(ask(up.url, "anthropic", [{"role": "user", "content": long}, *after]).value, "anthropic")
    assert used.cache_read > 6000


@pytest.mark.parametrize("wire", WIRES)
def test_refusals_look_like_the_providers(wire):
    with running(Upstream(script(Refuse(429, retry_after=1.5), Refuse(500), Refuse(503, "custom")))) as up:
        limited, broken, custom = (ask(up.url, wire, [user(wire)]) for _ in range(3))
    assert (limited.status, limited.headers["retry-after"]) == (429, "1.5")
    assert limited.value["error"]["type"] in ("rate_limit_error", "requests")
    assert broken.value["error"]["type"] in ("api_error", "server_error")
    assert custom.words == "custom"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stream", [False, True])
def test_a_reset_reaches_the_client(wire, stream):
    with running(Upstream(on(script(otherwise=FULL), {0: Cut(FULL, 3, reset=True), 1: HangUp()}))) as up:
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            ask(up.url, wire, [user(wire)], stream=stream)
        with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
            ask(up.url, wire, [user(wire)], stream=stream)
        assert ask(up.url, wire, [user(wire)], stream=stream).status == 200


@pytest.mark.parametrize("wire", WIRES)
def test_half_an_event_and_an_error_in_the_stream(wire):
    faults = {0: lambda reply: Cut(reply, events=4, extra=11, reset=False), 1: MidError}
    with running(Upstream(on(script(otherwise=FULL), faults))) as up:
        half, error = (ask(up.url, wire, [user(wire)], stream=True) for _ in range(2))
    assert not half.raw.endswith(b"\n\n")
    assert not streamed(half.raw, wire).finished
    told = streamed(error.raw, wire)
    assert not told.finished
    assert "Overloaded" in json.dumps(told.error)


def test_nonsense_slowness_and_lies():
    lie = Reply((Say("ok"),), lie=Lie({"prompt_tokens": 3, "completion_tokens": None}))
    page = Nonsense(b"<html>sign in</html>", "text/html")
    with running(Upstream(script(Nonsense(), page, lie, Slow(FULL, before=0.05, between=0.001)))) as up:
        empty, html, lied, slow = (ask(up.url, "openai-chat", [user("")], stream=n == 3) for n in range(4))
    assert (empty.status, empty.raw) == (200, b"")
    assert html.headers["content-type"] == "text/html"
    assert lied.value["usage"]["prompt_tokens"] == 3
    assert "completion_tokens" not in lied.value["usage"]
    assert streamed(slow.raw, "openai-chat").finished
    assert [r.status for r in up.records] == [200] * 4


def test_output_that_was_cut_off_says_so():
    for wire, word in (("anthropic", "max_tokens"), ("openai-chat", "length"), ("openai-responses", "incomplete")):
        with running(Upstream(script(otherwise=Reply((Say("and then"),), stop="length")))) as up:
            assert word in json.dumps(ask(up.url, wire, [user(wire)]).value)


def errand(wire, url, prompt, forget=()):
    """Plays a client of an errand; `forget` takes messages out before the request of that number."""
    messages, replies = [user(wire, prompt)], []
    for n in range(20):
        sent = messages if n not in forget else [messages[0], *messages[3:]]
        got = ask(url, wire, sent, tools=[shell(wire)])
        assert got.status == 200, got.raw
        replies.append(got.value)
        messages, over = grown(wire, sent, got.value)
        if over:
            return over, replies
    raise AssertionError("the errand has no end")


def grown(wire, messages, reply):
    def result(call_id):
        return "alpha value=k9" if "_000_" in call_id else "line"

    if wire == "anthropic":
        calls = [b["id"] for b in reply["content"] if b["type"] == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": c, "content": result(c)} for c in calls]
        return [*messages, {"role": "assistant", "content": reply["content"]}, {"role": "user", "content": results}], (
            "" if calls else reply["content"][-1]["text"]
        )
    if wire == "openai-responses":
        calls = [i["call_id"] for i in reply["output"] if i["type"] == "function_call"]
        results = [{"type": "function_call_output", "call_id": c, "output": result(c)} for c in calls]
        return [*messages, *reply["output"], *results], "" if calls else reply["output"][-1]["content"][0]["text"]
    said = reply["choices"][0]["message"]
    calls = [c["id"] for c in said.get("tool_calls", ())]
    results = [{"role": "tool", "tool_call_id": c, "content": result(c)} for c in calls]
    return [*messages, said, *results], "" if calls else said["content"]


@pytest.mark.parametrize("wire", WIRES)
def test_an_errand_is_run_to_its_end_in_any_wire(wire):
    with running(Upstream(Errand(think=wire != "openai-chat"))) as up:
        said, replies = errand(wire, up.url, "please: errand:alpha steps=4 parallel=2")
    assert said == "done: k9"
    assert len(replies) == 5
    assert up.refused == []


def test_an_errand_whose_first_result_was_lost_says_forgotten():
    with running(Upstream(Errand())) as up:
        said, _ = errand("openai-chat", up.url, "errand:alpha steps=4", forget={3})
    assert said == "done: forgotten"


def test_an_errand_goes_on_from_a_summary_and_repeats_itself_for_a_repeated_request():
    with running(Upstream(Errand())) as up:
        tools = [shell("openai-chat")]
        going = [user("", "Here we go on: errand:alpha steps=9 parallel=1 at=6\nalpha value=k9")]
        one, two = (ask(up.url, "openai-chat", going, tools=tools).value["choices"][0]["message"] for _ in range(2))
        asked = [
            *going,
            one,
            {"role": "tool", "tool_call_id": one["tool_calls"][0]["id"], "content": "alpha step 7 line 1"},
        ]
        summary = ask(up.url, "openai-chat", [*asked, user("", "Write a summary of this conversation.")]).value
    assert one == two
    assert one["tool_calls"][0]["id"] == "errand_alpha_007_0"
    assert "at=7" in summary["choices"][0]["message"]["content"]
    assert "alpha value=k9" in summary["choices"][0]["message"]["content"]


def test_a_request_without_an_errand_gets_small_talk():
    with running(Upstream(Errand())) as up:
        assert (
            ask(up.url, "openai-chat", [user("", "a title, please")]).value["choices"][0]["message"]["content"] == "ok"
        )
