"""What every store must do. A backend's tests are a subclass that says how to make one:

    class TestMine(StoreContract):
        def make(self, clock): return open_store("mine://…", clock=clock)

`make` is called once for each test and gives an empty store.
"""

from __future__ import annotations

import copy
from abc import abstractmethod

import pytest

from clew import transcript
from clew.errors import Conflict, NotFound, UnknownReference
from clew.store.base import Store
from clew.store.query import Query, Scope, Term, TermKind
from clew.store.records import NewSession, Original, SessionFilter
from clew.testing.builders import Clock, assistant, call, message, result, user
from clew.testing.store_edges import EdgeContract
from clew.testing.store_epochs import EpochContract
from clew.testing.store_races import RaceContract


class _Made:
    """How a test gets its store."""

    @abstractmethod
    def make(self, clock: Clock) -> Store: ...

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def store(self, clock: Clock) -> Store:
        return self.make(clock)


def texts(store: Store, session: str) -> list[str]:
    return [m.message.text for m in store.messages(session)]


class SessionContract(_Made):
    """Sessions: made, found, changed, ended, forked, rotated."""

    def test_a_session_is_as_it_was_made(self, store: Store, clock: Clock) -> None:
        new = NewSession("s1", "cli", "gpt", "Title", "a goal", "/w", extra={"a": [1, None]})
        made = store.create(new)
        assert made == store.session("s1")
        assert (made.source, made.model, made.title, made.goal, made.workspace) == (
            "cli",
            "gpt",
            "Title",
            "a goal",
            "/w",
        )
        assert (made.root, made.parent, made.length, made.chain, made.active) == ("s1", "", 0, "", True)
        assert (made.created, made.updated, made.extra) == (clock.now, clock.now, {"a": [1, None]})

    def test_an_id_is_given_once(self, store: Store) -> None:
        store.create(NewSession("s"))
        with pytest.raises(Conflict):
            store.create(NewSession("s"))

    def test_what_is_unknown_is_not_found(self, store: Store) -> None:
        for act in (
            lambda: store.session("x"), lambda: store.messages("x"), lambda: store.end("x", "done"), lambda: store.reopen("x"),
            lambda: store.update("x", title="t"), lambda: store.append("x", [user("hi")], at=0), lambda: store.epochs("x"),
            lambda: store.create(NewSession("y", parent="x")), lambda: store.add_event("x", "k", 1), lambda: store.dump("x"),
            lambda: store.delete(["x"]), lambda: store.acquire("x", "h"), lambda: store.add_usage("x", "m", {"n": 1}),
        ):  # fmt: skip
            with pytest.raises(NotFound):
                act()
        assert not store.sessions()

    def test_listing_filters_and_pages(self, store: Store, clock: Clock) -> None:
        for n in range(7):
            clock.tick()
            source = "subagent" if n == 3 else "cli"
            store.create(NewSession(f"s{n}", source, workspace=f"/w{n % 2}"))
        store.end("s5", "reset")

        def ids(**where: object) -> list[str]:
            return [s.id for s in store.sessions(SessionFilter(**where))]  # type: ignore[arg-type] # the test's own keys

        assert ids() == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]
        assert ids(source="subagent") == ["s3"]
        assert "s3" not in ids(without_sources=("subagent",))
        assert ids(active=False) == ["s5"]
        assert ids(workspace="/w1") == ["s5", "s3", "s1"]
        assert ids(since=clock.now - 1.5) == ["s6", "s5"]
        assert ids(until=clock.now - 5) == ["s1", "s0"]
        assert ids(id_prefix="s6") == ["s6"]
        page = store.sessions(limit=3)
        rest = store.sessions(limit=3, before=page[-1].id)
        assert [s.id for s in [*page, *rest]] == ["s6", "s5", "s4", "s3", "s2", "s1"]
        assert [s.id for s in store.walk()] == [f"s{n}" for n in range(7)]
        clock.tick()
        store.append("s2", [user("on")], at=0)
        store.update("s0", title="also now")
        recent = store.sessions(recent=True)
        assert [s.id for s in recent] == ["s2", "s0", "s6", "s5", "s4", "s3", "s1"]
        assert store.sessions(limit=4, before="s2", recent=True) == recent[1:5]
        assert store.sessions(before="s0", recent=True) == recent[2:]

    def test_update_changes_what_is_given(self, store: Store) -> None:
        store.create(NewSession("s", title="a", goal="g", extra={"x": 1, "y": 2}))
        after = store.update("s", title="b", extra={"x": None, "z": 3})
        assert (after.title, after.goal, after.extra) == ("b", "g", {"y": 2, "z": 3})

    def test_an_ended_session_takes_nothing_until_reopened(self, store: Store) -> None:
        store.create(NewSession("s"))
        store.append("s", [user("a")], at=0)
        assert store.end("s", "reset").end_reason == "reset"
        with pytest.raises(Conflict):
            store.append("s", [user("b")], at=1)
        assert store.append("s", [user("a")], at=0).new == 0
        assert store.reopen("s").active
        assert store.append("s", [user("b")], at=1).new == 1

    def test_a_fork_shares_the_prefix_and_copies_nothing(self, store: Store) -> None:
        store.create(NewSession("a"))
        store.append("a", [user(f"m{n}") for n in range(6)], at=0)
        before = store.info()
        store.create(NewSession("b", parent="a", shared=4, kind="branch"))
        store.append("b", [user("b4"), user("b5")], at=4)
        store.create(NewSession("c", parent="b", shared=2, kind="branch"))
        store.create(NewSession("d", parent="c", shared=1, kind="branch"))
        store.append("c", [user("c2")], at=2)
        store.append("a", [user("m6")], at=6)
        assert texts(store, "b") == ["m0", "m1", "m2", "m3", "b4", "b5"]
        assert texts(store, "c") == ["m0", "m1", "c2"]
        assert texts(store, "d") == ["m0"]
        assert [m.owner for m in store.messages("b", 3, 5)] == ["a", "b"]
        assert [m.position for m in store.messages("b", 3, 5)] == [3, 4]
        assert store.session("b").root == store.session("d").root == "a"
        assert store.chain("b", 3) == store.chain("a", 3)
        assert store.info().messages == before.messages + 4
        with pytest.raises(Conflict):
            store.create(NewSession("e", parent="a", shared=99, kind="branch"))

    def test_rotation_is_one_step(self, store: Store) -> None:
        store.create(NewSession("a"))
        store.append("a", [user("1")], at=0)
        child = store.rotate(
            "a", NewSession("b", parent="a", kind="compression"), unwritten=[user("2")], messages=[user("sum")]
        )
        assert (child.parent, child.root, texts(store, "b")) == ("a", "a", ["sum"])
        assert (store.session("a").end_reason, texts(store, "a")) == ("compression", ["1", "2"])

    def test_a_rotation_that_fails_has_not_happened(self, store: Store) -> None:
        store.create(NewSession("a"))
        store.append("a", [user("1")], at=0)
        store.create(NewSession("taken"))
        broken = transcript.Message("user", (), b"{", "openai-chat")
        for child, unwritten, messages in (
            ("taken", [user("2")], []),
            ("b", [user("2")], [broken]),
            ("b", [user("2"), broken], []),
        ):
            with pytest.raises((Conflict, ValueError)):
                store.rotate(
                    "a", NewSession(child, parent="a", kind="compression"), unwritten=unwritten, messages=messages
                )
            assert (store.session("a").active, texts(store, "a")) == (True, ["1"])
            assert [s.id for s in store.sessions()] == ["taken", "a"]
            assert not store.check()

    def test_tenants_share_nothing(self, store: Store) -> None:
        other = store.for_tenant("somebody/else")
        store.create(NewSession("s"))
        store.append("s", [user("mine")], at=0)
        assert not other.sessions()
        other.create(NewSession("s"))
        other.append("s", [user("theirs")], at=0)
        address = user("theirs").address
        assert other.original(transcript.reference(address)).text == "theirs"
        with pytest.raises(UnknownReference):
            store.original(transcript.reference(address))
        assert set(store.tenants()) == {"", "somebody/else"}
        assert other.session("s").tenant == other.tenant == "somebody/else"

    def test_a_handle_may_be_copied_at_any_time(self, store: Store) -> None:
        early = copy.deepcopy(store)
        store.create(NewSession("s"))
        late = copy.deepcopy({"engine": [store]})["engine"][0]
        late.append("s", [user("x")], at=0)
        store.close()
        assert texts(early, "s") == texts(store, "s") == ["x"]


class MessageContract(_Made):
    """Appending and reading: nothing changed, nothing twice."""

    def test_messages_come_back_to_the_byte(self, store: Store) -> None:
        odd = [
            b'{ "content" : "spaced",\n "role":"user"}',
            b'{"role":"user","content":"lone \\ud800 surrogate"}',
            b'{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}',
            b'{"role":"user","content":[{"type":"text","text":"x"}]}',
            '{"role":"user","content":"\ue000 private, nul \\u0000, 你好"}'.encode(),
        ]
        read = [
            transcript.Message("user", message({"role": "user", "content": "x"}).parts, raw, "openai-chat")
            for raw in odd
        ]
        store.create(NewSession("s"))
        store.append("s", read, at=0)
        back = store.messages("s")
        assert [m.message.raw for m in back] == odd
        assert [m.address for m in back] == [m.address for m in read]
        assert back[2].address == back[3].address

    def test_meta_and_times_are_kept(self, store: Store, clock: Clock) -> None:
        m = user("x")
        kept = transcript.Message(m.role, m.parts, m.raw, m.wire, {"from": {"cli": 1}})
        store.create(NewSession("s"))
        clock.tick(0.25)
        store.append("s", [kept], at=0)
        [back] = store.messages("s")
        assert (dict(back.message.meta), back.time) == ({"from": {"cli": 1}}, clock.now)

    def test_what_was_said_earlier_keeps_its_time(self, store: Store, clock: Clock) -> None:
        store.create(NewSession("s", created=100.5))
        store.append("s", [user("a"), user("b")], at=0, times=[100.5, 200.25])
        store.append("s", [user("a"), user("b"), user("c")], at=0, times=[1, 2, 300])
        assert [m.time for m in store.messages("s")] == [100.5, 200.25, 300]
        assert (store.session("s").created, store.session("s").updated) == (100.5, 300)
        assert [s.id for s in store.sessions(SessionFilter(until=clock.now - 1))] == ["s"]
        assert [h.position for h in store.find(Query(((Term("b"),),)), Scope(since=150, until=250))] == [1]
        assert not store.find(Query(((Term("b"),),)), Scope(since=250))
        store.append("s", [user("d")], at=3)
        assert store.session("s").updated == clock.now

    def test_resending_the_whole_history_costs_what_is_new(self, store: Store) -> None:
        store.create(NewSession("s"))
        history = []
        for n in range(30):
            history += [user(f"question {n}"), assistant("the same answer")]
            done = store.append("s", history, at=0)
            assert (done.length, done.new) == (len(history), 2)
        assert store.info().messages == 60
        assert store.info().contents == 31
        log = transcript.Transcript(history)
        assert store.session("s").chain == log.chain_at(59) == done.chain

    def test_append_may_start_anywhere_up_to_the_end(self, store: Store) -> None:
        store.create(NewSession("s"))
        ms = [user(str(n)) for n in range(5)]
        tip = store.append("s", ms[:3], at=0)
        assert store.append("s", ms[2:], at=2, chain=store.chain("s", 1)).new == 2
        assert store.append("s", [], at=5).length == 5
        for at in (6, -1):
            with pytest.raises(Conflict):
                store.append("s", [user("x")], at=at)
        with pytest.raises(Conflict):
            store.append("s", [user("x")], at=5, chain=tip.chain)

    @pytest.mark.parametrize("differs", [0, 1, 6, 9])
    def test_another_message_at_a_position_is_a_conflict_that_names_it(self, store: Store, differs: int) -> None:
        store.create(NewSession("s"))
        ms = [user(str(n)) for n in range(10)]
        store.append("s", ms, at=0)
        other = [*ms[:differs], user("other"), *ms[differs + 1 :], user("new")]
        with pytest.raises(Conflict) as caught:
            store.append("s", other, at=0)
        assert caught.value.position == differs
        assert store.session("s").length == 10

    def test_a_conflict_on_the_shared_prefix_is_found_too(self, store: Store) -> None:
        store.create(NewSession("a"))
        store.append("a", [user(str(n)) for n in range(4)], at=0)
        store.create(NewSession("b", parent="a", shared=3, kind="branch"))
        with pytest.raises(Conflict) as caught:
            store.append("b", [user("0"), user("x"), user("2"), user("3")], at=0)
        assert caught.value.position == 1
        assert store.append("b", [user(str(n)) for n in range(3)] + [user("b")], at=0).new == 1

    def test_tools_are_known_by_the_call(self, store: Store) -> None:
        store.create(NewSession("s"))
        store.append("s", [user("go"), call("c1", "bash", {"cmd": "ls"})], at=0)
        store.append("s", [result("c1", "a b"), assistant("done")], at=2)
        assert [m.tool for m in store.messages("s")] == ["", "bash", "bash", ""]

    def test_chains_are_those_of_the_transcript(self, store: Store) -> None:
        log = transcript.Transcript(user(str(n)) for n in range(5))
        store.create(NewSession("s"))
        store.append("s", list(log), at=0)
        assert [store.chain("s", n) for n in range(-1, 5)] == ["", *(log.chain_at(n) for n in range(5))]
        with pytest.raises(NotFound):
            store.chain("s", 5)


class KeepingContract(_Made):
    """Originals, log, search; whole sessions in, out, deleted, masked."""

    def test_references_resolve(self, store: Store) -> None:
        store.create(NewSession("s"))
        long = "line\n" * 400
        store.append("s", [call("c", "bash", {}), result("c", long)], at=0)
        address = transcript.text_address(long)
        store.add_originals("s", [Original(address, long, position=1, part=0)])
        free = "made by a strategy \ud800"
        store.add_originals("s", [Original(transcript.text_address(free), free, position=1, part=0)])
        assert store.original(transcript.reference(address)).text == long
        assert store.original(address).position == 1
        assert store.original(transcript.reference(transcript.text_address(free))).text == free
        assert store.original(address[:20]).address == address
        assert store.short(address) == transcript.reference(address)
        for unknown in ("clew:aaaaaaaaaaaa", "clew:short", "", "clew:0189!"):
            with pytest.raises(UnknownReference):
                store.original(unknown)

    def test_a_collision_of_short_references_is_seen(self, store: Store) -> None:
        store.create(NewSession("s"))
        one, two = "k3v7q2m7x4ab" + "a" * 20, "k3v7q2m7x4ab" + "b" * 20
        store.add_originals("s", [Original(one, "first"), Original(two, "second")])
        with pytest.raises(Conflict):
            store.original("clew:k3v7q2m7x4ab")
        assert store.short(one) == f"clew:{one}"
        assert store.original(store.short(one)).text == "first"
        assert store.original(store.short(two)).text == "second"
        near = "k3v7q2m7x4aa" + "7" * 20
        store.add_originals("s", [Original(near, "third")])
        assert store.original(store.short(near)).text == "third"
        assert store.short(near) == "clew:k3v7q2m7x4aa"

    def test_events_are_numbered_without_gaps(self, store: Store, clock: Clock) -> None:
        store.create(NewSession("s"))
        bodies = [{"n": n, "text": "x" * 200} for n in range(3)]
        assert [store.add_event("s", "usage" if n != 1 else "edit", b).sequence for n, b in enumerate(bodies)] == [
            1,
            2,
            3,
        ]
        assert [e.body for e in store.events("s")] == bodies
        assert [e.sequence for e in store.events("s", after=1)] == [2, 3]
        assert [e.sequence for e in store.events("s", kind="usage")] == [1, 3]
        assert store.events("s")[0].time == clock.now

    def test_state_keeps_the_newest(self, store: Store) -> None:
        store.create(NewSession("s"))
        store.append("s", [user(str(n)) for n in range(6)], at=0)
        for at in (1, 3, 5):
            store.put_state("s", "ledger", at, {"at": at}, keep=2)
        store.put_state("s", "ledger", 5, {"at": "again"}, keep=2)
        newest = store.get_state("s", "ledger")
        assert newest is not None
        assert newest.body == {"at": "again"}
        found = store.get_state("s", "ledger", at=4)
        assert found is not None
        assert found.position == 3
        assert store.get_state("s", "ledger", at=2) is None
        assert store.get_state("s", "other") is None
        store.create(NewSession("b", parent="s", shared=4, kind="branch"))
        inherited = store.get_state("b", "ledger")
        assert inherited is not None
        assert inherited.position == 3

    def test_usage_adds_up(self, store: Store) -> None:
        store.create(NewSession("s"))
        store.add_usage("s", "m", {"input": 10, "cost": 0.5})
        store.add_usage("s", "m", {"input": 5})
        store.add_usage("s", "", {"compactions": 1})
        assert store.usage("s") == {"": {"compactions": 1.0}, "m": {"cost": 0.5, "input": 15.0}}

    def test_messages_are_found(self, store: Store) -> None:
        store.create(NewSession("s", "cli"))
        store.create(NewSession("t", "subagent"))
        store.append("s", [user("The quick brown Fox"), call("c", "bash", {"cmd": "cat src/foo_bar.py"})], at=0)
        store.append("s", [result("c", "def foo_bar(x): 重启服务器"), assistant("ran it — quickly")], at=2)
        store.append("t", [user("quick fox too")], at=0)

        def found(*groups: tuple[Term, ...], none: tuple[Term, ...] = (), **scope: object) -> list[tuple[str, int]]:
            hits = store.find(Query(groups, none), Scope(**scope))  # type: ignore[arg-type] # the test's own keys
            return sorted((h.session, h.position) for h in hits)

        word, prefix, phrase, fragment = TermKind.WORD, TermKind.PREFIX, TermKind.PHRASE, TermKind.FRAGMENT
        for _ in range(2):
            assert found((Term("QUICK", word),)) == [("s", 0), ("t", 0)]
            assert found((Term("quick", prefix),)) == [("s", 0), ("s", 3), ("t", 0)]
            assert found((Term("quick brown", phrase),)) == [("s", 0)]
            assert found((Term("quick", word),), (Term("too", word), Term("brown", word))) == [("s", 0), ("t", 0)]
            assert found((Term("quick", word),), none=(Term("too", word),)) == [("s", 0)]
            assert found((Term("oo_bar(", fragment),)) == [("s", 2)]
            assert found((Term("src/foo", fragment),)) == [("s", 1)]
            assert found((Term("启服", fragment),)) == [("s", 2)]
            assert found((Term("fox", word),), sources=("cli",)) == [("s", 0)]
            assert found((Term("foo_bar", fragment),), tools=("bash",), roles=("tool",)) == [("s", 2)]
            assert found((Term("fox", word),), in_view=(("s", 0, None),)) == [("t", 0)]
            assert found((Term('"; DROP TABLE sessions --', fragment),)) == []
            store.vacuum()

    def test_a_dumped_session_loads_as_it_was(self, store: Store, clock: Clock) -> None:
        store.create(NewSession("a", "cli", title="t"))
        store.append("a", [user("x"), call("c", "bash", {}), result("c", "out" * 50)], at=0)
        store.add_event("a", "usage", {"n": 1})
        store.add_originals("a", [Original(transcript.text_address("gone"), "gone")])
        store.put_state("a", "k", 1, [1])
        store.add_usage("a", "m", {"n": 2})
        store.create(NewSession("b", parent="a", shared=1, kind="branch"))
        store.append("b", [user("y")], at=1)
        store.end("b", "done")
        target = store.for_tenant("copy")
        clock.tick(100)
        for s in store.walk():
            target.load(store.dump(s.id))
        for name in ("a", "b"):
            ours, theirs = store.dump(name), target.dump(name)
            assert texts(target, name) == texts(store, name)
            assert (theirs.messages, theirs.events, theirs.epochs) == (ours.messages, ours.events, ours.epochs)
            assert (theirs.originals, theirs.states, theirs.usage) == (ours.originals, ours.states, ours.usage)
            assert theirs.session.chain == ours.session.chain
            assert (theirs.session.created, theirs.session.ended) == (ours.session.created, ours.session.ended)
        assert not target.check()

    def test_deleting_takes_everything_and_only_that(self, store: Store) -> None:
        shared, own = user("said in both " * 20), user("said in one " * 20)
        for name in ("a", "b"):
            store.create(NewSession(name))
        store.append("a", [shared, own], at=0)
        store.append("b", [shared], at=0)
        store.add_originals("a", [Original(transcript.text_address("left"), "left")])
        store.create(NewSession("c", parent="a", shared=1, kind="branch"))
        with pytest.raises(Conflict):
            store.delete(["a"])
        told = store.delete(["a", "c"], preview=True)
        assert store.session("a").length == 2
        assert store.delete(["a", "c"]) == told
        assert (told.sessions, told.messages, told.contents, told.originals) == (2, 2, 2, 1)
        assert [s.id for s in store.sessions()] == ["b"]
        assert texts(store, "b") == [shared.text]
        assert store.info().contents == 1
        with pytest.raises(UnknownReference):
            store.original(transcript.text_address("left"))
        assert not store.find(Query(((Term("one"),),)), Scope())
        assert store.find(Query(((Term("both"),),)), Scope())
        assert not store.check()

    def test_a_leaked_value_is_masked_everywhere(self, store: Store) -> None:
        leaked = 'sk-"live"/é-9f8e7d6c5b4a'
        store.create(NewSession("s", title=f"use {leaked}", goal=leaked, extra={"k": [leaked]}))
        ms = [
            user(f"my key is {leaked}, keep it"),
            call("c", "bash", {"cmd": f"curl -H {leaked}"}),
            result("c", "fine " * 30),
        ]
        tip = store.append("s", ms, at=0)
        original = f"log: {leaked}"
        store.add_originals("s", [Original(transcript.text_address(original), original)])
        store.add_event("s", "summary", {"text": f"a {leaked} b"})
        store.put_state("s", "ledger", 2, {leaked: leaked})
        done = store.purge(leaked, "[masked]")
        assert done.places["messages"] == 2
        dumped = repr(store.dump("s"))
        assert leaked not in dumped
        assert "9f8e7d6c5b4a" not in dumped
        assert "[masked]" in texts(store, "s")[0]
        assert store.original(transcript.text_address(original)).text == "log: [masked]"
        assert not store.find(Query(((Term("9f8e7d6c5b4a"),),)), Scope())
        assert store.find(Query(((Term("masked"),), (Term("curl"),))), Scope())
        assert store.append("s", ms, at=0).chain == tip.chain
        store.create(NewSession("t"))
        store.append("t", ms, at=0)
        assert not store.check()
        store.add_originals("t", [Original(transcript.text_address(original), original)])
        assert "9f8e7d6c5b4a" not in repr(store.dump("t"))
        assert store.session("t").chain == tip.chain
        assert store.purge(leaked, "[masked]").total == 0

    def test_info_counts(self, store: Store) -> None:
        store.create(NewSession("s"))
        store.append("s", [user("x"), user("x")], at=0)
        info = store.info()
        assert (info.sessions, info.messages, info.contents, info.originals, info.epochs) == (1, 2, 1, 0, 0)


class StoreContract(SessionContract, MessageContract, KeepingContract, EdgeContract, EpochContract, RaceContract):
    """All of it."""
