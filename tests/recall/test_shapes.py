"""The four shapes and the originals, on both backends."""

from __future__ import annotations

import pytest

from clew.errors import InputError, NotFound, UnknownReference
from clew.lineage import Lineage
from clew.recall import Current, Filters, browse, current, discover, read, recall, scroll
from clew.recall.filters import in_view
from clew.store import NewSession, Store, open_store
from clew.store.records import Epoch
from clew.testing.builders import Clock, assistant, call, result, user
from clew.transcript import reference

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path, clock) -> Store:
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'clew.sqlite'}"
    return open_store(url, clock=clock)


def talk(store: Store, clock: Clock, name: str, *texts: str, source: str = "cli", **more) -> None:
    store.create(NewSession(name, source, **more))
    store.append(name, [(user, assistant)[n % 2](t) for n, t in enumerate(texts)], at=0)
    clock.tick(60)


def found(store: Store, query: str, where: Filters | None = None, **more) -> list[tuple[str, int]]:
    return [(h.session, h.position) for h in discover(store, query, where, **more).hits]


def test_discover_shows_window_and_both_ends(store, clock):
    texts = [f"message {n}" for n in range(40)]
    texts[20] = "here is the needle we want"
    talk(store, clock, "s", *texts, title="Long one", workspace="/p")
    [hit] = discover(store, "needle").hits
    assert (hit.session, hit.position, hit.title, hit.source, hit.project) == ("s", 20, "Long one", "cli", "/p")
    assert hit.snippet.marked("[", "]") == "here is the [needle] we want"
    assert [m.position for m in hit.window] == list(range(15, 26))
    assert [m.position for m in hit.first] == [0, 1, 2]
    assert [m.position for m in hit.last] == [37, 38, 39]
    assert hit.reference == reference(store.messages("s")[20].address)


def test_ends_leave_out_what_the_window_shows(store, clock):
    talk(store, clock, "s", *[f"message {n}" for n in range(8)])
    [hit] = discover(store, '"message 4"').hits
    assert (len(hit.window), hit.first, hit.last) == (8, (), ())


def test_one_hit_for_each_lineage(store, clock):
    talk(store, clock, "a", "needle", "x" * 5000 + " needle", "needle needle needle")
    Lineage(store).rotate("a", [user("summary"), assistant("needle again")], id="a2")
    talk(store, clock, "b", "one needle")
    assert sorted(h.root for h in discover(store, "needle").hits) == ["a", "b"]
    best = next(h for h in discover(store, "needle").hits if h.root == "a")
    assert (best.session, best.position) in {("a", 2), ("a", 0)}
    assert [m.text for m in best.last][-1] == "needle again"


def test_pages_have_no_gaps_and_no_repeats(store, clock):
    for n in range(9):
        talk(store, clock, f"s{n}", "needle " * (n + 1), "and more")
    whole = [h.session for h in discover(store, "needle", limit=20).hits]
    assert len(whole) == 9
    pages, at = [], 0
    while at is not None:
        page = discover(store, "needle", limit=4, offset=at)
        pages += [h.session for h in page.hits]
        at = page.more
    assert pages == whole


def test_filters(store, clock):
    store.create(NewSession("s", "cli", workspace="/one"))
    store.append("s", [user("needle"), call("c", "bash", {"cmd": "ls"}), result("c", "a needle came back")], at=0)
    clock.tick(3600)
    talk(store, clock, "t", "needle", source="subagent", workspace="/two")
    talk(store, clock, "u", "needle", source="gateway", workspace="/two")
    start = 1_700_000_000.0
    assert {s for s, _ in found(store, "needle")} == {"s", "u"}
    assert {s for s, _ in found(store, "needle", Filters(everything=True))} == {"s", "t", "u"}
    assert found(store, "needle", Filters(sources=("subagent",))) == [("t", 0)]
    assert found(store, "needle", Filters(roles=("tool",))) == [("s", 2)]
    assert found(store, "needle", Filters(tools=("bash",))) == [("s", 2)]
    assert found(store, "needle", Filters(projects=("/two",))) == [("u", 0)]
    assert found(store, "needle", Filters(since=start + 1800)) == [("u", 0)]
    assert {s for s, _ in found(store, "needle", Filters(until=start + 1800))} == {"s"}
    assert sorted(found(store, "needle", Filters(session="s"))) == [("s", 0), ("s", 2)]
    assert found(store, "needle", Filters(sort="newest")) == [("u", 0), ("s", 2)]


def test_what_is_in_view_is_left_out_and_what_was_archived_is_found(store, clock):
    talk(store, clock, "s", *[f"needle {n}" for n in range(10)])
    assert found(store, "needle", current=Current("s", 0)) == []
    archived = discover(store, "needle", Filters(session="s"), current=Current("s", 6)).hits
    assert sorted(h.position for h in archived) == [0, 1, 2, 3, 4, 5]


def test_a_fork_has_its_parents_messages_in_view_but_not_how_the_parent_went_on(store, clock):
    talk(store, clock, "p", "needle 0", "needle 1", "needle 2", "needle 3")
    fork = Lineage(store).fork("p", 2).id
    store.append(fork, [user("needle own")], at=2)
    everything = Filters(session="p")
    assert sorted(found(store, "needle", everything, current=Current(fork, 0))) == [("p", 2), ("p", 3)]
    assert sorted(found(store, "needle", everything, current=Current(fork, 1))) == [("p", 0), ("p", 2), ("p", 3)]


def test_what_is_shown_is_known_from_the_epochs_in_force(store, clock):
    talk(store, clock, "s", *[f"m {n}" for n in range(10)])
    assert current(store, "s") == Current("s", 0)
    for number, at in ((1, 4), (2, 8)):
        store.commit_epoch("s", Epoch(number, store.chain("s", at - 1), at, {}), None)
    assert current(store, "s") == Current("s", 8)
    store.add_event("s", "undo", {"number": 2})
    assert current(store, "s") == Current("s", 4)
    assert current(store, "unknown") is None


def test_what_is_shown_only_in_part_is_found_and_the_head_is_not(store, clock):
    talk(store, clock, "s", *[f"needle {n}" for n in range(10)])
    store.commit_epoch("s", Epoch(1, store.chain("s", 3), 4, in_view(2, [6, 9])), None)
    now = current(store, "s")
    assert now == Current("s", 4, 2, (6, 9))
    hits = found(store, "needle", Filters(session="s"), current=now)
    assert sorted(p for _, p in hits) == [2, 3, 6, 9]
    fork = Lineage(store).fork("s", 8).id
    store.append(fork, [user("needle own")], at=8)
    hits = found(store, "needle", Filters(session="s"), current=current(store, fork))
    assert sorted(hits) == [("s", p) for p in (2, 3, 6, 8, 9)]


def test_a_conversation_that_is_deleted_while_it_is_found_is_left_out(store, clock, monkeypatch):
    talk(store, clock, "stays", "needle")
    talk(store, clock, "goes", "needle")
    find = type(store).find

    def found_and_gone(self, *args, **more):
        hits = find(self, *args, **more)
        if len(self.sessions()) > 1:
            self.delete(["goes"])
        return hits

    monkeypatch.setattr(type(store), "find", found_and_gone)
    assert found(store, "needle") == [("stays", 0)]


def test_scroll_pages_both_ways(store, clock):
    talk(store, clock, "s", *[f"m {n}" for n in range(50)])
    window = scroll(store, "s", 25)
    assert [m.position for m in window.messages] == list(range(20, 31))
    assert scroll(store, "s", -1).at == 49


@pytest.mark.parametrize("length", [1, 2, 5, 11, 23])
@pytest.mark.parametrize(("before", "after"), [(5, 5), (0, 3), (3, 0), (0, 0)])
def test_scrolling_to_both_ends_shows_every_message_once(store, clock, length, before, after):
    talk(store, clock, "s", *[f"m {n}" for n in range(length)])
    for at in range(length):
        page = first = scroll(store, "s", at, before=before, after=after)
        seen = [m.position for m in first.messages]
        while page.earlier is not None:
            page = scroll(store, "s", page.earlier, before=before, after=after)
            seen = [m.position for m in page.messages] + seen
        page = first
        while page.later is not None:
            page = scroll(store, "s", page.later, before=before, after=after)
            seen += [m.position for m in page.messages]
        assert seen == list(range(length))


def test_scroll_rebinds_to_the_session_that_holds_the_message(store, clock):
    talk(store, clock, "a", "first", "second")
    Lineage(store).rotate("a", [user("summary"), assistant("x"), user("y"), assistant("far on")], id="a2")
    window = scroll(store, "a", 3)
    assert (window.session, window.asked, window.messages[-1].text) == ("a2", "a", "far on")
    ref = reference(store.messages("a2")[3].address)
    assert (scroll(store, "a", ref).session, scroll(store, "a", ref).at) == ("a2", 3)
    with pytest.raises(NotFound):
        scroll(store, "a", 99)
    fork = Lineage(store).fork("a", 1).id
    store.append(fork, [user("another"), user("way")], at=1)
    child = Lineage(store).rotate("a2", [user("again")]).id
    assert [scroll(store, child, at).session for at in (1, 3)] == ["a2", "a2"], (
        "not a branch of it, though that is newer"
    )
    with pytest.raises(NotFound):
        scroll(store, "a", "clew:aaaaaaaaaaaa")


def test_read_in_part_and_whole(store, clock):
    talk(store, clock, "s", *[f"m {n}" for n in range(100)])
    part = read(store, "s")
    assert [m.position for m in part.first] == list(range(20))
    assert [m.position for m in part.last] == list(range(90, 100))
    assert part.left_out == 70
    whole = read(store, "s", whole=True)
    assert (len(whole.first), whole.last, whole.left_out) == (100, (), 0)
    assert read(store, "s", whole=True, width=2).first[10].left_out == 2


def test_browse_shows_each_conversation_once_the_latest_first(store, clock):
    talk(store, clock, "a", "please build it", "sure", title="Build")
    talk(store, clock, "sub", "go", source="subagent")
    Lineage(store).rotate("a", [user("summary")], id="a2")
    clock.tick(60)
    talk(store, clock, "b", f"my key is {KEY}")
    page = browse(store)
    assert [(g.session, g.title) for g in page.items] == [("b", ""), ("a2", "Build #2")]
    assert page.items[1].preview == "please build it"
    assert KEY not in page.items[0].preview
    first = browse(store, limit=1)
    assert ([g.session for g in first.items], first.next) == (["b"], "b")
    assert [g.session for g in browse(store, limit=1, before=first.next).items] == ["a2"]
    assert [g.session for g in browse(store, Filters(sources=("subagent",))).items] == ["sub"]


def test_browse_goes_by_what_happened_last(store, clock):
    for name in ("a", "b", "c"):
        talk(store, clock, name, "hello", source=name)
    Lineage(store).fork("a", title="side")
    clock.tick(60)
    store.append("a", [assistant("again")], at=1)
    assert [g.session for g in browse(store).items] == ["a", "c", "b"]
    first = browse(store, Filters(sources=("a", "b", "c")), limit=2)
    assert [g.session for g in first.items] == ["a", "c"]
    assert [g.session for g in browse(store, Filters(sources=("a", "b", "c")), before=first.next).items] == ["b"]


def test_secrets_are_masked_on_every_way_out(store, clock):
    talk(store, clock, "s", f"deploy with api_key={KEY} now", "fine", f"again {KEY}")
    [hit] = discover(store, "deploy").hits
    views = [hit, scroll(store, "s", 0), read(store, "s"), browse(store)]
    ref = reference(store.messages("s")[0].address)
    views.append(recall(store, ref))
    assert all(KEY[8:] not in repr(v) for v in views)
    assert KEY in recall(store, ref, raw=True).text


def test_a_secret_can_not_be_guessed_by_searching_for_it(store, clock):
    talk(store, clock, "s", f"deploy with api_key={KEY} now")
    talk(store, clock, "t", "the word proj stands here openly")
    assert found(store, KEY) == []
    assert found(store, "abcdefghijkl*") == []
    assert found(store, "proj") == [("t", 0)]
    assert found(store, "deploy") == [("s", 0)]


def test_recall_by_lines(store, clock):
    talk(store, clock, "s", "one\ntwo\nthree\nfour")
    ref = reference(store.messages("s")[0].address)
    assert recall(store, ref).text == "one\ntwo\nthree\nfour"
    assert recall(store, ref, lines="2-3").text == "two\nthree\n"
    assert recall(store, ref, lines="4").text == "four"
    assert recall(store, ref, lines="3-").text == "three\nfour"
    assert recall(store, ref, lines="-2").text == "one\ntwo\n"
    assert recall(store, ref, lines="2-99").last == 4
    for bad in ("0", "3-2", "x", "-", "9"):
        with pytest.raises(InputError):
            recall(store, ref, lines=bad)


def test_an_unknown_reference_and_another_tenants(store, clock):
    other = store.for_tenant("acme")
    talk(other, clock, "s", "theirs")
    ref = reference(other.messages("s")[0].address)
    with pytest.raises(UnknownReference, match="no original"):
        recall(store, "clew:aaaaaaaaaaaa", look_elsewhere=True)
    with pytest.raises(UnknownReference, match="belongs to tenant 'acme'"):
        recall(store, ref, look_elsewhere=True)
    with pytest.raises(UnknownReference) as hidden:
        recall(store, ref)
    assert "acme" not in str(hidden.value)


def test_several_stores_are_searched_at_once(store, clock, tmp_path):
    talk(store, clock, "s", "needle here")
    other = store.for_tenant("acme")
    talk(other, clock, "t", "needle needle there")
    both = discover([store, other], "needle").hits
    assert [(h.tenant, h.session) for h in both] == [("acme", "t"), ("", "s")]


HOSTILE = [
    "'; DROP TABLE sessions; --", '" OR 1=1 --', '"" NEAR/3 ""', "words MATCH 'x'", "body:needle", "{scope body}:x",
    "^needle", "needle NOT", "NEAR(needle x)", "* *", "(((", ")))", "\x00needle\x00", "\ud800", "\ue000l1", "%_%", "a" * 5000,
    "needle\\", '"needle""', "col : val", "AND AND", "-" * 40, "\ue000p1 \ue000ruser",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_typed_reaches_the_index_as_syntax(store, clock, text):
    talk(store, clock, "s", "needle", "plain")
    before = store.info().messages
    for query in (text, f"needle {text}", f'"{text}"', f"{text}*", f"plain -{text}"):
        for hit in discover(store, query).hits:
            assert hit.session == "s"
    assert store.info().messages == before
    assert not store.check()
    assert found(store, "needle") == [("s", 0)]
