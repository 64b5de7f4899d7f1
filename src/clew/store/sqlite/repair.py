"""A damaged file: what can be read of it goes into a new one; the damaged one is set aside and kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from clew.errors import StoreCorrupt
from clew.store import migrate
from clew.store.addresses import from_bytes
from clew.store.pack import Packer
from clew.store.records import Repaired
from clew.store.sqlite import files, index
from clew.store.sqlite.connect import Link, dictionaries
from clew.store.sqlite.rows import message_of, name_id, name_of, unpack
from clew.store.sqlite.upkeep import end_of_prefix, unreadable
from clew.transcript import chain as grow

_TABLES = (
    "meta", "names", "dictionaries", "sessions", "contents", "messages", "events", "epochs", "leases", "originals",
    "states", "usage",
)  # fmt: skip
_TYPES: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "TEXT": (str,), "BLOB": (bytes,), "REAL": (float, int)}
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
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            return False
    return bool(tables) and not tables & set(_TABLES)


def _carry(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    declared = {r[1]: _TYPES[r[2]] for r in new.execute(f"PRAGMA table_info({table})")}
    columns, types = list(declared), list(declared.values())
    names, places = ", ".join(columns), ", ".join("?" * len(columns))
    done = 0
    for row in _readable(old, table, names):
        if not all(v is None or isinstance(v, t) for v, t in zip(row, types, strict=True)):
            continue  # damage made something else of it
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
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            continue


def _make_whole(new: sqlite3.Connection) -> int:
    """Takes out what can't be read, and of each session what stands from the first message on that is missing or isn't
    what its prefix hash says; says how many messages that were.
    """
    link = Link(new, index.Indexes(words=False, grams=False), Packer(dictionaries(new)))
    gone = [(id_,) for id_, _ in unreadable(link)]
    new.executemany("DELETE FROM contents WHERE id = ?", gone)
    new.execute("DELETE FROM originals WHERE content NOT IN (SELECT id FROM contents)")
    dropped = new.execute("DELETE FROM messages WHERE content NOT IN (SELECT id FROM contents)").rowcount
    dropped += new.execute("DELETE FROM messages WHERE session NOT IN (SELECT no FROM sessions)").rowcount
    _name(link)
    new.execute("UPDATE sessions SET parent = NULL WHERE parent NOT IN (SELECT no FROM sessions)")
    new.execute("UPDATE sessions SET root = no WHERE root NOT IN (SELECT no FROM sessions)")
    ends: dict[int | None, int] = {}
    for no, parent, shared, length, chain in new.execute(
        "SELECT no, parent, shared, length, chain FROM sessions ORDER BY no"
    ).fetchall():
        held = max(0, min(shared, ends.get(parent, 0)))
        end, at = _sound(new, no, parent, held) if held == shared else (held, end_of_prefix(new, parent, held))
        sql = "DELETE FROM messages WHERE session = ? AND NOT position BETWEEN ? AND ?"
        dropped += new.execute(sql, (no, held, end - 1)).rowcount
        ends[no] = end
        if (held, end, at) != (shared, length, chain):
            new.execute("UPDATE sessions SET shared = ?, length = ?, chain = ? WHERE no = ?", (held, end, at, no))
            new.execute("DELETE FROM epochs WHERE session = ? AND position > ?", (no, end))
    return dropped


def _sound(new: sqlite3.Connection, no: int, parent: int | None, shared: int) -> tuple[int, str]:
    """How far a session is what its hashes say, and the hash of that."""
    end, at = shared, end_of_prefix(new, parent, shared) if shared else ""
    sql = (
        "SELECT m.position, m.chain, c.address FROM messages m JOIN contents c ON c.id = m.content"
        " WHERE m.session = ? AND m.position >= ? ORDER BY m.position"
    )
    for position, chain, address in new.execute(sql, (no, shared)):
        grown = grow(at, from_bytes(address))
        if position != end or from_bytes(chain) != grown:
            break
        end, at = end + 1, grown
    return end, at


def _name(link: Link) -> None:
    """Roles and tools by words that are there: a message knows its role itself."""
    link.db.execute("UPDATE messages SET tool = NULL WHERE tool NOT IN (SELECT id FROM names)")
    sql = (
        "SELECT m.id, c.wire, c.body FROM messages m JOIN contents c ON c.id = m.content"
        " WHERE m.role NOT IN (SELECT id FROM names)"
    )
    for id_, kind, body in link.db.execute(sql).fetchall():
        role = message_of(name_of(link, kind), unpack(link, body)).role
        link.db.execute("UPDATE messages SET role = ? WHERE id = ?", (name_id(link, role), id_))
