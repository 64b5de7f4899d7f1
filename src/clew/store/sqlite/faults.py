"""What SQLite says, in Clew's words: translated once, by table."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from clew.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreMissing

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_NO_ROOM = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_FSYNC}


def code(error: sqlite3.Error) -> int:
    """The extended result code; 0 where Python's module raised by itself."""
    found: int = getattr(error, "sqlite_errorcode", 0) or 0
    return found


def is_busy(error: sqlite3.Error) -> bool:
    return code(error) & 0xFF in _BUSY


def translate(error: sqlite3.Error, path: Path) -> StoreError:
    full = code(error)
    short = full & 0xFF
    if short in _BUSY:
        return StoreBusy(f"{path} is held by other writers", hint="try again; nothing was written")
    if full == sqlite3.SQLITE_READONLY_DBMOVED:
        return StoreMissing(f"{path} was moved or deleted while it was open", hint="put it back, or start anew")
    if short in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreFull(f"{path} may not be written", hint="check the permissions of the file and its folder")
    if short == sqlite3.SQLITE_FULL or full in _NO_ROOM:
        return StoreFull(f"no room to write {path}", hint="free disk space; what was acknowledged is safe")
    if short in _CORRUPT:
        return damaged(error, path)
    if short == sqlite3.SQLITE_CANTOPEN:
        return StoreMissing(f"{path} can't be opened", hint="check that its folder exists and may be read")
    return StoreError(f"{path}: {error}", hint="run `clew store check`")


def damaged(error: Exception, path: Path) -> StoreCorrupt:
    """Also of what Python's module says by itself: where damage made a text something that is none."""
    return StoreCorrupt(
        f"{path} is damaged or no store: {error}", hint="run `clew store check --repair`; it keeps the file"
    )
