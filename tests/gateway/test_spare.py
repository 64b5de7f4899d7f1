"""Work that no request waits for: when it is done, and that it is done."""

from __future__ import annotations

import threading
import time

from clew.gateway import spare as module
from clew.gateway.spare import Spare


def until(true, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(true())


def test_pieces_are_done_one_by_one_until_there_is_no_more():
    spare, left, threads = Spare(), [5], set()

    def piece() -> bool:
        threads.add(threading.current_thread().name)
        left[0] -= 1
        return left[0] > 0

    spare.later("a", piece)
    assert until(lambda: left[0] == 0)
    assert threads == {"clew-spare"}
    spare.close()


def test_nothing_is_done_while_a_request_is_made_ready(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 60.0)
    spare, done = Spare(), []
    with spare.working():
        spare.later("a", lambda: bool(done.append(1)))
        spare.later("a", lambda: bool(done.append(2)))  # the same work, asked for again
        time.sleep(0.1)
        assert done == []
    assert until(lambda: done)
    assert done == [1]
    spare.close()


def test_requests_without_a_pause_do_not_put_it_off_for_ever(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 0.05)
    spare, done = Spare(), []
    with spare.working():
        spare.later("a", lambda: bool(done.append(1)) or len(done) < 3)
        assert until(lambda: len(done) == 3)
    spare.close()


def test_what_is_left_is_done_at_the_end_and_a_fault_stops_nothing(caplog):
    spare, done = Spare(), []
    with spare.working():
        spare.later("broken", lambda: 1 // 0 > 0)
        spare.later("a", lambda: bool(done.append(1)) or len(done) < 3)
        spare.close()
    assert done == [1, 1, 1]
    assert "work in spare time failed" in caplog.text
    spare.later("b", lambda: bool(done.append(2)))  # closed: nothing begins any more
    assert done == [1, 1, 1]
