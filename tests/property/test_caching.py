"""What holds of marks in any request: never more than four, nothing but marks changes, twice is once, long before short."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.caching import mark
from clew.catalog import lookup
from clew.testing.upstream.rules.anthropic import marks as read_marks
from clew.transcript import Span
from clew.wire import get
from tests.caching.requests import HOUR, LONG, MARK, OPENROUTER, anthropic, bare, chat, compacted

MODEL = lookup("claude-sonnet-4-6")
ttls = st.sampled_from(["5m", "1h"])
words = st.sampled_from(["", " ", "hi", LONG])
own = st.sampled_from([None, MARK])


@st.composite
def texts(draw):
    block = {"type": "text", "text": draw(words)}
    mark_ = draw(own) if block["text"].strip() else None
    return {**block, "cache_control": mark_} if mark_ else block


inner = st.one_of(words, st.lists(texts(), max_size=2))
blocks = st.one_of(
    texts(),
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
    st.just({"type": "redacted_thinking", "data": "x"}),
    st.just({"type": "tool_use", "id": "t", "name": "f", "input": {"cache_control": "mine"}}),
    st.builds(lambda c: {"type": "tool_result", "tool_use_id": "t", "content": c}, inner),
    st.just({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
)
contents = st.one_of(words, st.lists(blocks, max_size=4))
messages = st.lists(
    st.builds(lambda r, c: {"role": r, "content": c}, st.sampled_from(["user", "assistant", "system"]), contents),
    min_size=1,
    max_size=8,
)
tools = st.lists(
    st.sampled_from(
        [
            {"name": "a", "input_schema": {}},
            {"name": "b", "input_schema": {}, "description": LONG},
            {"name": "c", "defer_loading": True},
        ]
    ),
    max_size=3,
)
systems = st.one_of(st.none(), words, st.lists(texts(), max_size=3))
requests = st.builds(lambda m, s, t: anthropic(m, system=s, tools=t), messages, systems, tools)
spans = st.one_of(st.none(), st.builds(lambda a, n: Span(a, a + n), st.integers(0, 9), st.integers(0, 9)))


def count(request):
    return len(list(read_marks(get("anthropic").render(request))))


@given(requests, ttls, spans)
@settings(max_examples=100, deadline=None)
def test_never_more_than_four_unless_the_client_had_more(request, ttl, span):
    assert count(mark(request, MODEL, ttl=ttl, base=span)) <= max(4, count(request))


@given(requests, ttls, spans)
@settings(max_examples=100, deadline=None)
def test_nothing_but_marks_changes_and_the_clients_stay(request, ttl, span):
    done = mark(request, MODEL, ttl=ttl, base=span)
    assert bare(done) == bare(request)
    kept = dict(read_marks(get("anthropic").render(done)))
    for at, m in read_marks(get("anthropic").render(request)):
        assert kept[at] == m


@given(requests, ttls, spans)
@settings(max_examples=100, deadline=None)
def test_marking_twice_is_marking_once(request, ttl, span):
    done = mark(request, MODEL, ttl=ttl, base=span)
    assert mark(done, MODEL, ttl=ttl, base=span) is done


@given(requests, ttls, st.sampled_from([MARK, HOUR]))
@settings(max_examples=100, deadline=None)
def test_marks_stand_only_where_one_may_and_long_before_short(request, ttl, first):
    if isinstance(request.system, list) and request.system and request.system[0]["text"].strip():
        request = request.replace(system=[{**request.system[0], "cache_control": first}, *request.system[1:]])
    done = get("anthropic").render(mark(request, MODEL, ttl=ttl))
    before = {at for at, _ in read_marks(get("anthropic").render(request))}
    lives = []
    for at, m in read_marks(done):
        lives.append(m.get("ttl", "5m"))
        if at not in before:
            assert block_at(done, at)["type"] in ("text", "tool_use", "tool_result") if "tools" not in at else True
            assert block_at(done, at).get("text", "x").strip()
            assert not block_at(done, at).get("defer_loading")
    assert lives == sorted(lives, key=["1h", "5m"].index)


def block_at(value, path):
    for step in path.split("."):
        value = value[int(step) if step.isdigit() else step]
    return value


@given(
    st.integers(0, 3),
    st.lists(st.sampled_from(["assistant", "user"]), max_size=5),
    st.sampled_from(["anthropic", "openai-chat"]),
)
@settings(max_examples=60, deadline=None)
def test_a_handoffs_words_stay_as_they_were(pages, roles, wire):
    request, span = compacted(wire, pages, [{"role": r, "content": f"{r} {i}"} for i, r in enumerate(roles)])
    done = mark(request, MODEL, base=span, upstream=OPENROUTER)
    assert bare(done) == bare(request)
    assert mark(done, MODEL, base=span, upstream=OPENROUTER) is done


@given(
    st.lists(
        st.builds(lambda r, c: {"role": r, "content": c}, st.sampled_from(["user", "assistant", "tool"]), words),
        max_size=6,
    ),
    ttls,
)
@settings(max_examples=60, deadline=None)
def test_the_same_holds_on_openrouters_chat_wire(listed, ttl):
    listed = [{**m, "tool_call_id": "c"} if m["role"] == "tool" else m for m in listed]
    request = chat(listed)
    done = mark(request, MODEL, ttl=ttl, upstream=OPENROUTER)
    assert bare(done) == bare(request)
    assert done is mark(done, MODEL, ttl=ttl, upstream=OPENROUTER)
    assert get("openai-chat").render_bytes(done).count(b'"cache_control"') <= 4
