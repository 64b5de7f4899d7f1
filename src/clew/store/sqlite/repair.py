"""A damaged file: what can be read of it goes into a new one; the damaged one is set aside and kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from clew.errors import StoreCorrupt
from clew.store import migrate
from clew.store.addresses import from_bytes
from clew.store.records import Repaired
from clew.store.sqlite import files

_TABLES = (
    "meta", "names", "dictionaries", "sessions", "contents", "messages", "events", "epochs", "leases", "originals",
    "states", "usage",
)  # fmt: skip
_MAGIC = b"SQLite format 3\x00"


def is_database(path: Path) -> bool:
    with path.open("rb") as f:
        head = f.read(len(_MAGIC))
    return not head or head == _MAGIC


def set_aside(path: Path, stamp: str) -> Path:
    """Moves a file and its log out of the way, under a name that is free."""
    target = path.with_name(f"{path.name}.corrupt-{stamp}")
    n = 1
    while target.exists():
        n += 1
        target = path.with_name(f"{path.name}.corrupt-{stamp}-{n}")
    for tail in ("-wal", "-shm", ""):
        beside = path.with_name(path.name + tail)
        if beside.exists():
            beside.rename(target.with_name(target.name + tail))
    return target


def repair(path: Path, stamp: str) -> Repaired:
    """Nothing else may have the file open. The search index is not carried over: it is made anew. StoreCorrupt, and nothing
    done, where the file is a database of another program.
    """
    if is_database(path) and _anothers(path):
        raise StoreCorrupt(f"{path} is another program's database", hint="name another file; this one was not touched")
    fresh = path.with_name(f"{path.name}.repair")
    fresh.unlink(missing_ok=True)
    files.prepare(fresh)
    counts: dict[str, int] = {}
    dropped = 0
    with closing(sqlite3.connect(fresh, isolation_level=None)) as new:
        migrate.sqlite(new, fresh)
        if is_database(path):
            with closing(sqlite3.connect(path, isolation_level=None)) as old:
                new.execute("BEGIN")
                for table in _TABLES:
                    counts[table] = _carry(old, new, table)
                dropped = _make_whole(new)
                new.execute("COMMIT")
    kept = set_aside(path, stamp)
    fresh.rename(path)
    return Repaired(kept, counts, dropped)


def _anothers(path: Path) -> bool:
    """Whether it has tables, and none of a store's: what can't be read may be anybody's."""
    with closing(sqlite3.connect(path)) as db:
        try:
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        except sqlite3.DatabaseError:
            return False
    return bool(tables) and not tables & set(_TABLES)


def _carry(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    columns = [r[1] for r in new.execute(f"PRAGMA table_info({table})")]
    names, places = ", ".join(columns), ", ".join("?" * len(columns))
    done = 0
    for row in _readable(old, table, names):
        sql = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - this schema's own names
        done += new.execute(sql, row).rowcount
    return done


def _readable(old: sqlite3.Connection, table: str, names: str) -> Iterator[tuple[object, ...]]:
    """Every row that can be read: forwards up to the damage, then backwards up to it from the other side."""
    for order in ("", " ORDER BY 1 DESC"):
        try:
            cursor = old.execute(f"SELECT {names} FROM {table} NOT INDEXED{order}")  # noqa: S608 - this schema's own names
            while (row := cursor.fetchone()) is not None:
                yield row
            if not order:
                return
        except sqlite3.DatabaseError:
            continue


def _make_whole(new: sqlite3.Connection) -> int:
    """A session ends before its first missing message; what stands behind a gap is taken out, and counted."""
    dropped = new.execute("DELETE FROM messages WHERE content NOT IN (SELECT id FROM contents)").rowcount
    new.execute("DELETE FROM originals WHERE content NOT IN (SELECT id FROM contents)")
    for no, shared, length in new.execute("SELECT no, shared, length FROM sessions").fetchall():
        sql = "SELECT position FROM messages WHERE session = ? ORDER BY position"
        end = shared
        for (position,) in new.execute(sql, (no,)):
            if position != end:
                break
            end += 1
        dropped += new.execute("DELETE FROM messages WHERE session = ? AND position >= ?", (no, end)).rowcount
        if end != length:
            _shorten(new, no, end, shared)
    return dropped


def _shorten(new: sqlite3.Connection, no: int, end: int, shared: int) -> None:
    from_row = new.execute("SELECT chain FROM messages WHERE session = ? AND position = ?", (no, end - 1)).fetchone()
    chain = from_bytes(from_row[0]) if from_row else ""
    if not from_row and shared:
        return  # nothing of its own is left: the chain of its shared prefix stands as it was counted
    new.execute("UPDATE sessions SET length = ?, chain = ? WHERE no = ?", (end, chain, no))
    new.execute("DELETE FROM epochs WHERE session = ? AND position > ?", (no, end))
