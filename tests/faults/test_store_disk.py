"""Full disks, files that may not be written, are deleted, replaced or damaged: said clearly, and nothing acknowledged lost."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

from clew.errors import ClewWarning, StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreMissing
from clew.recall import discover
from clew.store import NewSession, open_store
from clew.store.sqlite import connect, files, repair
from clew.store.sqlite.backend import SqliteStore
from clew.store.sqlite.connect import Settings
from clew.testing.builders import user
from tests.conftest import ROOT


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "clew.sqlite"


def filled(path: Path, length: int = 20) -> SqliteStore:
    store = SqliteStore(path)
    store.create(NewSession("s"))
    store.append("s", [user(f"message {n} " + os.urandom(200).hex()) for n in range(length)], at=0)
    return store


FULL = """
import os, resource, signal, sys
from clew.errors import StoreFull
from clew.store import NewSession, open_store
from clew.testing.builders import user
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = open_store(sys.argv[1])
store.create(NewSession("s"))
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
n = 0
try:
    while n < 5000:
        store.append("s", [user(f"message {n} " + os.urandom(200).hex())], at=n)
        n += 1
except StoreFull as e:
    print(n, flush=True)
try:
    store.append("s", [user("again")], at=n)
except StoreFull as e:
    print(e.hint, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(store.append("s", [user("room again")], at=store.session("s").length).length)
"""


@pytest.mark.skipif(os.name != "posix", reason="left out: limits on file sizes are POSIX's")
def test_a_full_disk_is_said_and_what_was_acknowledged_stays(path):
    out = subprocess.run([sys.executable, "-c", FULL, path], cwd=ROOT, capture_output=True, text=True, check=True)
    count, hint, after = out.stdout.splitlines()
    assert "free disk space" in hint
    store = open_store(str(path))
    said = [m.message.text for m in store.messages("s")]
    assert len(said) == int(after)
    assert int(count) <= len(said) - 1 <= int(count) + 1
    assert all(t.startswith(f"message {n} ") for n, t in enumerate(said[: int(count)]))
    assert not store.check()


def test_a_store_that_may_not_grow_is_full(path, monkeypatch):
    store = filled(path)
    store.close()
    plain = connect.Pool._connect

    def small(self):
        db = plain(self)
        db.execute(f"PRAGMA max_page_count={db.execute('PRAGMA page_count').fetchone()[0]}")
        return db

    monkeypatch.setattr(connect.Pool, "_connect", small)
    with pytest.raises(StoreFull):
        store.append("s", [user("x" + os.urandom(40_000).hex())], at=20)
    monkeypatch.undo()
    store.close()
    assert store.session("s").length == 20
    assert not store.check()


def test_a_read_only_store_reads_and_says_no(path):
    filled(path).close()
    store = open_store(str(path), read_only=True)
    assert len(store.messages("s")) == 20
    assert store.info().messages == 20
    with pytest.raises(StoreFull, match="may not be written"):
        store.append("s", [user("x")], at=20)
    assert not store.check()
    with pytest.raises(StoreMissing):
        open_store(str(path.with_name("none.sqlite")), read_only=True).sessions()
    assert not path.with_name("none.sqlite").exists()


@pytest.mark.parametrize("how", ["deleted", "replaced", "folder"])
def test_a_file_taken_away_is_noticed_before_anything_is_acknowledged(path, how):
    store = filled(path)
    if how == "deleted":
        path.unlink()
    elif how == "replaced":
        shutil.copy(path, path.with_name("copy"))
        path.with_name("copy").replace(path)
    else:
        shutil.rmtree(path.parent)
    for _ in range(2):
        with pytest.raises(StoreMissing, match="deleted or replaced"):
            store.append("s", [user("x")], at=20)
    with pytest.raises(StoreMissing):
        store.messages("s")
    assert how == "replaced" or not path.exists(), "no empty store was put in its place unasked"


def test_a_file_deleted_within_a_write_is_not_acknowledged(path):
    store = filled(path)

    def write_and_lose() -> None:
        with store._pool.write() as link:
            link.db.execute("UPDATE sessions SET title = 'x'")
            path.unlink()

    with pytest.raises(StoreMissing):
        write_and_lose()


@pytest.mark.parametrize("what", ["a folder", "within a file", "no such folder for reading"])
def test_a_path_that_can_be_no_store_is_said(path, what):
    if what == "a folder":
        path.mkdir()
    elif what == "within a file":
        path.write_bytes(b"")
        path = path / "clew.sqlite"
    store = open_store(str(path), read_only=what.startswith("no such"))
    for _ in range(2):
        with pytest.raises(StoreMissing, match=str(path)):
            store.sessions()


@pytest.mark.parametrize(
    ("trouble", "error"), [(PermissionError(13, "denied"), StoreFull), (OSError(5, "I/O error"), StoreError)]
)
def test_a_file_that_can_not_be_made_is_said(path, monkeypatch, trouble, error):
    def broken(*_):
        raise trouble

    monkeypatch.setattr(files.os, "open", broken)
    with pytest.raises(error, match=str(path)):
        open_store(str(path)).create(NewSession("s"))


def test_what_is_only_read_is_not_made_not_moved_on_and_no_others(path):
    with pytest.raises(StoreMissing):
        open_store(str(path), read_only=True).sessions()
    assert not path.exists()
    filled(path).close()
    for pragma, words in (
        ("user_version=0", "older Clew"),
        ("user_version=99", "newer Clew"),
        ("application_id=1", "another program"),
    ):
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA {pragma}")
        with pytest.raises(StoreError, match=words):
            open_store(str(path), read_only=True).sessions()
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version=1")


def test_a_store_in_a_folder_that_may_not_be_written_is_read(path, monkeypatch):
    filled(path).close()
    assert not path.with_name(path.name + "-wal").exists()
    monkeypatch.setattr(connect.os, "access", lambda *_: False)
    store = open_store(str(path), read_only=True)
    assert len(store.messages("s")) == 20
    assert not path.with_name(path.name + "-shm").exists(), "nothing is put beside it"


def test_another_programs_database_is_left_alone(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs (x)")
        db.commit()
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="another program"):
        open_store(str(path)).create(NewSession("s"))
    with pytest.raises(StoreCorrupt, match="another program"):
        repair.repair(path, "now")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    assert len(path.read_bytes()) == len(before)
    assert list(path.parent.iterdir()) == [path]


def test_what_is_no_database_is_left_alone_and_set_aside_on_demand(path):
    path.write_bytes(b"notes of mine\n" * 400)
    with pytest.raises(StoreCorrupt):
        open_store(str(path)).create(NewSession("s"))
    assert path.read_bytes() == b"notes of mine\n" * 400
    done = repair.repair(path, "now")
    assert done.set_aside.read_bytes() == b"notes of mine\n" * 400
    assert not open_store(str(path)).sessions()


def test_a_damaged_file_is_repaired_into_a_new_one_and_kept(path):
    store = filled(path, 300)
    store.create(NewSession("t"))
    store.append("t", [user(f"t{n}") for n in range(10)], at=0)
    store.vacuum()
    store.close()
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 2, len(data) // 2 + 3 * 4096):
        data[at] = 0xA5
    path.write_bytes(data)
    damaged = SqliteStore(path)
    assert any(f.fatal for f in damaged.check())
    damaged.close()
    done = repair.repair(path, "1")
    assert done.set_aside.read_bytes() == bytes(data)
    mended = SqliteStore(path)
    mended.reindex()
    assert not [f for f in mended.check() if f.fatal]
    assert {s.id for s in mended.sessions()} == {"s", "t"}
    assert sum(s.length for s in mended.sessions()) + done.dropped >= 250
    for s in mended.sessions():
        assert len(mended.messages(s.id)) == s.length
    repair.repair(path, "1")
    assert len(files.set_aside_of(path)) >= 2


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_damaged_is_said_and_what_was_repaired_is_sound(path, seed):
    store = filled(path, 300)
    store.create(NewSession("fork", parent="s", shared=200, kind="branch"))
    store.append("fork", [user(f"own {n}") for n in range(40)], at=200)
    store.vacuum()
    store.close()
    whole = path.read_bytes()
    rng = random.Random(seed)
    for _ in range(5):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 60)):
            data[rng.randrange(100, len(data))] = rng.randrange(256)
        path.write_bytes(data)
        damaged = SqliteStore(path)
        for look in (
            damaged.check,
            damaged.info,
            partial(damaged.messages, "fork"),
            partial(discover, damaged, "message"),
        ):
            with suppress(StoreError):
                look()
        damaged.close()
        repair.repair(path, "now")
        mended = SqliteStore(path)
        mended.reindex()
        assert not mended.check()
        for s in mended.sessions():
            assert len(mended.messages(s.id)) == s.length
        mended.close()


def test_a_locked_file_is_waited_for_and_then_said(path, monkeypatch):
    monkeypatch.setattr(connect, "_LOCKED_WAIT", 0.01)
    waits: list[float] = []
    store = SqliteStore(path, settings=Settings(sleep=waits.append))
    store.create(NewSession("s"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            store.append("s", [user("x")], at=0)
    assert len(waits) == 14
    assert all(0.01 <= w <= 0.225 for w in waits)
    assert store.append("s", [user("x")], at=0).new == 1


def test_a_newer_file_is_not_touched(path):
    filled(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=99")
    with pytest.raises(StoreError, match="newer Clew"):
        open_store(str(path)).sessions()


def test_a_network_file_system_goes_without_wal_and_says_so(path, monkeypatch):
    monkeypatch.setattr(files, "file_system", lambda _: "nfs4")
    store = SqliteStore(path)
    with pytest.warns(ClewWarning, match="nfs4"):
        store.create(NewSession("s"))
    store.append("s", [user("x")], at=0)
    assert store.info().features["journal"] == "delete"
    assert store.messages("s")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="left out: this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_uses_connections_of_its_own(path):
    store = filled(path)
    child = os.fork()
    if not child:
        code = 1
        try:
            store.append("s", [user("from the child")], at=20)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert store.append("s", [user("from the parent")], at=21).length == 22
    assert not store.check()
