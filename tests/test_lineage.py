"""Forks, rotation, titles, tips, ids, the session that context and logs follow, and leases that break."""

from __future__ import annotations

import contextvars
import inspect
import logging
import os
import random
import sys
import threading

import pytest

from clew import lineage
from clew.errors import ClewWarning, Conflict, LeaseLost, StoreError
from clew.lineage import Lineage, compacting
from clew.store import open_store
from clew.store.prune import prunable
from clew.store.records import Epoch
from clew.testing.builders import Clock, user


@pytest.fixture(params=["memory", "sqlite"])
def clock_and_house(request, tmp_path):
    clock = Clock()
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/c.sqlite"
    return clock, Lineage(open_store(url, clock=clock), random.Random(1))


@pytest.fixture
def house(clock_and_house) -> Lineage:
    return clock_and_house[1]


def filled(house: Lineage, length: int = 4, **kw) -> str:
    s = house.begin(**kw)
    house.store.append(s.id, [user(f"m{n}") for n in range(length)], at=0)
    return s.id


def said(house: Lineage, session: str) -> list[str]:
    return [m.message.text for m in house.store.messages(session)]


def test_ids_sort_by_time_and_say_it():
    rng = random.Random(5)
    ids = [lineage.new_id(1_700_000_000 + n / 50, rng) for n in range(200)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 200
    assert ids[0].startswith("20231114T221320000-")
    assert lineage.new_id() != lineage.new_id()


def test_a_fork_takes_goal_and_title_along(house):
    a = filled(house, title="Task", goal="ship it", source="cli", workspace="/w")
    b = house.fork(a, 2)
    assert (b.title, b.goal, b.source, b.workspace, b.shared, b.kind) == (
        "Task #2",
        "ship it",
        "cli",
        "/w",
        2,
        "branch",
    )
    assert said(house, b.id) == ["m0", "m1"]
    assert house.store.session(a).active
    c = house.fork(b.id, end_parent=True)
    assert (c.title, c.shared) == ("Task #3", 2)
    assert house.store.session(b.id).end_reason == "branched"
    assert house.fork(a, title="Mine").title == "Mine"
    with pytest.raises(Conflict):
        house.fork(a, 99)


def test_rotation_moves_goal_and_number_and_flushes(house):
    a = filled(house, title="Task #7", goal="g")
    b = house.rotate(a, [user("summary"), user("m3")], unwritten=[user("late")])
    assert (b.title, b.goal, b.parent, b.kind) == ("Task #8", "g", a, "compression")
    assert said(house, a)[-1] == "late"
    assert said(house, b.id) == ["summary", "m3"]
    assert house.store.session(a).end_reason == "compression"
    with pytest.raises(Conflict):
        house.rotate(b.id, [], id=a)
    assert house.store.session(b.id).active


def test_a_tip_is_where_the_conversation_goes_on(house):
    a = filled(house)
    b = house.rotate(a, [user("s1")])
    side = house.fork(b.id)
    sub = house.delegate(b.id, goal="look")
    c = house.rotate(b.id, [user("s2")])
    review = house.review(c.id)
    assert house.tip(a).id == house.tip(b.id).id == house.tip(c.id).id == c.id
    assert house.tip(side.id).id == side.id
    assert (sub.kind, sub.goal, sub.source, sub.length) == ("subagent", "look", "subagent", 0)
    assert (review.kind, said(house, review.id)) == ("review", ["s2"])
    assert house.store.session(c.id).active
    assert house.root(review.id).id == a
    reset = house.reset(c.id)
    assert (house.tip(a).id, reset.goal, reset.length) == (reset.id, "", 0)
    assert house.store.session(c.id).end_reason == "reset"
    tree = house.tree(sub.id)
    assert tree.session.id == a
    assert {s.id for s in tree} == {a, b.id, side.id, sub.id, c.id, review.id, reset.id}
    assert [t.session.id for t in tree.children[0].children] == [side.id, sub.id, c.id]
    assert house.with_descendants(c.id) == (c.id, reset.id, review.id)


def test_a_lineage_may_be_deeper_than_the_stack(house):
    names = [filled(house)]
    for _ in range(150):
        names.append(house.delegate(names[-1], goal="on").id)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        tree = house.tree(names[75])
        assert [(s.id, depth) for s, depth in tree.walk()] == [(name, n) for n, name in enumerate(names)]
        assert house.tip(names[0]).id == names[0]
        found = prunable(house.store, before=house.store.now() + 1)
        assert set(found.sessions) == set(names)
    finally:
        sys.setrecursionlimit(limit)


def test_resuming_opens_the_tip_and_any_ancestor_may_be_reopened(house):
    a = filled(house)
    b = house.rotate(a, [user("s")])
    house.store.end(b.id, "done")
    assert house.resume(a).id == b.id
    assert house.store.session(b.id).active
    assert house.store.reopen(a).active
    assert house.store.append(a, [user("on")], at=4).new == 1


def test_untitled_sessions_stay_untitled(house):
    assert house.fork(filled(house)).title == ""


def test_context_environment_and_log_follow_the_session(monkeypatch, caplog):
    monkeypatch.setenv(lineage.ENVIRONMENT, "from-outside")

    def inside() -> None:
        assert lineage.session_id() == "from-outside"
        with lineage.within("one"):
            assert lineage.session_id() == "one"
            seen = []
            thread = threading.Thread(target=lambda: seen.append(lineage.session_id()))
            thread.start()
            thread.join()
            assert seen == ["from-outside"]
        lineage.follow("two")
        assert (lineage.session_id(), os.environ[lineage.ENVIRONMENT]) == ("two", "two")
        record = logging.LogRecord("x", logging.INFO, "f", 1, "hello", (), None)
        assert lineage.SessionLogFilter().filter(record)
        assert logging.Formatter("%(session)s %(message)s").format(record) == "two hello"

    contextvars.copy_context().run(inside)


def test_holders_tell_process_host_thread_and_nonce():
    pid, host, thread, nonce = lineage.holder(random.Random(1)).split(":")
    assert (int(pid), int(thread)) == (os.getpid(), threading.get_ident())
    assert host
    assert len(nonce) == 12
    assert lineage.holder() != lineage.holder()


def test_one_compacts_the_other_leaves_it(clock_and_house):
    clock, house = clock_and_house
    a = filled(house)
    with compacting(house.store, a, 60) as mine:
        assert mine is not None
        with compacting(house.store, a, 60) as other:
            assert other is None
        clock.tick(50)
        mine.renew()
        clock.tick(50)
        assert house.store.commit_epoch(a, Epoch(1, house.store.chain(a, 1), 2, {}), mine.lease).number == 1
    assert house.store.lease(a) is None


def test_a_lost_lease_is_told_at_renewal_and_at_commit(clock_and_house):
    clock, house = clock_and_house
    a = filled(house)
    with compacting(house.store, a, 60) as mine:
        clock.tick(61)
        assert house.store.acquire(a, "other") is not None
        with pytest.raises(LeaseLost):
            mine.renew()
        with pytest.raises(LeaseLost):
            house.store.commit_epoch(a, Epoch(1, house.store.chain(a, 1), 2, {}), mine.lease)
    assert house.store.lease(a).holder == "other"


def test_broken_leases_stop_nobody_and_let_one_epoch_in(tmp_path):
    import sqlite3

    house = Lineage(open_store(str(tmp_path / "broken.sqlite")))
    a = filled(house)
    house.store.close()
    with sqlite3.connect(tmp_path / "broken.sqlite") as db:
        db.execute("DROP TABLE leases")
    db.close()

    def both() -> None:
        with compacting(house.store, a) as one, compacting(house.store, a) as two:
            assert (one.lease, two.lease) == (None, None)
            one.renew()
            base = house.store.chain(a, 1)
            house.store.commit_epoch(a, Epoch(1, base, 2, {"by": "two"}), two.lease)
            with pytest.raises(Conflict):
                house.store.commit_epoch(a, Epoch(1, base, 2, {"by": "one"}), one.lease)

    with pytest.warns(ClewWarning, match="leases don't work") as told:
        both()
    assert len(told) == 1
    assert [e.body for e in house.store.epochs(a)] == [{"by": "two"}]


def test_a_store_that_fails_while_renewing_is_not_a_lost_lease(house, monkeypatch):
    a = filled(house)
    monkeypatch.setattr(lineage, "_said", set())

    class Failing:
        url, tenant = "x", ""

        def acquire(self, *args):
            return house.store.acquire(*args)

        def renew(self, *_):
            raise StoreError("gone")

        def release(self, *_):
            raise StoreError("gone")

    def hold() -> None:
        with compacting(Failing(), a) as held:
            held.renew()
            assert held.lease is not None

    with pytest.warns(ClewWarning) as told:
        hold()
    assert len(told) == 1
