"""What a turn costs the store as a session grows, and when a client sends its whole history each time.

    python bench/store_turns.py

Prints the CPU time of a turn (two messages, an event, a state) at messages 100 and 10,000 as a ratio, then what 500 turns
of a client that resends everything leave behind.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from store_data import Sessions

from clew.store import NewSession, open_store
from clew.transcript import Message


def endless(seed: int):
    for messages in Sessions(seed):
        yield from messages


def growing(folder: str) -> None:
    """The same turns given to a session of 100 messages and to one of 10,000, by turns, so that whatever else the machine
    does meets both.
    """
    source = endless(1)
    sessions = {n: Session(Path(folder, f"turns{n}.sqlite"), source, n) for n in (100, 10_000)}
    cost: dict[int, list[float]] = {n: [] for n in sessions}
    for _ in range(200):
        fresh = [next(source), next(source)]
        for n, session in sessions.items():
            cost[n].append(session.turn(fresh))
    early, late = (statistics.median(cost[n]) for n in sessions)
    print(
        f"a turn at 10,000 messages against one at 100: {late / early:.2f} x ({1000 * early:.2f} and {1000 * late:.2f} ms CPU)"
    )


class Session:
    """One session of a store of its own, filled to a length."""

    def __init__(self, path: Path, source: Iterator[Message], length: int) -> None:
        self.store = open_store(str(path))
        self.store.create(NewSession("s"))
        self.at, self.chain = 0, ""
        while self.at < length:
            self.turn([next(source), next(source)])

    def turn(self, fresh: list[Message]) -> float:
        begin = time.thread_time()
        done = self.store.append("s", fresh, at=self.at, chain=self.chain)
        self.store.add_event("s", "usage", {"input": self.at, "output": 100})
        self.store.put_state("s", "counters", done.length, {"turns": self.at})
        self.at, self.chain = done.length, done.chain
        return time.thread_time() - begin


def resending(folder: str) -> None:
    store = open_store(str(Path(folder, "resend.sqlite")))
    store.create(NewSession("s"))
    history, source, took = [], endless(2), []
    for _ in range(500):
        history += [next(source), next(source)]
        begin = time.thread_time()
        store.append("s", history, at=0)
        took.append(time.thread_time() - begin)
    info = store.info()
    distinct = len({m.address for m in history})
    print(
        f"500 turns resent whole: {len(history)} messages, {distinct} distinct; positions {info.messages}, contents {info.contents}"
    )
    print(f"the last turn of {len(history)} messages: {1000 * statistics.median(took[-20:]):.2f} ms CPU")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        growing(where)
        resending(where)
