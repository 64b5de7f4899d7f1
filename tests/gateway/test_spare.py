"""Work that no request waits for: when it is done, and that it is done."""

from __future__ import annotations

import threading
import time

import pytest

from clew.context.log import Log
from clew.gateway import spare as module
from clew.gateway.spare import Spare
from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.agent import Agent, shell


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


@pytest.mark.parametrize(("window", "read"), [(400_000, False), (16_000, True)])
def test_facts_are_gathered_ahead_only_where_a_compaction_is_possible(serve, monkeypatch, window, read):
    observed = []
    monkeypatch.setattr(Log, "catch_up", lambda *_: bool(observed.append(1)))
    with running(Upstream(Errand())) as up:
        gateway = serve(up.url, models={"gpt-5": {"window": window}})
        agent = Agent("openai-chat", gateway.url, session="one", results=shell, output=500)
        agent.history = [{"role": r, "content": "word " * 800} for _ in range(3) for r in ("user", "assistant")]
        assert agent.run("errand:alpha steps=2 In the end alpha value=al4711") == "done: al4711"
        gateway.gateway._turns.spare.close()
    assert bool(observed) == read
