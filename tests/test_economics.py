"""Each provider's cache rules as single cases, the bill and its reason, rewrites, and the rent of not compacting."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from dataclasses import replace
from itertools import pairwise

import pytest

from clew.catalog import lookup
from clew.economics import (
    Block,
    CacheState,
    Request,
    SkiRental,
    Why,
    accrue,
    bill,
    due,
    epoch_cost,
    price,
    problems,
    readable,
    rewrite_price,
    weights,
)
from tests.conftest import ROOT

CLAUDE = lookup("claude-sonnet-4-5")
GPT = lookup("gpt-5.1")
GPT_56 = lookup("gpt-5.6")
LOCAL = lookup("llama-3.3")
GPT_4 = lookup("gpt-4")


def blocks(n, tokens=1000, start=0, mark=None):
    """That many blocks of equal size; the last one may carry a mark."""
    return [Block(f"b{i}", tokens, mark if i == start + n - 1 else None) for i in range(start, start + n)]


def run(model, *requests, every=1.0):
    """The bills of requests sent one after the other."""
    state, out = CacheState(), []
    for i, request in enumerate(requests):
        state, paid = price(state, request, model, i * every)
        out.append(paid)
    return out


def split(paid):
    return paid.read, paid.written_5m, paid.written_1h, paid.uncached


class TestAnthropic:
    def test_a_marked_prefix_is_written_then_read_and_the_new_end_written(self):
        first, second = run(CLAUDE, Request.of(blocks(5, mark="5m")), Request.of(blocks(7, mark="5m")))
        assert split(first) == (0, 5000, 0, 0)
        assert split(second) == (5000, 2000, 0, 0)
        assert (first.why.reason, second.why.reason) == ("cold start", "warm")
        assert first.cost == pytest.approx(5000 * 3.75e-6)
        assert second.cost == pytest.approx(5000 * 0.3e-6 + 2000 * 3.75e-6)
        assert second.weight == pytest.approx(5000 * 0.1 + 2000 * 1.25)

    def test_what_follows_the_last_mark_is_plain_input(self):
        request = Request.of([*blocks(5, mark="5m"), Block("tail", 300)])
        assert split(run(CLAUDE, request)[0]) == (0, 5000, 0, 300)

    def test_without_marks_nothing_is_stored(self):
        first, second = run(CLAUDE, Request.of(blocks(5)), Request.of(blocks(6)))
        assert split(second) == (0, 0, 0, 6000)
        assert first.why.reason == second.why.reason == "no breakpoint"

    def test_below_the_minimum_nothing_is_stored_and_the_sentence_says_the_minimum(self):
        for tokens, written in ((1023, 0), (1024, 1024)):
            paid = run(CLAUDE, Request.of([Block("a", tokens, "5m")]))[0]
            assert paid.written_5m == written
        assert "1,024" in str(run(CLAUDE, Request.of([Block("a", 1023, "5m")]))[0].why)

    @pytest.mark.parametrize(("new", "read"), [(1, 5000), (19, 5000), (20, 0), (30, 0)])
    def test_a_breakpoint_looks_back_over_twenty_blocks_itself_included(self, new: int, read: int):
        second = run(CLAUDE, Request.of(blocks(5, mark="5m")), Request.of(blocks(5 + new, mark="5m")))[1]
        assert second.read == read
        assert second.why.reason == ("warm" if read else "beyond lookback")

    def test_a_mark_kept_in_between_bridges_the_lookback(self):
        grown = Request.of(blocks(60, mark="5m")).marked([(4, "5m"), (59, "5m")])
        second = run(CLAUDE, Request.of(blocks(5, mark="5m")), grown)[1]
        assert split(second) == (5000, 55000, 0, 0)

    def test_a_changed_block_is_named_and_only_marks_before_it_help(self):
        sent = Request.of(blocks(10)).marked([(1, "5m"), (9, "5m")])
        changed = blocks(10)
        changed[4] = Block("other", 1000)
        paid = run(CLAUDE, sent, Request.of(changed).marked([(1, "5m"), (9, "5m")]))[1]
        assert split(paid) == (2000, 8000, 0, 0)
        assert paid.why == Why("prefix changed", block=4, tokens=8000)
        assert "block 4" in str(paid.why)

    @pytest.mark.parametrize(
        ("life", "gap", "read"), [("5m", 299, 5000), ("5m", 300, 0), ("1h", 3599, 5000), ("1h", 3600, 0)]
    )
    def test_a_life_ends_and_the_bill_says_so(self, life: str, gap: float, read: int):
        paid = run(CLAUDE, *[Request.of(blocks(n, mark=life)) for n in (5, 6)], every=gap)[1]
        assert paid.read == read
        assert paid.why.reason == ("warm" if read else "expired")

    def test_reading_prolongs(self):
        request = Request.of(blocks(5, mark="5m"))
        assert [p.read for p in run(CLAUDE, *[request] * 6, every=250)] == [0, 5000, 5000, 5000, 5000, 5000]

    def test_the_longer_life_comes_first_and_is_billed_apart(self):
        request = Request.of(blocks(10)).marked([(3, "1h"), (9, "5m")])
        first, second = run(CLAUDE, request, request, every=600)
        assert split(first) == (0, 6000, 4000, 0)
        assert split(second) == (4000, 6000, 0, 0)

    def test_what_the_provider_would_refuse_is_said(self):
        assert problems(Request.of(blocks(10)).marked([(3, "1h"), (9, "5m")]), CLAUDE) == ()
        five = Request.of(blocks(10)).marked([(i, "5m") for i in range(5)])
        assert problems(five, CLAUDE) == ("5 cache marks where claude-sonnet-4-5 takes 4",)
        backwards = Request.of(blocks(10)).marked([(3, "5m"), (9, "1h")])
        assert "after one of five minutes" in problems(backwards, CLAUDE)[0]
        assert problems(five, GPT) == ()
        assert len(problems(Request.of(blocks(10)).marked([(i, "5m") for i in range(4)]), GPT_56)) == 1

    def test_of_too_many_marks_the_last_ones_count(self):
        five = Request.of(blocks(10)).marked([(i, "5m") for i in (1, 3, 5, 7, 9)])
        state, _ = price(CacheState(), five, CLAUDE, 0.0)
        assert sorted(e.blocks for e in state.entries) == [4, 6, 8, 10]

    def test_two_branches_are_both_kept(self):
        stem = blocks(5)
        left = Request.of([*stem, Block("left", 1000)]).marked([(4, "5m"), (5, "5m")])
        right = Request.of([*stem, Block("right", 1000)]).marked([(4, "5m"), (5, "5m")])
        assert [p.read for p in run(CLAUDE, left, right, left, right)] == [0, 5000, 6000, 6000]


class TestAutomatic:
    def test_openai_reads_in_steps_of_128_from_1024_on(self):
        for before, read in ((1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (5000, 4992)):
            grown = [Block("a", before), Block("b", 3000)]
            assert run(GPT, Request.of(grown[:1]), Request.of(grown))[1].read == read

    def test_a_change_is_read_up_to_its_block_without_any_mark(self):
        changed = blocks(10)
        changed[4] = Block("other", 1000)
        paid = run(GPT, Request.of(blocks(10)), Request.of(changed))[1]
        assert split(paid) == (3968, 0, 0, 6032)
        assert (paid.why.reason, paid.why.block) == ("prefix changed", 4)

    def test_writes_cost_nothing_extra_before_gpt_56_and_a_quarter_more_from_then_on(self):
        assert run(GPT, Request.of(blocks(5)))[0].weight == 5000
        paid = run(GPT_56, Request.of(blocks(5)))[0]
        assert split(paid) == (0, 5000, 0, 0)
        assert paid.weight == 6250

    def test_from_gpt_56_on_an_entry_ends_where_a_request_ended(self):
        changed = [*blocks(9), Block("other", 1000)]
        assert run(GPT_56, Request.of(blocks(10)), Request.of(blocks(60)))[1].read == 10_000
        assert run(GPT_56, Request.of(blocks(10)), Request.of(changed))[1].read == 0
        marked = Request.of(blocks(10)).marked([(2, "5m")])
        assert run(GPT_56, marked, Request.of(changed))[1].read == 3000

    def test_a_cold_cache_after_the_ttl(self):
        assert [p.read > 0 for p in run(GPT, *[Request.of(blocks(5))] * 2, every=599)] == [False, True]
        assert run(GPT, *[Request.of(blocks(5))] * 2, every=600)[1].why.reason == "expired"

    def test_another_model_has_another_cache(self):
        state, _ = price(CacheState(), Request.of(blocks(5)), GPT, 0)
        _, paid = price(state, Request.of(blocks(5)), lookup("gpt-5.2"), 1)
        assert (paid.read, paid.why.reason) == (0, "model changed")

    def test_a_model_without_a_cache_says_so(self):
        assert run(GPT_4, *[Request.of(blocks(5))] * 2)[1].why.reason == "no cache"

    def test_an_old_branch_that_was_forgotten_counts_as_expired(self):
        one, other = Request.of(blocks(5, mark="5m")), Request.of([Block("x", 5000, "5m")])
        paid = run(CLAUDE, one, other, other, one, every=200)
        assert paid[3].why.reason == "expired"


def test_a_long_request_is_billed_at_its_own_price_as_a_whole():
    model = lookup("claude-haiku-5-5")
    assert bill(model, 100_000, 0, 0, 0, 10, Why("warm")).cost == pytest.approx(0.01 + 5e-6)
    assert bill(model, 100_001, 0, 0, 0, 10, Why("warm")).cost == pytest.approx(0.0500005 + 25e-6)


def test_a_bill_that_does_not_add_up_is_refused():
    with pytest.raises(ValueError, match="of 10 tokens"):
        bill(CLAUDE, 10, 8, 3, 0, 0, Why("warm"))


def test_without_a_list_price_a_read_is_free_and_the_rest_counts_one():
    paid = run(LOCAL, Request.of(blocks(5)), Request.of(blocks(6)))[1]
    assert (paid.cost, paid.weight) == (0, 1000)
    assert weights(LOCAL.prices).read == 0


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="has -1 tokens"):
        Request.of([Block("a", -1)])
    for mark in (-1, 5):
        with pytest.raises(ValueError, match="outside"):
            Request.of(blocks(5)).marked([(mark, "5m")])
    empty = run(CLAUDE, Request())[0]
    assert (empty.input, empty.cost) == (0, 0)


def test_the_state_is_a_plain_value():
    state, _ = price(CacheState(), Request.of(blocks(5, mark="5m")), CLAUDE, 0)
    assert pickle.loads(pickle.dumps(state)) == state
    assert hash(state) == hash(pickle.loads(pickle.dumps(state)))


def test_the_state_stays_small_over_a_long_session():
    state, request = CacheState(), Request()
    for turn in range(400):
        request = request.then([Block(f"t{turn}", 500)]).marked([(turn, "5m")])
        state, _ = price(state, request, CLAUDE, turn * 10.0)
    assert len(state.seen) == 1
    assert len(state.entries) <= 31


class TestRewrite:
    def sent(self, model, n=100, mark="5m"):
        request = Request.of(blocks(n, mark=mark))
        return price(CacheState(), request, model, 0)[0], request

    def test_it_is_what_follows_minus_what_goes_away_times_write_minus_read(self):
        state, request = self.sent(GPT)
        found = rewrite_price(state, request, GPT, 50, 1, removed=30_000)
        kept = 50_000 // 128 * 128
        assert found.tokens == 100_000 // 128 * 128 - kept - 30_000
        assert found.weight == pytest.approx(found.tokens * 0.9)
        assert found.cost == pytest.approx(found.tokens * (1.25 - 0.125) / 1e6)

    def test_with_breakpoints_everything_after_the_last_surviving_one_is_rewritten(self):
        state, request = self.sent(CLAUDE)
        assert rewrite_price(state, request, CLAUDE, 50, 1).tokens == 100_000
        marked = request.marked([(39, "5m"), (99, "5m")])
        state = price(CacheState(), marked, CLAUDE, 0)[0]
        found = rewrite_price(state, marked, CLAUDE, 50, 1)
        assert found.tokens == 60_000
        assert found.weight == pytest.approx(60_000 * (1.25 - 0.1))

    def test_the_hour_costs_more_to_rewrite(self):
        state, request = self.sent(CLAUDE, mark="1h")
        assert rewrite_price(state, request, CLAUDE, 50, 1).weight == pytest.approx(100_000 * 1.9)

    def test_a_cold_cache_makes_it_free(self):
        state, request = self.sent(CLAUDE)
        assert rewrite_price(state, request, CLAUDE, 50, 299).weight > 0
        assert rewrite_price(state, request, CLAUDE, 50, 300).weight == 0
        assert rewrite_price(CacheState(), request, CLAUDE, 50, 0).weight == 0

    def test_it_agrees_with_the_difference_of_two_bills(self):
        for model in (GPT, CLAUDE, GPT_56, LOCAL):
            state, request = self.sent(model)
            changed = blocks(100, mark="5m")
            changed[50] = Block("other", 1000)
            kept = price(state, request, model, 1)[1]
            altered = price(state, Request.of(changed), model, 1)[1]
            assert rewrite_price(state, request, model, 50, 1).weight == pytest.approx(altered.weight - kept.weight)


class TestRent:
    def test_it_is_due_when_the_rent_reaches_the_price(self):
        rental = SkiRental()
        cost = epoch_cost(rewrite=50_000, summary=8_000, refetch=2_000)
        for _ in range(14):
            rental = accrue(rental, 40_000, 0.1)
            assert not due(rental, cost)
        assert due(accrue(rental, 40_000, 0.1), cost)
        assert rental.requests == 14

    def test_a_cold_cache_is_always_due_and_no_rent_never_is(self):
        assert due(SkiRental(), 0.0)
        assert not due(accrue(SkiRental(), 0, 0.1), 1e-9)
        assert not due(accrue(SkiRental(), 10**6, weights(LOCAL.prices).read), 1.0)

    def test_rent_is_never_negative(self):
        for tokens, price_each in ((-1, 0.1), (1, -0.1)):
            with pytest.raises(ValueError, match="negative"):
                accrue(SkiRental(), tokens, price_each)

    def test_whatever_comes_it_costs_at_most_twice_what_foresight_would_have(self):
        each, cost = 4_000.0, 60_000.0
        for length in range(1, 200):
            rental, paid = SkiRental(), 0.0
            for _ in range(length):
                if due(rental, cost):
                    paid += cost
                    break
                rental = accrue(rental, 40_000, 0.1)
                paid += each
            assert paid <= 2 * min(length * each, cost)


def test_real_sessions_are_predicted_to_within_what_the_docs_say(bench_dir, monkeypatch):
    spec = importlib.util.spec_from_file_location("cache_model", ROOT / "bench" / "cache_model.py")
    assert spec
    assert spec.loader
    bench = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cache_model", bench)  # its dataclasses look their module up
    spec.loader.exec_module(bench)
    found = [c for path in sorted((bench_dir / "native").glob("*.jsonl")) for c in bench.replayed(path)]
    if not found:
        pytest.skip(f"left out: no native sessions in {bench_dir}")
    errors = sorted(abs(c.error) for c in found)
    assert errors[len(errors) // 2] < 0.005
    assert errors[round(0.95 * len(errors))] < 0.05
    for c in found:
        assert c.expected.input == c.sent.tokens


def test_growing_a_request_hashes_only_what_is_new():
    short = Request.of(blocks(5))
    grown = short.then(blocks(3, start=5))
    assert grown == Request.of(blocks(8))
    assert grown.chains[:5] == short.chains
    assert all(a < b for a, b in pairwise(grown.totals))
    other = replace(grown, marks=((2, "5m"),))
    assert other.shared(grown.chains) == 8
    assert readable(CacheState(), grown, CLAUDE, 0).tokens == 0
