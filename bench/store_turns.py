"""What a turn costs the store as a session grows, and when a client sends its whole history each time.

    python bench/store_turns.py

Prints the CPU time of a turn (two messages, an event, a state) at messages 100 and 10,000 as a ratio, then what 500 turns
of a client that resends everything leave behind.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from store_data import Sessions

from clew.store import NewSession, open_store


def endless(seed: int):
    for messages in Sessions(seed):
        yield from messages


def growing(folder: str) -> None:
    store = open_store(str(Path(folder, "turns.sqlite")))
    store.create(NewSession("s"))
    source, cost, at, chain = endless(1), {}, 0, ""
    pool = [next(source) for _ in range(200)]
    while at < 10_200:
        fresh = [next(source), next(source)] if at % 200 else pool[:2]
        begin = time.thread_time()
        done = store.append("s", fresh, at=at, chain=chain)
        store.add_event("s", "usage", {"input": at, "output": 100})
        store.put_state("s", "counters", done.length, {"turns": at})
        cost[at] = time.thread_time() - begin
        at, chain = done.length, done.chain
    early = statistics.median(v for k, v in cost.items() if 50 <= k < 350)
    late = statistics.median(v for k, v in cost.items() if k >= 9_900)
    print(
        f"a turn at 10,000 messages against one at 100: {late / early:.2f} x ({1000 * early:.2f} and {1000 * late:.2f} ms CPU)"
    )


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
