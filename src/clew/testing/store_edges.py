"""The part of the store contract about odd names, far times, deep lineages, and leaked values in unlikely places."""

from __future__ import annotations

import inspect
import sys

import pytest

from clew.errors import Conflict, InputError
from clew.store.base import Store
from clew.store.query import Query, Scope, Term
from clew.store.records import Epoch, NewSession, SessionFilter
from clew.testing.builders import call, result, user


class EdgeContract:
    """What nobody does on purpose."""

    def test_tenants_names_are_told_apart(self, store: Store) -> None:
        names = ["A", "a", "..", "a/b", "a\\b", "con", "ü", "u\u0308", "a b", "x" * 180, "%41", "@", ""]
        for n, name in enumerate(names):
            store.for_tenant(name).create(NewSession(f"s{n}"))
        assert sorted(store.tenants()) == sorted(names)
        for n, name in enumerate(names):
            assert [s.id for s in store.for_tenant(name).sessions()] == [f"s{n}"]

    @pytest.mark.parametrize("name", ["\ud800", "x" * 181, "ü" * 31])
    def test_a_tenants_name_that_can_not_be_spelled_is_refused(self, store: Store, name: str) -> None:
        with pytest.raises(InputError):
            store.for_tenant(name).sessions()

    def test_what_has_no_form_in_bytes_is_kept_without_it(self, store: Store) -> None:
        """A lone surrogate comes from broken terminals and files; everywhere but in messages a sign stands for it."""
        odd, plain = "a\ud800\x00b", "a?\x00b"
        made = store.create(NewSession(odd, odd, odd, odd, odd, odd, extra={odd: odd}))
        assert (made.id, made.title, made.workspace) == (plain, plain, plain)
        for name in (odd, plain):
            with pytest.raises(Conflict):
                store.create(NewSession(name))
            assert store.session(name) == made
        store.append(odd, [user(odd), call("c", odd, {}), result("c", odd)], at=0)
        assert [m.tool for m in store.messages(plain)] == ["", plain, plain]
        assert store.messages(odd)[0].message.text == odd
        store.create(NewSession("below", parent=odd, shared=1, kind="branch"))
        assert store.session("below").parent == plain
        store.add_event(odd, odd, {odd: odd})
        assert [e.kind for e in store.events(odd, kind=odd)] == [plain]
        store.put_state(odd, odd, 0, odd)
        found = store.get_state(plain, odd)
        assert found is not None
        assert (found.key, found.body) == (plain, odd)
        store.add_usage(odd, odd, {odd: 1})
        assert store.usage(odd) == {plain: {plain: 1}}
        lease = store.acquire(odd, odd)
        assert lease is not None
        assert (lease.session, lease.holder) == (plain, plain)
        assert store.lease(odd) == lease
        store.release(store.renew(lease))
        assert store.update(odd, title=odd).title == plain
        where = SessionFilter(source=odd, model=odd, title=odd, workspace=odd, id_prefix="a\ud800", root=odd)
        assert [s.id for s in store.sessions(where, before="below")] == [plain]
        everywhere = Scope(
            sessions=(odd,), lineages=(odd,), tools=(odd,), sources=(odd,), workspaces=(odd,), roles=("tool",)
        )
        assert [h.position for h in store.find(Query(((Term("b"),),)), everywhere)] == [2]
        assert not store.find(Query(((Term("b"),),)), Scope(without_lineages=(odd,)))
        assert store.end(odd, odd).end_reason == plain
        store.delete([odd, "below"])
        assert not store.sessions()

    @pytest.mark.parametrize("forever", [1e12, 1e300, float("inf")])
    def test_times_may_be_asked_for_beyond_all_bounds(self, store: Store, forever: float) -> None:
        store.create(NewSession("s"))
        store.append("s", [user("here")], at=0)
        assert store.sessions(SessionFilter(since=-forever, until=forever))
        assert not store.sessions(SessionFilter(since=forever))
        assert store.find(Query(((Term("here"),),)), Scope(since=-forever, until=forever))

    def test_a_lineage_may_be_deeper_than_the_stack(self, store: Store) -> None:
        store.create(NewSession("s0"))
        store.append("s0", [user("0")], at=0)
        store.commit_epoch("s0", Epoch(1, store.chain("s0", 0), 1, {}), None)
        depth, limit = 150, sys.getrecursionlimit()
        for n in range(1, depth):
            store.create(NewSession(f"s{n}", parent=f"s{n - 1}", shared=n, kind="branch"))
            store.append(f"s{n}", [user(str(n))], at=n)
        tip = f"s{depth - 1}"
        sys.setrecursionlimit(len(inspect.stack(0)) + depth - 50)
        try:
            assert [m.message.text for m in store.messages(tip)] == [str(n) for n in range(depth)]
            assert [e.number for e in store.epochs(tip)] == [1]
            assert store.chain(tip, 0) == store.chain("s0", 0)
            assert store.commit_epoch(tip, Epoch(2, store.chain(tip, 5), 6, {}), None).number == 2
            assert len(store.delete([f"s{n}" for n in range(depth)], preview=True).__slots__) == 5
        finally:
            sys.setrecursionlimit(limit)

    def test_a_leaked_value_is_no_name_of_anything_either(self, store: Store) -> None:
        leaked = "hunter2correcthorse"
        store.create(NewSession("s"))
        ms = [user("go"), call("c", f"tool_{leaked}", {}), result("c", "fine")]
        store.append("s", ms, at=0)
        store.add_event("s", f"kind {leaked}", 1)
        store.put_state("s", f"key {leaked}", 0, 1)
        for model in (f"m {leaked}", "m [masked]"):
            store.add_usage("s", model, {leaked: 2, "n": 1})
        store.end("s", f"because of {leaked}")
        store.create(NewSession(leaked))
        done = store.purge(leaked, "[masked]")
        assert leaked not in repr(store.dump("s"))
        assert [s for s in done.left if "[masked]" in s]
        assert leaked not in repr(done)
        assert [m.tool.split(" ")[0] for m in store.messages("s")] == ["", "tool_[masked]", "tool_[masked]"]
        assert store.usage("s") == {"m [masked]": {"[masked]": 4, "n": 2}}
        store.create(NewSession("t"))
        store.append("t", ms, at=0)
        assert leaked not in repr(store.dump("t"))
        assert not store.check()

    @pytest.mark.parametrize("word", ["user", "content", "e", "{"])
    def test_what_holds_messages_together_is_not_masked(self, store: Store, word: str) -> None:
        store.create(NewSession("s", title=f"about {word}"))
        store.append("s", [user(f"the {word} of it")], at=0)
        before = store.dump("s")
        with pytest.raises(InputError, match="nothing was masked"):
            store.purge(word, "[masked]")
        assert store.dump("s") == before

    def test_of_several_that_can_not_go_the_first_named_is_told(self, store: Store) -> None:
        for name in ("s", "t"):
            store.create(NewSession(name))
        store.create(NewSession("of-t", parent="t"))
        store.create(NewSession("of-s", parent="s"))
        with pytest.raises(Conflict, match="'of-s' goes on from 's'"):
            store.delete(["s", "t"])
