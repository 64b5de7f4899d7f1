"""Numbered migrations: run once, backed up before, all or nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE

import pytest

from clew.store import NewSession, migrate
from clew.store.sql import migrations
from clew.store.sqlite.backend import SqliteStore
from clew.testing.builders import user
from tests.conftest import ROOT

STEP = (2, "CREATE TABLE extra (x TEXT);\n-- a comment; with a semicolon\nINSERT INTO extra SELECT id FROM sessions;\n")


@pytest.fixture
def old(tmp_path) -> Path:
    store = SqliteStore(tmp_path / "old.sqlite")
    store.create(NewSession("s"))
    store.append("s", [user("kept")], at=0)
    store.close()
    return store.path


def opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_a_new_file_has_every_migration(tmp_path):
    with closing(opened(tmp_path / "n.sqlite")) as db:
        assert migrate.sqlite(db, tmp_path / "n.sqlite") == tuple(n for n, _ in migrations("sqlite"))
        assert migrate.sqlite(db, tmp_path / "n.sqlite") == ()
    assert not list(tmp_path.glob("*.backup")), "there was nothing to back up"


def test_an_old_file_is_backed_up_and_brought_forward(old):
    with closing(opened(old)) as db:
        assert migrate.sqlite(db, old, [*migrations("sqlite"), STEP]) == (2,)
        assert db.execute("SELECT x FROM extra").fetchall() == [("s",)]
        assert migrate.version(db) == 2
    backup = migrate.backup_path(old, 1)
    assert backup.stat().st_mode & 0o077 == 0
    assert [m.message.text for m in SqliteStore(backup).messages("s")] == ["kept"]


def test_a_migration_that_fails_leaves_the_file_as_it_was(old):
    bad = (2, "CREATE TABLE extra (x);\nINSERT INTO nowhere VALUES (1);\n")
    with closing(opened(old)) as db, pytest.raises(sqlite3.OperationalError):
        migrate.sqlite(db, old, [*migrations("sqlite"), bad])
    with closing(opened(old)) as db:
        assert migrate.version(db) == 1
        assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'extra'").fetchall()
    assert SqliteStore(old).session("s").length == 1


def test_a_copy_that_fails_leaves_no_half_of_itself(old, monkeypatch):
    def broken(*_):
        raise OSError("no room")

    monkeypatch.setattr(Path, "replace", broken)
    with closing(opened(old)) as db, pytest.raises(OSError, match="no room"):
        migrate.sqlite(db, old, [*migrations("sqlite"), STEP])
    assert [p.name for p in old.parent.iterdir() if "v1" in p.name] == []
    with closing(opened(old)) as db:
        assert migrate.version(db) == 1


TWO = """
import sqlite3, sys
from pathlib import Path
from clew.store import migrate
from clew.store.sql import migrations
path = Path(sys.argv[1])
step = "CREATE TABLE extra (x); INSERT INTO extra SELECT id FROM sessions;"
db = sqlite3.connect(path, isolation_level=None, timeout=20)
print("ready", flush=True)
sys.stdin.readline()
print(len(migrate.sqlite(db, path, (*migrations("sqlite"), (2, step)))), flush=True)
"""


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_that_migrate_at_once_do_it_once(old, processes):
    running = [
        subprocess.Popen([sys.executable, "-c", TWO, str(old)], stdin=PIPE, stdout=PIPE, text=True, cwd=ROOT)
        for _ in range(processes)
    ]
    for p in running:
        assert p.stdout is not None
        assert p.stdout.readline() == "ready\n"
    for p in running:
        assert p.stdin is not None
        p.stdin.write("go\n")
        p.stdin.flush()
    assert sorted(p.communicate(timeout=60)[0] for p in running) == ["0\n"] * (processes - 1) + ["1\n"]
    with closing(opened(old)) as db:
        assert db.execute("SELECT x FROM extra").fetchall() == [("s",)]
    with closing(opened(migrate.backup_path(old, 1))) as backup:
        assert migrate.version(backup) == 1


def test_statements_are_told_apart():
    assert len(list(migrate.statements(STEP[1]))) == 2
    one_line = "CREATE TABLE a (x); INSERT INTO a VALUES ('; not here'); DROP TABLE a;"
    assert [s.strip() for s in migrate.statements(one_line)] == [
        "CREATE TABLE a (x);",
        "INSERT INTO a VALUES ('; not here');",
        "DROP TABLE a;",
    ]
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; DELETE FROM a; END;"
    assert list(migrate.statements(trigger)) == [trigger]
    with pytest.raises(ValueError, match="unfinished"):
        list(migrate.statements("CREATE TABLE x (y"))


def test_every_migration_file_is_in_sequence():
    assert [n for n, _ in migrations("sqlite")] == list(range(1, len(migrations("sqlite")) + 1))
