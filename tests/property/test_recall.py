"""Search: both backends find the same, nothing typed breaks it, snippets show what was found, nothing masked gets out."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.recall import discover, parse, snippet
from clew.redact import redact
from clew.store import NewSession, open_store
from clew.store.match import fit
from clew.store.query import Query, Scope, Term, TermKind
from clew.testing.builders import Clock, assistant, user

WORDS = [
    "error",
    "Error",
    "err",
    "read_file(",
    "src/a_b.py",
    "größe",
    "GROSSE",
    "数据库",
    "迁移",
    "the",
    "a",
    "file",
    "12",
    "—",
]
MESSAGE = st.lists(
    st.sampled_from([*WORDS, "\n", "'", '"', "\\", "café", "cafe\u0301", "\ue000", "x" * 40]), max_size=8
)
TYPED = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from([*WORDS, "OR", "NOT", "AND", "-", "(", ")", '"', "*", "-err", "err*", '"the file"']), max_size=6
    ).map(" ".join),
)
TERM = st.builds(Term, st.sampled_from(WORDS), st.sampled_from(list(TermKind)))
QUERY = st.builds(
    Query,
    st.lists(st.lists(TERM, min_size=1, max_size=2).map(tuple), min_size=1, max_size=3).map(tuple),
    st.lists(TERM, max_size=1).map(tuple),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts=st.lists(MESSAGE.map(" ".join), min_size=1, max_size=9),
    queries=st.lists(QUERY, min_size=1, max_size=6),
    data=st.data(),
)
def test_the_index_finds_what_reading_everything_finds(tmp_path_factory, texts, queries, data):
    clock = Clock()
    file = tmp_path_factory.mktemp("search") / "s.sqlite"
    stores = [open_store("memory:", clock=clock), open_store(str(file), clock=clock)]
    roles = data.draw(st.sampled_from([(), ("user",), ("assistant",)]))
    lineages = data.draw(st.sampled_from([(), ("s",), ("t",)]))
    each = data.draw(st.sampled_from([0, 1, 2]))
    places = {
        "workspaces": ("/t",),
        "sources": ("cli-s",),
        "since": clock.now + 1,
        "until": clock.now,
        "sessions": ("t",),
    }
    some = data.draw(st.sampled_from([{}, *({k: v} for k, v in places.items())]))
    for store in stores:
        for name in ("s", "t"):
            store.create(NewSession(name, f"cli-{name}", workspace=f"/{name}"))
            store.append(name, [(user, assistant)[n % 2](t) for n, t in enumerate(texts)], at=0)
            clock.tick(1)
        clock.tick(-2)
    stores[1].reindex()
    for query in queries:
        for scope in (Scope(), Scope(roles=roles, lineages=lineages, per_lineage=each), Scope(roles=roles, **some)):
            memory, sqlite = (
                {(h.session, h.position, h.score) for h in s.find(query, scope, limit=99)} for s in stores
            )
            assert memory == sqlite


@settings(max_examples=100, deadline=None)
@given(TYPED)
def test_anything_may_be_typed(text):
    parsed = parse(text)
    assert all(t.text for g in parsed.query.all for t in g)
    assert all(g for g in parsed.query.all)
    assert parsed.notes or not parsed.empty


@settings(max_examples=100, deadline=None)
@given(MESSAGE.map(" ".join), TYPED, st.integers(20, 200))
def test_a_snippet_of_a_match_marks_it(text, typed, width):
    query = parse(typed).query
    found = snippet(text, query, width=width)
    assert len(found.text) <= width + 2
    assert all(0 <= s < e <= len(found.text) for s, e in found.marks)
    assert [s for s, _ in found.marks] == sorted(s for s, _ in found.marks)
    if query.all and fit(query, text) is not None:
        assert found.marks


@settings(max_examples=30, deadline=None)
@given(st.text(st.sampled_from("abcdef0123456789"), min_size=36, max_size=48), st.text(max_size=20))
def test_no_secret_gets_out(letters, around):
    key = f"sk-proj-{letters}ABCDEFGH"
    store = open_store("memory:", clock=Clock())
    store.create(NewSession("s", "cli"))
    text = f"needle {around} api_key={key}\n"
    store.append("s", [user(text)], at=0)
    assert key not in redact(text, force=True)
    assert key not in repr(discover(store, "needle"))
    assert not discover(store, key).hits
