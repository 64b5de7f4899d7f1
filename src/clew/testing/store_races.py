"""The part of the store contract about many threads at once. Processes are each backend's own matter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

from clew.errors import Conflict, LeaseLost, NotFound
from clew.store.base import Store
from clew.store.records import NewSession
from clew.testing.builders import user
from clew.testing.store_epochs import epoch, filled

THREADS = 8


def together(act: Callable[[int], object]) -> list[object]:
    """Runs `act(n)` in as many threads at the same moment; gives results, or the store errors they raised."""
    barrier = Barrier(THREADS)

    def run(n: int) -> object:
        barrier.wait()
        try:
            return act(n)
        except (Conflict, LeaseLost, NotFound) as e:
            return e

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


class RaceContract:
    """Whoever comes first wins, the others are told, nothing is half done."""

    def test_sessions_written_at_once_hold_each_its_own(self, store: Store) -> None:
        def work(n: int) -> None:
            store.create(NewSession(f"s{n}"))
            for i in range(12):
                store.append(f"s{n}", [user(f"{n}/{i}"), user("the same for all")], at=2 * i)

        together(work)
        for n in range(THREADS):
            said = [m.message.text for m in store.messages(f"s{n}")]
            assert said == [x for i in range(12) for x in (f"{n}/{i}", "the same for all")]
        assert store.info().contents == 12 * THREADS + 1
        assert not store.check()

    def test_one_position_takes_one_message(self, store: Store) -> None:
        store.create(NewSession("s"))
        out = together(lambda n: store.append("s", [user(f"from {n}")], at=0))
        assert sum(not isinstance(o, Conflict) for o in out) == 1
        assert store.session("s").length == 1

    def test_the_same_message_from_all_is_one_message(self, store: Store) -> None:
        store.create(NewSession("s"))
        out = together(lambda _: store.append("s", [user("a"), user("b")], at=0).new)
        assert sorted(out, key=str) == [0] * (THREADS - 1) + [2]

    def test_events_are_numbered_once(self, store: Store) -> None:
        store.create(NewSession("s"))
        together(lambda n: [store.add_event("s", "k", [n, i]) for i in range(5)])
        events = store.events("s")
        assert [e.sequence for e in events] == list(range(1, 5 * THREADS + 1))
        for n in range(THREADS):
            assert [e.body[1] for e in events if e.body[0] == n] == list(range(5))

    def test_one_lease_one_epoch(self, store: Store) -> None:
        filled(store)

        def compact(n: int) -> bool:
            lease = store.acquire("s", f"holder {n}")
            if lease is None:
                return False
            store.commit_epoch("s", epoch(store, 1, 3), lease)
            return True

        assert True in together(compact)
        assert [e.number for e in store.epochs("s")] == [1]

    def test_one_epoch_even_where_leases_are_broken(self, store: Store) -> None:
        filled(store)
        out = together(lambda _: store.commit_epoch("s", epoch(store, 1, 3), None))
        assert sum(isinstance(o, Conflict) for o in out) == THREADS - 1
        assert len(store.epochs("s")) == 1

    def test_one_rotation(self, store: Store) -> None:
        filled(store)

        def work(n: int) -> object:
            return store.rotate("s", NewSession(f"child {n}", parent="s", kind="compression"), messages=[user("sum")])

        out = together(work)
        assert sum(isinstance(o, Conflict) for o in out) == THREADS - 1
        [child, parent] = store.sessions()
        assert (child.parent, parent.id, child.length) == ("s", "s", 1)

    def test_a_fork_made_while_its_parent_grows_and_compacts_has_what_it_shares(self, store: Store) -> None:
        filled(store)

        def work(n: int) -> None:
            for i in range(6):
                if n % 2:
                    above = store.session("s")
                    store.create(NewSession(f"f{n}.{i}", parent="s", shared=above.length, kind="branch"))
                    store.append(f"f{n}.{i}", [user(f"own {n}.{i}")], at=above.length)
                    continue
                with suppress(Conflict, LeaseLost):
                    length = store.session("s").length
                    store.append("s", [user(f"{n}/{i}")], at=length)
                    lease = store.acquire("s", f"holder {n}")
                    number = len(store.epochs("s")) + 1
                    length = store.session("s").length  # read last: no epoch before this one ends behind it
                    store.commit_epoch("s", epoch(store, number, length), lease)

        together(work)
        whole = [m.address for m in store.messages("s")]
        epochs = store.epochs("s")
        assert [e.number for e in epochs] == list(range(1, len(epochs) + 1))
        for s in store.sessions():
            if s.kind == "branch":
                there = store.messages(s.id)
                assert [m.address for m in there[:-1]] == whole[: s.shared]
                assert there[-1].message.text == f"own {s.id[1:]}"
                shared = store.epochs(s.id)
                assert list(shared) == list(epochs[: len(shared)])
                assert all(e.position <= s.shared for e in shared)
        assert not store.check()

    def test_what_is_appended_while_a_session_is_rotated_is_in_the_parent_or_refused(self, store: Store) -> None:
        filled(store)

        def work(n: int) -> int:
            done = 0
            for i in range(8):
                if n == 0 and i == 4:
                    child = NewSession("child", parent="s", kind="compression")
                    store.rotate("s", child, unwritten=[user("late")], messages=[user("sum")])
                elif n:
                    done += store.append("s", [user(f"{n}/{i}")], at=store.session("s").length).new
            return done

        acknowledged = together(work)
        said = [m.message.text for m in store.messages("s")]
        assert store.session("s").end_reason == "compression"
        assert said[-1] == "late"
        assert len(said) == len(set(said))
        assert len(said) - 7 >= sum(a for a in acknowledged if isinstance(a, int))
        assert store.session("child").length == 1
        assert not store.check()

    def test_a_session_deleted_while_others_write_is_gone_whole(self, store: Store) -> None:
        filled(store)
        store.create(NewSession("other"))

        def work(n: int) -> None:
            for i in range(5):
                if n == 0 and i == 3:
                    store.delete(["s"])
                    continue
                store.append("other", [user("the same for all")], at=store.session("other").length)
                store.append("s", [user("the same for all")], at=store.session("s").length)

        together(work)
        assert [s.id for s in store.sessions()] == ["other"]
        assert {m.message.text for m in store.messages("other")} <= {"the same for all"}
        assert store.info().contents == min(1, store.session("other").length)
        assert not store.check()
