"""Numbered migrations: each in one transaction of its own, with a copy of the file set aside before it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from clew.errors import StoreCorrupt, StoreError
from clew.store.sql import migrations
from clew.store.sqlite import files

APPLICATION = 0x434C4557  # "CLEW"

Migrations = Sequence[tuple[int, str]]


def version(db: sqlite3.Connection) -> int:
    found: int = db.execute("PRAGMA user_version").fetchone()[0]
    return found


def sqlite(db: sqlite3.Connection, path: Path, steps: Migrations | None = None) -> tuple[int, ...]:
    """Brings the file to the newest version; says which steps it took. Safe to run from many processes at once."""
    steps = migrations("sqlite") if steps is None else steps
    newest = max(n for n, _ in steps)
    taken = []
    at = version(db)
    if at == newest:
        return ()
    for number, sql in steps:
        if number <= at:
            continue
        db.execute("BEGIN IMMEDIATE")
        try:
            at = version(db)
            _belongs(db, path, newest)
            if number > at:  # no other process was faster
                if at:
                    _set_aside(path, at)
                for statement in statements(sql):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id={APPLICATION}")
                db.execute(f"PRAGMA user_version={number}")
                at = number
                taken.append(number)
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
    _belongs(db, path, newest)
    return tuple(taken)


def readable(db: sqlite3.Connection, path: Path) -> None:
    """Raises where the file can't be read as it is by one that must not change it."""
    newest = max(n for n, _ in migrations("sqlite"))
    _belongs(db, path, newest)
    if version(db) < newest:
        raise StoreError(
            f"{path} was written by an older Clew", hint="run `clew store migrate` on it; it can't be only read"
        )


def statements(script: str) -> Iterator[str]:
    """A script's statements one by one: `executescript` would commit what is open."""
    piece = ""
    for more in re.findall(r"[^;]*;|[^;]+$", script):
        piece += more
        if sqlite3.complete_statement(piece):
            yield piece
            piece = ""
    if piece.strip():
        raise ValueError(f"an unfinished statement: {piece.strip()[:80]}")


def backup_path(path: Path, at: int) -> Path:
    return path.with_name(f"{path.name}.v{at}.backup")


def _belongs(db: sqlite3.Connection, path: Path, newest: int) -> None:
    application = db.execute("PRAGMA application_id").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application != APPLICATION:
        raise StoreCorrupt(f"{path} is another program's database", hint="name another file; this one was not touched")
    if version(db) > newest:
        raise StoreError(f"{path} was written by a newer Clew", hint="update Clew; the file was not touched")


def _set_aside(path: Path, at: int) -> None:
    """A whole copy under a name of its own, complete or not there at all."""
    final = backup_path(path, at)
    part = final.with_suffix(".part")
    part.unlink(missing_ok=True)
    try:
        files.prepare(part)
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(part)) as copy,
        ):
            source.backup(copy)
        part.replace(final)
    finally:
        part.unlink(missing_ok=True)
