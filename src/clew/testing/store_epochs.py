"""The part of the store contract about epochs and leases."""

from __future__ import annotations

import pytest

from clew.errors import Conflict, LeaseLost
from clew.store.base import Store
from clew.store.records import Epoch, NewSession
from clew.testing.builders import Clock, user


def filled(store: Store, length: int = 6) -> None:
    store.create(NewSession("s"))
    store.append("s", [user(str(n)) for n in range(length)], at=0)


def epoch(store: Store, number: int, position: int, body: object = None, session: str = "s") -> Epoch:
    return Epoch(number, store.chain(session, position - 1), position, body or {"edits": [number]})


class EpochContract:
    """Exactly one epoch for each number, on the prefix it was made for, by the one who holds the lease."""

    def test_epochs_are_kept_in_order(self, store: Store, clock: Clock) -> None:
        filled(store)
        for number, position in ((1, 3), (2, 5)):
            lease = store.acquire("s", "me")
            assert store.commit_epoch("s", epoch(store, number, position), lease).time == clock.now
        assert [(e.number, e.position, e.body) for e in store.epochs("s")] == [
            (1, 3, {"edits": [1]}),
            (2, 5, {"edits": [2]}),
        ]

    def test_number_and_prefix_must_fit(self, store: Store) -> None:
        filled(store)
        store.commit_epoch("s", epoch(store, 1, 3), None)
        wrong = [
            epoch(store, 1, 4), epoch(store, 3, 4), Epoch(2, "other", 4, {}), Epoch(2, store.chain("s", 1), 3, {}),
            Epoch(2, store.chain("s", 5), 99, {}), Epoch(2, "", -1, {}),
        ]  # fmt: skip
        for e in wrong:
            with pytest.raises(Conflict):
                store.commit_epoch("s", e, None)
        assert [e.number for e in store.epochs("s")] == [1]

    def test_a_fork_begins_with_the_epochs_of_its_prefix(self, store: Store) -> None:
        filled(store)
        store.commit_epoch("s", epoch(store, 1, 2), None)
        store.commit_epoch("s", epoch(store, 2, 5), None)
        store.create(NewSession("f", parent="s", shared=4, kind="branch"))
        store.commit_epoch("s", epoch(store, 3, 3), None)
        assert [e.number for e in store.epochs("f")] == [1]
        store.append("f", [user("f")], at=4)
        store.commit_epoch("f", epoch(store, 2, 5, {"own": 1}, "f"), None)
        store.create(NewSession("g", parent="f", shared=5, kind="branch"))
        assert [e.body for e in store.epochs("g")] == [{"edits": [1]}, {"own": 1}]
        store.create(NewSession("h", parent="g", shared=1, kind="branch"))
        assert store.epochs("h") == []

    def test_one_holder_at_a_time(self, store: Store, clock: Clock) -> None:
        filled(store)
        mine = store.acquire("s", "me", 60)
        assert mine is not None
        assert store.acquire("s", "you", 60) is None
        assert store.lease("s") == mine
        again = store.acquire("s", "me", 90)
        assert again is not None
        assert (again.token, again.expires) == (mine.token, clock.now + 90)
        store.release(again)
        assert store.lease("s") is None
        yours = store.acquire("s", "you", 60)
        assert yours is not None
        assert yours.token > mine.token
        store.release(mine)
        assert store.lease("s") == yours

    def test_a_lease_runs_out_unless_renewed(self, store: Store, clock: Clock) -> None:
        filled(store)
        mine = store.acquire("s", "me", 60)
        assert mine is not None
        clock.tick(50)
        mine = store.renew(mine, 60)
        clock.tick(50)
        assert store.acquire("s", "you", 60) is None
        clock.tick(11)
        yours = store.acquire("s", "you", 60)
        assert yours is not None
        with pytest.raises(LeaseLost):
            store.renew(mine, 60)
        with pytest.raises(LeaseLost):
            store.commit_epoch("s", epoch(store, 1, 3), mine)
        store.commit_epoch("s", epoch(store, 1, 3), yours)
        assert len(store.epochs("s")) == 1

    def test_a_lease_given_back_commits_nothing(self, store: Store) -> None:
        filled(store)
        mine = store.acquire("s", "me")
        assert mine is not None
        store.release(mine)
        with pytest.raises(LeaseLost):
            store.commit_epoch("s", epoch(store, 1, 3), mine)

    def test_a_clock_set_back_leaves_no_lease_stuck(self, store: Store, clock: Clock) -> None:
        filled(store)
        mine = store.acquire("s", "me", 60)
        assert mine is not None
        clock.tick(-3600)
        assert store.append("s", [user("later")], at=6).length == 7
        yours = store.acquire("s", "you", 60)
        assert yours is not None
        with pytest.raises(LeaseLost):
            store.commit_epoch("s", epoch(store, 1, 3), mine)
        store.commit_epoch("s", epoch(store, 1, 3), yours)
