"""How fast searches are in a store of generated messages, by kind, against plain FTS5 ranking over the same messages.

    python bench/search.py [--messages 1000000] [--file /tmp/clew-search.sqlite] [--rounds 40] [--no-plain]

A file that already holds as many messages is used as it is, and the plain index beside it (`.plain`) too. What is looked
for is drawn from the stored messages, so nearly everything is found. Times are of one thread, the query parsed and the
best 20 messages found; `discover` adds snippets, windows and both ends of 10 conversations, all masked. Beside each stands
the processor time of the same searches, which other work on the machine doesn't touch.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from store_data import Sessions

from clew.recall import Filters, discover, parse
from clew.store import NewSession, open_store
from clew.store.indexed import indexed
from clew.store.match import words
from clew.store.query import Query, Scope, TermKind

COMMON = ("the", "file", "error", "test", "is", "in", "return", "and", "to", "a")
PLAIN = {"words": "unicode61 remove_diacritics 2", "grams": "trigram"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--file", type=Path, default=Path("/tmp/clew-search.sqlite"))
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--no-plain", action="store_true")
    given = parser.parse_args()
    store = fill(given.file, given.messages)
    plain = None if given.no_plain else plain_index(store, given.file.with_suffix(".plain"))
    queries = draw(store, given.rounds, random.Random(7))
    scopes = scoped(store, random.Random(8))
    print(f"{store.info().messages} messages; milliseconds, p50 / p95 / longest")
    every = Times()
    for kind, texts in queries.items():
        free = times(texts, lambda q, _: store.find(parse(q).query, Scope(), limit=20))
        within = times(texts, lambda q, n: store.find(parse(q).query, scopes[n % len(scopes)], limit=20))
        every = every + free + within
        line = f"{kind:14} unscoped {row(free)}   scoped {row(within)}"
        if plain:
            theirs = times(texts, lambda q, _: ranked(plain, parse(q).query))
            half, most = (quantile(theirs.busy, q) / quantile(free.busy, q) for q in (0.5, 0.95))
            line += f"   plain FTS5 {row(theirs)} = {half:.1f} x the p50, {most:.1f} x the p95 of processor time"
        print(line, flush=True)
    print(f"{'all kinds':14} {row(every)}")
    mixed = [t for texts in queries.values() for t in texts[: max(1, given.rounds // 8)]]
    print(f"{'discover':14} {row(times(mixed, lambda q, _: discover(store, q, Filters())))}")


def fill(file: Path, messages: int):
    store = open_store(str(file))
    done = store.info().messages
    if done >= messages:
        return store
    for n, m in enumerate(Sessions(), len(store.sessions())):
        if done >= messages:
            break
        name = f"s{n:07d}"
        store.create(NewSession(name, source="bench", workspace=f"/project/{n % 40}"))
        for at in range(0, len(m), 200):
            store.append(name, m[at : at + 200], at=at)
        done += len(m)
        if n % 200 == 0:
            print(f"{done} messages", flush=True)
    store.vacuum()
    return store


def plain_index(store, file: Path) -> sqlite3.Connection:
    """What one gets from FTS5 as it comes: positions kept, ranked by bm25."""
    db = sqlite3.connect(file, isolation_level=None)
    if db.execute("PRAGMA user_version").fetchone()[0]:
        return db
    db.execute("PRAGMA journal_mode=OFF")
    db.execute("BEGIN")
    for name, tokenizer in PLAIN.items():
        db.execute(f"CREATE VIRTUAL TABLE {name} USING fts5 (body, content='', tokenize='{tokenizer}')")
    rowid = 0
    for s in reversed(store.sessions()):
        for m in store.messages(s.id):
            rowid += 1
            for name in PLAIN:
                db.execute(f"INSERT INTO {name} (rowid, body) VALUES (?, ?)", (rowid, indexed(m.message)))
    db.execute("COMMIT")
    for name in PLAIN:
        db.execute(f"INSERT INTO {name} ({name}) VALUES ('optimize')")
    db.execute("PRAGMA user_version = 1")
    return db


def ranked(db: sqlite3.Connection, query: Query) -> list[tuple[int]]:
    grams = any(t.kind is TermKind.FRAGMENT for g in query.all for t in g)
    groups = (" OR ".join('"' + t.text.replace('"', '""') + '"' for t in g) for g in query.all)
    match = " AND ".join(f"({g})" for g in groups)
    name = "grams" if grams else "words"
    return db.execute(f"SELECT rowid FROM {name} WHERE {name} MATCH ? ORDER BY rank LIMIT 20", (match,)).fetchall()


def draw(store, rounds: int, rng: random.Random) -> dict[str, list[str]]:
    """What to look for, from messages of sessions all over the store."""
    names = [s.id for s in store.sessions() if s.length > 5]
    texts = []
    for name in rng.sample(names, min(len(names), 80)):
        texts += [t for m in store.messages(name) if len(t := indexed(m.message)) > 60]
    kinds: dict[str, Callable[[str], str]] = {
        "rare id": lambda t: pick(rng, re.findall(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,12}\b", t)),
        "path": lambda t: pick(rng, re.findall(r"[\w.-]+(?:/[\w.-]+)+", t)),
        "phrase": lambda t: '"' + in_a_row(rng, words(t), rng.choice((2, 3, 4))) + '"',
        "3 words AND": lambda t: " ".join(sample(rng, sorted({w for w in words(t) if w.isalpha()}), 3)),
        "3 words OR": lambda t: " OR ".join(sample(rng, sorted({w for w in words(t) if w.isalpha()}), 3)),
        "common word": lambda _: rng.choice(COMMON),
        "substring": lambda t: inner(rng, re.findall(r"[A-Za-z]+_\w{6,30}", t)),
        "CJK": lambda t: inner(rng, re.findall(r"[\u4e00-\u9fff]{4,}", t), 2, 3),
    }
    found: dict[str, list[str]] = {}
    for kind, make in kinds.items():
        at: list[str] = []
        tries = 0
        while len(at) < rounds and (tries := tries + 1) < 200_000:
            if (made := make(rng.choice(texts)).strip()).strip('"'):
                at.append(made)
        found[kind] = at
    return found


def pick(rng: random.Random, found: list[str]) -> str:
    return rng.choice(found) if found else ""


def sample(rng: random.Random, found: list[str], count: int) -> list[str]:
    return rng.sample(found, count) if len(found) >= count else []


def in_a_row(rng: random.Random, found: list[str], count: int) -> str:
    at = rng.randrange(max(1, len(found) - count))
    return " ".join(found[at : at + count])


def inner(rng: random.Random, found: list[str], low: int = 6, high: int = 10) -> str:
    """A piece from the middle of a longer run."""
    if not found:
        return ""
    run, size = rng.choice(found), rng.randint(low, high)
    at = rng.randrange(1, max(2, len(run) - size))
    return run[at : at + size]


def scoped(store, rng: random.Random) -> list[Scope]:
    some = rng.sample(list(store.sessions()), 5)
    middle = sorted(s.updated for s in store.sessions())[-len(store.sessions()) // 10]
    return [
        *(Scope(lineages=(s.root,)) for s in some),
        Scope(roles=("user",)),
        Scope(tools=("Bash",)),
        Scope(workspaces=("/project/7",)),
        Scope(since=middle),
        Scope(without_sources=("subagent", "tool")),
    ]


class Times(list[float]):
    """Of the clock; `busy` are those of the processor."""

    def __init__(self) -> None:
        super().__init__()
        self.busy: list[float] = []

    def __add__(self, other: Times) -> Times:
        both = Times()
        both.extend([*self, *other])
        both.busy = self.busy + other.busy
        return both


def times(texts: list[str], search: Callable[[str, int], object]) -> Times:
    took = Times()
    for n, text in enumerate(texts):
        begin, busy = time.perf_counter(), time.thread_time()
        search(text, n)
        took.append(1000 * (time.perf_counter() - begin))
        took.busy.append(1000 * (time.thread_time() - busy))
    return took


def quantile(values: list[float], q: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * q))]


def row(values: Times) -> str:
    wall = f"{quantile(values, 0.5):6.1f} / {quantile(values, 0.95):6.1f} / {max(values):6.1f}"
    return f"{wall} (CPU {quantile(values.busy, 0.5):.1f} / {quantile(values.busy, 0.95):.1f})"


if __name__ == "__main__":
    main()
