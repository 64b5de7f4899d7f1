"""One file's figures, worked out by hand."""

from __future__ import annotations

import pytest

from clew.errors import InputError
from clew.inspect import Options, inspect_file
from clew.inspect.file import thinned
from clew.inspect.values import KINDS, Point
from tests.inspect.builders import SOURCE, Claude, chat, shop, tool_turn


@pytest.fixture
def made(tmp_path):
    return inspect_file(shop().write(tmp_path / "shop.jsonl"))


def by(shares):
    return {s.name: s for s in shares}


def test_each_recorded_usage_is_a_request(made):
    assert (made.format, made.model, made.model_source) == ("claude-code", "claude-sonnet-4-6", "file")
    assert (made.requests, made.reported) == (7, 7)
    assert made.sent == 3000 + 3500 + 4000 + 4300 + 4900 + 2400 + 2500
    assert (made.peak, made.peak_request) == (4900, 5)


def test_sent_is_what_each_kind_weighed_in_each_request(made):
    assert sum(s.sent for s in made.by_kind) == pytest.approx(made.sent, abs=20)
    assert sum(sum(p.parts) for p in made.growth) == pytest.approx(made.sent, abs=20)
    user = by(made.by_kind)["user"]
    assert user.sent == 5 * user.tokens, "the first message was in the five requests before the compaction"
    summary = by(made.by_kind)["summary"]
    assert summary.sent == 2 * summary.tokens, "the handoff was in the two after it"


def test_a_compaction_begins_the_view_anew(made):
    (compacted,) = made.compactions
    assert (compacted.request, compacted.before, compacted.after, compacted.trigger) == (6, 5000, 2400, "auto")
    results = KINDS.index("result")
    assert made.growth[4].parts[results] > 0
    assert made.growth[5].parts[results] == 0


def test_a_file_read_again_is_counted_with_its_copies(made):
    repeat = made.repeats[0]
    assert (repeat.kind, repeat.target, repeat.times, repeat.same) == ("file", "cart.py", 3, 2)
    # The second reading was in three requests, the third in one.
    one = repeat.total // 3
    assert (repeat.tokens, repeat.sent) == (2 * one, 4 * one)
    assert made.copies == 2


def test_files_are_known_from_shell_commands_too(made):
    cart = next(t for t in made.by_file if t.path == "cart.py")
    assert (cart.reads, cart.changes) == (3, 1)


def test_the_bill_is_the_recorded_one_and_says_what_a_miss_cost(made):
    costs = made.costs
    assert costs.source == "recorded"
    assert costs.paid.input == costs.forecast.input == costs.uncached.input == made.sent
    (miss,) = costs.misses
    assert (miss.request, miss.tokens, miss.reason) == (4, 3990, "the cache had expired")
    assert miss.idle == 32 * 60
    assert costs.paid.cost < costs.uncached.cost


def test_without_usage_each_turn_of_the_assistant_is_a_request(tmp_path):
    turns = [*tool_turn(1, "one " * 50), *tool_turn(2, "two " * 50), {"role": "assistant", "content": "done"}]
    made = inspect_file(chat(tmp_path / "s.json", [{"role": "user", "content": "go"}, *turns]))
    assert (made.requests, made.reported, made.costs.source) == (3, 0, "forecast")
    first, second = (h for h in made.heaviest if h.kind == "result")
    assert (first.requests, second.requests) == (2, 1)
    assert made.costs.paid == made.costs.forecast
    assert any("reports no usage" in n for n in made.notes)
    assert any("no times" in n for n in made.notes)
    assert any("names no model" in n for n in made.notes)


def test_usage_for_few_of_the_requests_is_no_ground_to_count_on(tmp_path):
    turns = [m for n in range(6) for m in tool_turn(n, "x")]
    path = chat(tmp_path / "s.json", turns, usage={"prompt_tokens": 900, "completion_tokens": 5})
    made = inspect_file(path)
    assert (made.requests, made.reported) == (6, 0)
    assert any("too few" in n for n in made.notes)


def test_usage_without_tokens_is_no_report(tmp_path):
    path = chat(tmp_path / "s.json", [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
                usage={"prompt_tokens": 0})  # fmt: skip
    assert inspect_file(path).reported == 0


def test_reasoning_leaves_where_the_provider_drops_it(tmp_path):
    def said(text):
        return {"role": "assistant", "content": "ok", "reasoning_content": text}

    talk = [
        {"role": "user", "content": "one"}, said("thinking hard " * 30), {"role": "user", "content": "two"},
        said("more " * 30), {"role": "user", "content": "three"}, {"role": "assistant", "content": "end"},
    ]  # fmt: skip
    reasoning = KINDS.index("reasoning")
    dropped = inspect_file(chat(tmp_path / "a.json", talk, model="gpt-5.4"))
    assert [p.parts[reasoning] for p in dropped.growth] == [0, 0, 0]
    kept = inspect_file(chat(tmp_path / "b.json", talk, model="glm-5"))
    assert kept.growth[1].parts[reasoning] > 0
    assert kept.growth[2].parts[reasoning] > kept.growth[1].parts[reasoning]


def test_the_window_and_the_model_may_be_named(tmp_path):
    path = shop().write(tmp_path / "s.jsonl")
    made = inspect_file(path, Options(model="gpt-5.4", window=4000))
    assert (made.model, made.model_source, made.window) == ("gpt-5.4", "named", 4000)
    assert any("more than the window" in f.sentence for f in made.findings)
    assert made.costs.paid.cost != inspect_file(path).costs.paid.cost


def test_a_model_of_the_users_own_is_used(tmp_path):
    path = chat(tmp_path / "s.json", [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
                model="house")  # fmt: skip
    made = inspect_file(path, extra={"house": {"like": "gpt-5.4", "window": 5000}})
    assert made.window == 5000


def test_conversations_beside_the_main_one_are_counted(tmp_path):
    session = shop()
    side = [{**line, "isSidechain": True, "agentId": "a1", "uuid": f"s{n}", "parentUuid": f"s{n - 1}" if n else None}
            for n, line in enumerate(Claude().user("look").say("found", 700).lines)]  # fmt: skip
    session.lines += side
    made = inspect_file(session.write(tmp_path / "s.jsonl"))
    assert (made.chains, made.requests) == (2, 8)
    assert len(made.growth) == 7
    assert any("main conversation" in n for n in made.notes)


def test_a_file_without_an_answer_has_sent_nothing(tmp_path):
    made = inspect_file(chat(tmp_path / "s.json", [{"role": "user", "content": "hello there"}]))
    assert (made.requests, made.sent) == (0, 0)
    assert "nothing was sent yet" in made.headline


def test_a_file_that_is_none_raises(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(InputError):
        inspect_file(tmp_path / "x.json")


def test_long_sessions_keep_their_ends_and_their_peak():
    points = [Point(n + 1, 10_000 if n == 333 else n, ()) for n in range(1000)]
    kept = thinned(points, 50)
    assert len(kept) <= 51
    assert kept[0].request == 1
    assert kept[-1].request == 1000
    assert 334 in {p.request for p in kept}


def test_the_headline_names_the_largest_part_that_is_in_the_file(made):
    assert made.headline.startswith("7 requests sent 24.6K tokens in all, 7% of them tool results; billed $")


def test_findings_come_weightiest_first(made):
    weights = [f.weight for f in made.findings]
    assert weights == sorted(weights, reverse=True)
    assert {"secrets", "cache misses", "compactions", "file read often"} <= {f.kind for f in made.findings}


def test_bench_sessions_come_out_as_their_providers_billed(bench_dir):
    """The forecast for recorded sessions is near what was billed; the sums hold."""
    for path in sorted((bench_dir / "native").glob("*.jsonl"))[:3]:
        made = inspect_file(path)
        assert made.reported == made.requests > 50
        assert made.costs.forecast.cost == pytest.approx(made.costs.paid.cost, rel=0.25)
        assert sum(s.sent for s in made.by_kind) == pytest.approx(made.sent, rel=0.001)


def test_old_results_are_those_ten_requests_after_their_first(tmp_path):
    turns = [*tool_turn(0, SOURCE), *(m for n in range(1, 16) for m in tool_turn(n, "x"))]
    made = inspect_file(chat(tmp_path / "s.json", turns))
    result = next(h for h in made.heaviest if h.kind == "result")
    assert result.requests == 15
    small = next(h.tokens for h in made.heaviest if h.kind == "result" and h.requests == 14)
    assert made.old_sent == 5 * result.tokens + (4 + 3 + 2 + 1) * small
