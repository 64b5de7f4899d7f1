"""Fills a store with generated messages: size against raw JSON, append and open times.

    python bench/store_size.py [--messages 1000000] [--file /tmp/clew-bench.sqlite] [--one-by-one 2000]

Sessions are written as an import does, 200 messages to a transaction; at the end so many are appended one by one.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from store_data import Sessions

from clew.store import NewSession, open_store


def quantile(values: list[float], q: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * q))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--file", type=Path, default=Path("/tmp/clew-bench.sqlite"))
    parser.add_argument("--one-by-one", type=int, default=2000)
    parser.add_argument("--vacuum", action="store_true", help="put the indexes in order at the end")
    parser.add_argument("--filled", action="store_true", help="the file is there already: only append and open")
    given = parser.parse_args()
    store = open_store(str(given.file))
    if not given.filled:
        fill(store, given)
    append_one_by_one(store, given.one_by_one)
    begin = time.perf_counter()
    fresh = open_store(str(given.file))
    fresh.sessions(limit=1)
    print(f"open and first read: {1000 * (time.perf_counter() - begin):.1f} ms")


def fill(store, given) -> None:
    done = raw = n = 0
    began = time.perf_counter()
    for n, messages in enumerate(Sessions()):
        if done >= given.messages:
            break
        name = f"s{n:07d}"
        store.create(NewSession(name, source="bench", workspace=f"/project/{n % 40}"))
        for at in range(0, len(messages), 200):
            store.append(name, messages[at : at + 200], at=at)
        done += len(messages)
        raw += sum(len(m.raw) for m in messages)
        if n % 100 == 0:
            print(f"{done} messages, {raw / 1e6:.0f} MB raw, {time.perf_counter() - began:.0f} s", flush=True)
    report(store, given, raw)


def report(store, given, raw: int) -> None:
    info = store.info()
    print(f"{info.messages} messages, {info.contents} contents: {info.bytes / raw:.3f} x raw JSON as written")
    if given.vacuum:
        info = store.vacuum()
        print(f"after vacuum: {info.bytes / raw:.3f} x raw JSON")


def append_one_by_one(store, count: int) -> None:
    messages = []
    for more in Sessions(seed=2):
        messages += more
        if len(messages) >= count:
            break
    store.create(NewSession(f"one-by-one-{store.info().sessions}"))
    name = store.sessions(limit=1)[0].id
    took, cpu = [], []
    for at, m in enumerate(messages[:count]):
        begin, busy = time.perf_counter(), time.thread_time()
        store.append(name, [m], at=at)
        took.append(1000 * (time.perf_counter() - begin))
        cpu.append(1000 * (time.thread_time() - busy))
    for what, values in (("wall", took), ("CPU", cpu)):
        ms = ", ".join(f"p{100 * q:.0f} {quantile(values, q):.2f}" for q in (0.5, 0.95, 0.99))
        print(f"append of one, {what}: {ms} ms")


if __name__ == "__main__":
    main()
