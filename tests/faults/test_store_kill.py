"""A process killed at any moment has lost nothing it acknowledged, written nothing twice, and left nothing locked."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from clew import transcript
from clew.store import NewSession, Store, migrate, open_store
from clew.store.sql import migrations
from clew.testing.builders import user
from tests.conftest import ROOT
from tests.faults.store_worker import LEASE, text


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.faults.store_worker", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def killed_after(process: subprocess.Popen[str], first_line: bool, seconds: float) -> list[list]:
    """What it had acknowledged when it was killed, `seconds` after its first word (or its start)."""
    assert process.stdout is not None
    lines = [process.stdout.readline()] if first_line else []
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL, lines
    whole = "".join(lines) + rest
    return [json.loads(line) for line in whole.splitlines() if line.endswith("]")]


def confirm(store: Store, told: list[list]) -> None:
    """Everything that was told is there, once, and what is there is what the worker would have written."""
    lengths: dict[str, int] = {}
    epochs: dict[str, int] = {}
    for what, name, *more in told:
        if what in ("appended", "rotated"):
            lengths[name] = more[0]
        if what == "rotated":
            lengths[more[1]] = 1
            assert store.session(name).end_reason == "compression"
            assert store.session(more[1]).parent == name
        if what == "epoch":
            epochs[name] = more[0]
        if what == "original":
            assert store.original(transcript.reference(transcript.text_address(more[0]))).text == more[0]
    sessions = [s for s in store.sessions() if s.id in lengths or s.parent in lengths]
    for s in sessions:
        replayed = transcript.Transcript(user(text(s.id, n)) for n in range(s.length))
        stored = store.messages(s.id)
        assert [m.message.raw for m in stored] == [m.raw for m in replayed]
        assert [m.position for m in stored] == list(range(s.length))
        assert s.length >= lengths.get(s.id, 0)
        assert s.length - lengths.get(s.id, 0) <= 4, "at most the one append that was under way"
        assert s.active or store.session(f"{s.id}r").parent == s.id
        committed = store.epochs(s.id)
        assert [e.number for e in committed] == list(range(1, len(committed) + 1))
        assert epochs.get(s.id, 0) <= len(committed) <= epochs.get(s.id, 0) + 1
        for e in committed:
            assert e.base_chain == replayed.chain_at(e.position - 1)


def kills(path: Path, count: int, seed: int) -> int:
    """How many things the killed workers had acknowledged, each of which was found; without any, nothing was tried."""
    rng = random.Random(seed)
    store = open_store(str(path))
    acknowledged = 0
    for n in range(count):
        told = killed_after(start("work", path, n), first_line=n % 5 != 0, seconds=rng.uniform(0, 0.25))
        confirm(store, told)
        acknowledged += len(told)
        taken = [s.id for s in store.sessions(limit=3)]
        time.sleep(LEASE)
        for name in taken:
            lease = store.acquire(name, "after the kill")
            assert lease is not None, "a stuck lease"
            store.release(lease)
        assert n % 10 or not store.check()
    return acknowledged


def test_killed_while_writing(tmp_path):
    path = tmp_path / "k.sqlite"
    assert kills(path, 6, seed=11) > 0
    assert not open_store(str(path)).check()


@pytest.mark.slow
def test_killed_while_writing_at_200_moments(tmp_path):
    path = tmp_path / "k.sqlite"
    assert kills(path, 200, seed=12) > 200
    assert not open_store(str(path)).check()


MIGRATE = """
import sqlite3, sys, time
from pathlib import Path
from clew.store import migrate
from clew.store.sql import migrations
path = Path(sys.argv[1])
step = "CREATE TABLE copied AS SELECT * FROM contents; DROP TABLE contents; ALTER TABLE copied RENAME TO contents; CREATE TABLE newer (x);"
db = sqlite3.connect(path, isolation_level=None)
print("ready", flush=True)
migrate.sqlite(db, path, (*migrations("sqlite"), (9, step)))
print("done", flush=True)
time.sleep(60)
"""


def migration_kills(folder: Path, count: int) -> set[int]:
    """The versions that files were left at."""
    rng = random.Random(count)
    seen = set()
    for n in range(count):
        path = folder / f"m{n}.sqlite"
        store = open_store(str(path))
        store.create(NewSession("s"))
        store.append("s", [user(text("s", i) * 30) for i in range(120)], at=0)
        store.close()
        process = subprocess.Popen(
            [sys.executable, "-c", MIGRATE, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.03))
        os.kill(process.pid, signal.SIGKILL)
        told = process.communicate()[0]
        assert process.returncode == -signal.SIGKILL, "it ended by itself"
        with closing(sqlite3.connect(path)) as db:
            version = migrate.version(db)
            seen.add(version)
            assert version in (1, 9)
            assert version == 9 or "done" not in told
            newer = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'newer'").fetchone()[0]
            assert newer == (version == 9)
            assert db.execute("SELECT count(*) FROM contents").fetchone()[0] == 120
            assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        if version == 9:
            with closing(sqlite3.connect(migrate.backup_path(path, 1))) as backup:
                assert migrate.version(backup) == 1
                assert backup.execute("SELECT count(*) FROM contents").fetchone()[0] == 120
        else:
            again = open_store(str(path))
            assert again.session("s").length == 120
            assert not again.check()
    return seen


def test_killed_while_migrating(tmp_path):
    assert migration_kills(tmp_path, 4) <= {1, 9}


@pytest.mark.slow
def test_killed_while_migrating_at_40_moments(tmp_path):
    assert migration_kills(tmp_path, 40) == {1, 9}, "some before it was done, some after"


def test_versions_known_to_the_test_are_those_there_are():
    assert [n for n, _ in migrations("sqlite")] == [1]
