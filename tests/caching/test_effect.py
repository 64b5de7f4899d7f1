"""What a session's cache did, and whose fault a miss was."""

from __future__ import annotations

import pytest

import clew.record.habits as habits_of
from clew.caching import NO_EFFECT, after, mark, sent
from clew.catalog import lookup
from clew.economics import CacheState, price
from clew.record import read
from clew.record.habits import kind, session
from clew.wire import get
from clew.wire.usage import Usage
from tests.caching.requests import LONG, MARK, OPENROUTER, anthropic, chat, compacted, said, turns, user
from tests.conftest import ROOT

SONNET = lookup("claude-sonnet-4-6")


class Session:
    """A conversation whose provider does exactly what the model says, with a tokenizer that counts 1.1 times as much."""

    def __init__(self):
        self.effect, self.state, self.now, self.said = NO_EFFECT, CacheState(), 0.0, []

    def send(self, request, client=None, *, base=None, expected=False, wait=10.0, forgets=False):
        self.now += wait
        view = mark(request, SONNET, base=base, upstream=OPENROUTER)
        this = sent(view, SONNET, client, previous=self.effect.last)
        assert this == sent(view, SONNET, client)
        if forgets:
            self.state = CacheState()
        self.state, bill = price(self.state, this.priced, SONNET, self.now, 10)
        usage = Usage(
            *(round(1.1 * n) for n in (bill.uncached, bill.read, bill.written_5m, bill.written_1h)), output=10
        )
        self.effect, found = after(self.effect, this, usage, SONNET, self.now, expected=expected)
        self.said.append(found)
        return found


@pytest.mark.parametrize("make", [anthropic, chat])
def test_a_growing_conversation_is_read_as_foretold_and_warns_of_nothing(make):
    s = Session()
    for n in range(1, 12, 2):
        s.send(make(turns(n)))
    assert s.said == [None] * 6
    e = s.effect
    assert e.requests == 6
    assert abs(e.read - e.forecast_read) <= 6
    assert abs(e.written - e.forecast_written) <= 6
    assert e.share_read > 0.5
    assert e.prompt == e.forecast_read + e.forecast_written + e.forecast_uncached
    assert e.reason == "warm"


def test_a_clients_change_is_named_as_the_clients():
    s = Session()
    s.send(anthropic(turns(3)))
    changed = anthropic(turns(5), system="Be brief! " + LONG)
    found = s.send(changed)
    assert (found.side, found.place, found.request) == ("client", "system[0]", 2)
    assert found.tokens > 2000
    assert "system[0] was changed by the client" in str(found)
    assert s.effect.changed == (found,)


def test_what_clew_changed_though_the_client_did_not_is_named_as_clews():
    s = Session()
    messages = turns(5)
    s.send(anthropic(messages), client=anthropic(messages))
    shorter = [*messages[:2], user("clipped"), *messages[3:], said("x"), user("y")]
    found = s.send(anthropic(shorter), client=anthropic([*messages, said("x"), user("y")]))
    assert (found.side, found.place) == ("clew", "messages[2].content[0]")
    assert "was changed by Clew" in str(found)


def test_what_was_left_out_at_the_end_is_named():
    s = Session()
    s.send(anthropic(turns(7)))
    found = s.send(anthropic(turns(4)))
    assert (found.side, found.place) == ("client", "messages[4].content[0] (left out)")


def test_an_epoch_is_no_warning():
    s = Session()
    s.send(anthropic(turns(5)))
    assert s.send(anthropic(turns(5)[2:]), expected=True) is None
    assert s.effect.reason == "prefix changed"


def test_an_expired_cache_is_no_warning():
    s = Session()
    s.send(anthropic(turns(3)))
    assert s.send(anthropic(turns(5)), wait=400.0) is None
    assert s.effect.reason == "expired"


def test_a_provider_that_forgot_is_told_from_a_changed_prefix():
    s = Session()
    s.send(anthropic(turns(5)))
    found = s.send(anthropic(turns(7)), forgets=True)
    assert (found.side, found.place) == ("provider", "")
    assert "though the prefix was the same" in str(found)


def test_of_a_run_of_misses_by_the_provider_the_first_is_told():
    s = Session()
    s.send(anthropic(turns(5)))
    assert [s.send(anthropic(turns(n)), forgets=True) is None for n in (7, 9, 11)] == [False, True, True]
    assert s.send(anthropic(turns(13))) is None
    assert s.send(anthropic(turns(15)), forgets=True).side == "provider"


def test_a_server_that_never_reports_a_read_is_taken_to_have_no_cache():
    model, effect = lookup("gpt-5"), NO_EFFECT
    for n in (5, 7, 9):
        this = sent(chat(turns(n)), model, previous=effect.last)
        effect, found = after(effect, this, Usage(this.priced.tokens), model, 10.0 * n)
        assert found is None
    assert effect.forecast_read > 0


def test_moving_marks_and_another_spelling_change_nothing():
    s = Session()
    s.send(anthropic([{"role": "user", "content": [{"type": "text", "text": LONG, "cache_control": MARK}]}]))
    assert s.send(anthropic([user(LONG), said("ok"), user("more")])) is None


def test_usage_of_nothing_is_no_division_by_zero():
    this = sent(anthropic([user("hi")], system=None), SONNET)
    effect, found = after(NO_EFFECT, this, Usage(), SONNET, 0.0)
    assert (effect.prompt, effect.share_read, found) == (0, 0.0, None)


@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
def test_the_next_epoch_reads_the_earlier_pages_from_the_cache(wire):
    tail = [said("ok"), user("go on"), said("done"), user("more")]
    s = Session()
    first, span = compacted(wire, 1, tail)
    s.send(first, base=span)
    second, span = compacted(wire, 2, tail)
    s.send(second, base=span, expected=True)
    page = 1 if wire == "openai-chat" else 0  # the system prompt stands before it on both wires
    assert s.effect.read >= 1.1 * s.effect.last.priced.upto(1 + 1) - 5
    assert s.effect.last.names[1] == ("messages[1]" if page else "messages[0].content[0]")


def test_on_recorded_traffic_of_claude_code_the_one_change_of_its_own_is_named():
    model, effects, state, last = lookup("claude-opus-4-8"), {}, {}, {}
    found = []
    for n, e in enumerate(
        x for x in read(ROOT / "tests/data/traffic/claude-code.jsonl.zst") if kind(x) in ("turn", "subagent")
    ):
        request = get("anthropic").request(e.body)
        view = mark(request, model)
        assert view is request  # it marks two system blocks and its last message: nothing outlives an epoch but a page
        key, before = session(e), effects.get(session(e), NO_EFFECT)
        this = sent(view, model, request, previous=before.last)
        state[key], bill = price(state.get(key, CacheState()), this.priced, model, 5.0 * n, 1)
        usage = Usage(bill.uncached, bill.read, bill.written_5m, bill.written_1h, 1)
        expected = key in last and habits_of.compacted(last[key], e)
        effects[key], warning = after(before, this, usage, model, 5.0 * n, expected=expected)
        last[key] = e
        found += [warning] if warning else []
    assert [(w.request, w.place, w.side) for w in found] == [(12, "system[2]", "client")]
    assert [e.requests for e in effects.values()] == [20, 4]
    assert all(e.share_read > 0.7 for e in effects.values())
