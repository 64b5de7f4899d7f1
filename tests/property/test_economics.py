"""What holds of the cache model for any conversation, on any provider's rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.catalog import lookup
from clew.economics import Block, CacheState, Request, price, rewrite_price, usable_marks

MODELS = [
    lookup(n)
    for n in ("claude-sonnet-4-5", "claude-opus-5-5", "gpt-5.1", "gpt-5.6", "deepseek-v4-pro", "llama-3.3", "gpt-4")
]
models = st.sampled_from(MODELS)
keys = st.sampled_from([f"k{i}" for i in range(6)])
tokens = st.one_of(st.integers(0, 50), st.integers(0, 6000))
marks = st.sampled_from([None, None, None, "5m", "1h"])
requests = st.lists(st.builds(Block, keys, tokens, marks), max_size=40).map(Request.of)
gaps = st.sampled_from([0.0, 1.0, 200.0, 400.0, 1200.0, 4000.0])
sized = st.lists(st.integers(1, 6000), min_size=1, max_size=60)


def blocks(sizes, start=0):
    return [Block(f"b{i}", n) for i, n in enumerate(sizes, start)]


def replay(model, sent):
    state, now, out = CacheState(), 0.0, []
    for gap, request in sent:
        now += gap
        state, paid = price(state, request, model, now, output=7)
        out.append((state, paid))
    return out


@given(models, st.lists(st.tuples(gaps, requests), max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_parts_of_a_bill_are_the_whole_input(model, sent):
    for (_, paid), (_, request) in zip(replay(model, sent), sent, strict=True):
        assert paid.read + paid.written_5m + paid.written_1h + paid.uncached == request.tokens
        assert min(paid.read, paid.written_5m, paid.written_1h, paid.uncached) >= 0
        assert paid.cost >= paid.input_cost >= 0
        assert str(paid.why)


@given(models, st.lists(st.tuples(gaps, requests), max_size=8))
@settings(max_examples=50, deadline=None)
def test_the_same_requests_cost_the_same(model, sent):
    assert replay(model, sent) == replay(model, sent)


@given(models, st.lists(st.lists(st.integers(1, 3000), min_size=1, max_size=18), min_size=2, max_size=8))
@settings(max_examples=100, deadline=None)
def test_growth_at_the_end_never_bills_again_what_was_sent_while_it_is_warm(model, turns):
    request, state, before = Request(), CacheState(), 0
    for now, sizes in enumerate(turns):
        request = request.then(blocks(sizes, len(request.chains)))
        request = request.marked([(len(request.chains) - 1, "5m")])
        state, paid = price(state, request, model, float(now))
        if model.cache.kind != "none" and before >= model.cache.minimum:
            assert paid.read >= before - (model.cache.step - 1)
            assert paid.why.reason == "warm"
        before = request.tokens


@given(models, sized, st.data())
@settings(max_examples=100, deadline=None)
def test_nothing_from_a_changed_block_on_is_read(model, sizes, data):
    place = st.integers(0, len(sizes) - 1)
    where = sorted({(data.draw(place), "5m"), (len(sizes) - 1, "5m")})
    k = data.draw(place)
    sent = Request.of(blocks(sizes)).marked(where)
    changed = blocks(sizes)
    changed[k] = Block("changed", sizes[k])
    state, _ = price(CacheState(), sent, model, 0)
    _, paid = price(state, Request.of(changed).marked(where), model, 1)
    assert paid.read <= sent.upto(k)
    if paid.why.reason == "prefix changed":
        assert paid.why.block == k


@given(models, sized, st.data())
@settings(max_examples=100, deadline=None)
def test_a_change_costs_its_rewrite_price_and_never_less_the_earlier_it_is(model, sizes, data):
    place = st.integers(0, len(sizes) - 1)
    request = Request.of(blocks(sizes)).marked(sorted({(data.draw(place), "5m"), (len(sizes) - 1, "5m")}))
    state, _ = price(CacheState(), request, model, 0)
    earlier, later = sorted((data.draw(place), data.draw(place)))
    first, second = (rewrite_price(state, request, model, k, 1) for k in (earlier, later))
    assert first.tokens >= second.tokens >= 0
    assert first.weight >= second.weight >= 0
    assert first.cost >= second.cost >= 0
    assert rewrite_price(state, request, model, earlier, 1, removed=100).tokens <= first.tokens
    changed = blocks(sizes)
    changed[later] = Block("changed", sizes[later])
    kept = price(state, request, model, 1)[1]
    altered = price(state, Request.of(changed).marked(request.marks), model, 1)[1]
    if len(usable_marks(request, model)) or model.cache.hits == "step":
        assert altered.weight - kept.weight == pytest.approx(second.weight, abs=1e-6)


@given(models, requests, st.integers(1, 5000), gaps)
@settings(max_examples=100, deadline=None)
def test_one_more_block_never_makes_a_first_request_cheaper(model, request, more, now):
    longer = request.then([Block("more", more)])
    small, large = (price(CacheState(), r, model, now)[1] for r in (request, longer))
    assert large.weight >= small.weight
    assert large.cost >= small.cost


@given(models, requests, requests, st.integers(0, 20_000), st.integers(0, 20_000))
@settings(max_examples=100, deadline=None)
def test_waiting_longer_never_makes_the_next_request_cheaper_to_read(model, first, second, a, b):
    state, _ = price(CacheState(), first, model, 0)
    soon, late = (price(state, second, model, float(t))[1] for t in sorted((a, b)))
    assert soon.read >= late.read


@given(models, requests, requests)
@settings(max_examples=100, deadline=None)
def test_two_requests_share_exactly_their_common_blocks(model, one, other):
    n = one.shared(other.chains)
    assert one.chains[:n] == other.chains[:n]
    assert n == min(len(one.chains), len(other.chains)) or one.chains[n] != other.chains[n]
    assert other.shared(one.chains) == n
