"""Many processes on one file: nobody errs, nothing is lost, one wins where only one may."""

from __future__ import annotations

import json
import time

import pytest

from clew.store import NewSession, open_store
from clew.testing.builders import user
from tests.faults.store_worker import text
from tests.faults.test_store_kill import start


def appended(path, processes: int, count: int) -> dict[str, list[str]]:
    """What the store holds of each process, once all have written `count` messages to it at once."""
    running = [start("append", path, n, count) for n in range(processes)]
    said = [p.communicate(timeout=120)[0] for p in running]
    assert [p.returncode for p in running] == [0] * processes
    assert [json.loads(s) for s in said] == [["done", f"p{n}", count] for n in range(processes)]
    store = open_store(str(path))
    assert not store.check()
    return {s.id: [m.message.text for m in store.messages(s.id)] for s in store.sessions()}


def written(processes: int, count: int) -> dict[str, list[str]]:
    return {f"p{n}": [text(f"p{n}", i) for i in range(count)] for n in range(processes)}


def committed(path, processes: int) -> tuple[list[str], list[str]]:
    """Who says that it committed the epoch, and by whom the store has one."""
    store = open_store(str(path))
    store.create(NewSession("s"))
    store.append("s", [user(str(n)) for n in range(6)], at=0)
    begin = time.time() + 0.4 + processes * 0.15
    running = [start("commit", path, n, begin) for n in range(processes)]
    said = [json.loads(p.communicate(timeout=60)[0]) for p in running]
    assert [p.returncode for p in running] == [0] * processes
    assert {what for what, _ in said} <= {"committed", "left", "refused"}
    assert store.lease("s") is None
    return [who for what, who in said if what == "committed"], [e.body["by"] for e in store.epochs("s")]


def test_processes_append_to_one_new_file(tmp_path):
    assert appended(tmp_path / "new" / "a.sqlite", 4, 25) == written(4, 25)


def test_processes_commit_one_epoch(tmp_path):
    winners, epochs = committed(tmp_path / "c.sqlite", 3)
    assert winners == epochs
    assert len(winners) == 1


@pytest.mark.slow
def test_16_processes_append_to_one_new_file(tmp_path):
    assert appended(tmp_path / "new" / "a.sqlite", 16, 400) == written(16, 400)


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(5))
def test_8_processes_commit_one_epoch(tmp_path, round_):
    winners, epochs = committed(tmp_path / "c.sqlite", 8)
    assert winners == epochs
    assert len(winners) == 1
