"""Connections: opened when first needed, borrowed for one transaction, never held across a fork or a copy.

Writers of one process queue at a lock and those of several at the file, with jittered, growing waits. After each commit
the file is looked for: what was written into a deleted file must not be acknowledged.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from weakref import WeakSet

from clew.errors import ClewWarning, StoreMissing
from clew.store import migrate
from clew.store.pack import PLAIN, Packer
from clew.store.sqlite import files, index
from clew.store.sqlite.faults import damaged, is_busy, translate

TRIES, FIRST_WAIT, LONGEST_WAIT = 15, 0.020, 0.150
_LOCKED_WAIT = 0.25  # seconds SQLite itself waits within each try
_IDLE = 4
_CACHE_KIB = 16384
_CHECKPOINT_PAGES = 4000


@dataclass(frozen=True, slots=True)
class Settings:
    """`full` survives power loss at about a fifteenth of the speed; without it only the process may die at any moment."""

    full: bool = False
    read_only: bool = False
    # Takes work for when nobody waits, by a key, and does it again as long as it says that there is more.
    later: Callable[[Hashable, Callable[[], bool]], None] | None = None
    sleep: Callable[[float], None] = time.sleep
    rng: Random = field(default_factory=Random)


@dataclass(slots=True)
class Link:
    """One open connection and what was learned through it."""

    db: sqlite3.Connection
    have: index.Indexes
    packer: Packer
    names: dict[str, int] = field(default_factory=dict)
    words: dict[int, str] = field(default_factory=dict)


_POOLS: WeakSet[Pool] = WeakSet()


class Pool:
    """The connections of one handle to one file."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self._writing = threading.Lock()
        self._guard = threading.Lock()
        self._idle: list[Link] = []
        self._inherited: list[Link] = []
        self._ready = False
        self._lost = False
        self._frozen = False
        self._identity: tuple[int, int] | None = None
        self.packer = Packer({})
        _POOLS.add(self)

    def __del__(self) -> None:
        """A handle that was let go without `close()` leaves no connection open."""
        for link in self._idle:
            link.db.close()

    def after_fork(self) -> None:
        """A connection must not cross a fork: the child leaves the parent's alone, unclosed, and opens its own."""
        self._writing, self._guard = threading.Lock(), threading.Lock()
        self._inherited += self._idle
        self._idle = []

    @contextmanager
    def read(self) -> Iterator[Link]:
        """One consistent look at the store."""
        with self._borrowed() as link:
            self._retry(lambda: link.db.execute("BEGIN"))
            try:
                yield link
            finally:
                if link.db.in_transaction:
                    link.db.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Link]:
        """One transaction: committed at the end of the block, rolled back where it raises."""
        with self._writing, self._borrowed() as link:
            self._retry(lambda: link.db.execute("BEGIN IMMEDIATE"))
            try:
                self._refresh(link)
                yield link
                self._retry(lambda: link.db.execute("COMMIT"))
            finally:
                if link.db.in_transaction:
                    link.db.execute("ROLLBACK")
            self._look()

    @contextmanager
    def alone(self) -> Iterator[Link]:
        """A connection outside any transaction, for upkeep; this process's writers wait."""
        with self._writing, self._borrowed() as link:
            yield link

    def close(self) -> None:
        with self._guard:
            idle, self._idle = self._idle, []
            self._ready = self._lost = False
            self._identity = None
        for link in idle:
            link.db.close()

    @contextmanager
    def _borrowed(self) -> Iterator[Link]:
        try:
            link = self._take()
            try:
                yield link
            except BaseException:
                self._give(link)
                raise
            self._give(link)
        except sqlite3.Error as e:
            raise translate(e, self.path) from e
        except UnicodeDecodeError as e:
            raise damaged(e, self.path) from e

    def _take(self) -> Link:
        with self._guard:
            link = self._idle.pop() if self._idle else None
        if link is None:
            if not self._ready:
                self._first()
            return self._open()
        self._look()
        return link

    def _give(self, link: Link) -> None:
        with self._guard:
            if len(self._idle) < _IDLE and not self._lost:
                self._idle.append(link)
                return
        link.db.close()

    def _refresh(self, link: Link) -> None:
        """Before anything is packed: a dictionary that another process emptied must not be used again."""
        found = link.db.execute("SELECT max(id) FROM dictionaries WHERE length(body) > 0").fetchone()[0]
        if (found or PLAIN) != link.packer.newest:
            self.packer = link.packer = Packer(dictionaries(link.db))

    def _look(self) -> None:
        if not self._lost and self._identity in (None, identify(self.path)):
            return
        self._lost = True
        raise StoreMissing(
            f"{self.path} was deleted or replaced while it was open",
            hint="put it back; what this call should have written was not acknowledged",
        )

    def _first(self) -> None:
        """What a process does once: the file, its journal mode, its migrations, its indexes."""
        if self.settings.read_only:
            self._first_look()
            self._ready = True
            return
        files.prepare(self.path)
        db = self._connect()
        try:
            network = files.on_network(self.path)
            if network:
                warnings.warn(
                    ClewWarning(f"{self.path} is on {network}: without WAL, slower; a local disk is better"),
                    stacklevel=2,
                )
            mode = "DELETE" if network else "WAL"
            if db.execute("PRAGMA journal_mode").fetchone()[0].upper() != mode:
                self._retry(lambda: db.execute(f"PRAGMA journal_mode={mode}").fetchone())
            self._retry(lambda: migrate.sqlite(db, self.path))
            self._indexes(db)
        finally:
            db.close()
        self._ready = True

    def _indexes(self, db: sqlite3.Connection) -> None:
        """Makes what is missing, and notes which indexes hold every message from here on."""
        if index.present(db) == index.BOTH:
            return
        self._retry(lambda: db.execute("BEGIN IMMEDIATE"))
        try:
            have = index.create(db)
            empty = db.execute("SELECT 1 FROM messages LIMIT 1").fetchone() is None
            index.note(db, have if empty else have & index.noted(db))
            self._retry(lambda: db.execute("COMMIT"))
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")

    def _first_look(self) -> None:
        """The same for a store that is only read. Where nothing beside it may be written, a file at rest can be read all
        the same, as one that nobody changes.
        """
        if not self.path.exists():
            raise StoreMissing(f"there is no store at {self.path}", hint="check the path")
        log = self.path.with_name(f"{self.path.name}-wal")
        self._frozen = not os.access(self.path.parent, os.W_OK) and not log.exists()
        db = self._connect()
        try:
            migrate.readable(db, self.path)
        finally:
            db.close()

    def _open(self) -> Link:
        self._look()
        self._identity = self._identity or identify(self.path)
        db = self._connect()
        try:
            have = index.present(db)
            trained = dictionaries(db)
        except sqlite3.Error:
            db.close()
            raise
        if self.packer.numbers != trained.keys():
            self.packer = Packer(trained)
        return Link(db, have, self.packer)

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self.settings.read_only else "rw"
        mode += "&immutable=1" if self._frozen else ""
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        db = sqlite3.connect(uri, uri=True, timeout=_LOCKED_WAIT, isolation_level=None, check_same_thread=False)
        db.execute(f"PRAGMA synchronous={'FULL' if self.settings.full else 'NORMAL'}")
        db.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        db.execute("PRAGMA secure_delete=ON")
        db.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
        return db

    def patiently(self, act: Callable[[], object]) -> None:
        """Again and again while other writers are in the way; for upkeep, outside a transaction."""
        self._retry(act)

    def _retry(self, act: Callable[[], object]) -> None:
        for n in range(TRIES):
            try:
                act()
            except sqlite3.OperationalError as e:
                if not is_busy(e) or n == TRIES - 1:
                    raise
                self.settings.sleep(min(LONGEST_WAIT, FIRST_WAIT * 1.3**n) * (0.5 + self.settings.rng.random()))
            else:
                return


def dictionaries(db: sqlite3.Connection) -> dict[int, bytes]:
    """What bodies may have been packed with."""
    return {int(n): bytes(b) for n, b in db.execute("SELECT id, body FROM dictionaries") if b}


def identify(path: Path) -> tuple[int, int]:
    """What tells this file from another that was put in its place."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return -1, -1
    return found.st_dev, found.st_ino


def _reset_all() -> None:
    for pool in list(_POOLS):
        pool.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
