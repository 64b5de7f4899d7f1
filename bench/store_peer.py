"""The same work given to Clew's store and to Hermes Agent's session database, one after the other, in turns.

    python bench/store_peer.py --peer /path/to/venv/bin/python [--messages 20000] [--rounds 3]

The peer's interpreter needs `hermes-agent` (0.19.0 was measured). Appends one message at a time, searches, then compacts a
session in place: the peer archives and inserts, Clew commits an epoch. Prints Clew's times as a share of the peer's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUERIES = {
    "rare word": ["zq7rareword"], "common word": ["file"], "three words": ["error", "file", "line"],
}  # fmt: skip
SEARCHES = 12

PEER = """
import json, sys, time
from pathlib import Path
from hermes_state import SessionDB
lines, folder, queries, times = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4])
db = SessionDB(Path(folder) / "peer.db")
out = {"append": [], "search": {}, "compact": []}
last = None
for line in open(lines):
    session, m = json.loads(line)
    if session != last:
        db.create_session(session, "cli")
        last = session
    content = m.get("content")
    if isinstance(content, list):
        content = json.dumps(content)
    begin = time.perf_counter()
    db.append_message(session, m["role"], content, tool_calls=m.get("tool_calls"), tool_call_id=m.get("tool_call_id"))
    out["append"].append(time.perf_counter() - begin)
for name, words in queries.items():
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        found = db.search_messages(" ".join(words), limit=20)
        took.append(time.perf_counter() - begin)
    out["search"][name] = [took, len(found)]
for n in range(times):
    begin = time.perf_counter()
    db.archive_and_compact(last, [{"role": "user", "content": f"summary {n}"}] + [{"role": "user", "content": f"tail {i}"} for i in range(20)])
    out["compact"].append(time.perf_counter() - begin)
db.close()
out["bytes"] = sum(p.stat().st_size for p in Path(folder).glob("peer.db*"))
print("RESULT" + json.dumps(out))
"""


def ours(lines: Path, folder: Path) -> dict:
    from clew import wire
    from clew.store import NewSession, open_store
    from clew.store.query import Query, Scope, Term
    from clew.store.records import Epoch

    chat = wire.get("openai-chat")
    store = open_store(str(folder / "ours.sqlite"))
    out = {"append": [], "search": {}, "compact": []}
    last, at = "", 0
    for line in lines.open():
        session, value = json.loads(line)
        if session != last:
            store.create(NewSession(session, "cli"))
            last, at = session, 0
        m = chat.message(json.dumps(value, ensure_ascii=False).encode())
        begin = time.perf_counter()
        store.append(session, [m], at=at)
        out["append"].append(time.perf_counter() - begin)
        at += 1
    for name, words in QUERIES.items():
        query, took = Query(tuple((Term(w),) for w in words)), []
        for _ in range(SEARCHES):
            begin = time.perf_counter()
            found = store.find(query, Scope(), limit=20)
            took.append(time.perf_counter() - begin)
        out["search"][name] = [took, len(found)]
    for n in range(SEARCHES):
        begin = time.perf_counter()
        body = {"handoff": f"summary {n}", "edits": list(range(20))}
        store.commit_epoch(last, Epoch(n + 1, store.chain(last, at - 1), at, body), None)
        out["compact"].append(time.perf_counter() - begin)
    store.close()
    out["bytes"] = sum(p.stat().st_size for p in folder.glob("ours.sqlite*"))
    return out


def write_lines(path: Path, count: int) -> int:
    from store_data import Sessions

    raw = done = 0
    with path.open("w") as f:
        for n, messages in enumerate(Sessions(7)):
            for m in messages:
                value = m.value
                if done % 2500 == 7 and isinstance(value.get("content"), str):
                    value["content"] += " zq7rareword"
                f.write(json.dumps([f"s{n}", value], ensure_ascii=False) + "\n")
                raw += len(m.raw)
                done += 1
            if done >= count:
                return raw
    return raw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    ratios: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        with tempfile.TemporaryDirectory() as where:
            folder = Path(where)
            raw = write_lines(folder / "lines.jsonl", given.messages)
            command = [given.peer, "-c", PEER, str(folder / "lines.jsonl"), where, json.dumps(QUERIES), str(SEARCHES)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            theirs = json.loads(said[said.index("RESULT") + 6 :])
            mine = ours(folder / "lines.jsonl", folder)
            compare(ratios, mine, theirs, raw)
    for what, values in ratios.items():
        print(f"{what:<24} {statistics.median(values):.2f}")


def compare(ratios: dict[str, list[float]], mine: dict, theirs: dict, raw: int) -> None:
    def note(what: str, value: float) -> None:
        ratios.setdefault(what, []).append(value)

    for q, name in ((0.5, "p50"), (0.95, "p95")):
        a, b = (sorted(x["append"])[int(len(x["append"]) * q)] for x in (mine, theirs))
        note(f"append {name}", a / b)
    for name in QUERIES:
        (a, found_a), (b, found_b) = mine["search"][name], theirs["search"][name]
        note(f"search, {name}", statistics.median(a) / statistics.median(b))
        if min(found_a, found_b) == 0:
            print(f"{name}: found {found_a} and {found_b}", file=sys.stderr)
    note("compaction record", statistics.median(mine["compact"]) / statistics.median(theirs["compact"]))
    note("bytes on disk", mine["bytes"] / theirs["bytes"])
    note("(bytes / raw JSON, ours)", mine["bytes"] / raw)
    note("(bytes / raw JSON, peer)", theirs["bytes"] / raw)


if __name__ == "__main__":
    main()
