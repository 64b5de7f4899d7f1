"""The part of the store contract about many threads at once. Processes are each backend's own matter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from clew.errors import Conflict, LeaseLost
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
        except (Conflict, LeaseLost) as e:
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
        child = NewSession("child", parent="s", kind="compression")
        out = together(lambda _: store.rotate("s", child, messages=[user("sum")]))
        assert sum(isinstance(o, Conflict) for o in out) == THREADS - 1
        assert [s.id for s in store.sessions()] == ["child", "s"]
        assert store.session("child").length == 1
