"""Writing the two search indexes: what words a message is found under, and the marks that scope a search.

An index row can only be taken out by giving the very text that was put in, so `indexed` must not change without a new
`VERSION`: a store indexed under another is indexed again before anything is taken out.
"""

from __future__ import annotations

import sqlite3
import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from clew.errors import ClewWarning
from clew.store.sql import named

VERSION = "1"
MARK = "\ue000"  # private use: no tokenizer splits at it, and `indexed` takes it out of what people wrote
_GRAM_BASE, _GRAM_FIRST = 6000, 0xE100


@dataclass(frozen=True, slots=True)
class Indexes:
    """Which of the two this build of SQLite has."""

    words: bool
    grams: bool


def create(db: sqlite3.Connection) -> Indexes:
    """Makes what isn't there and the build can do; warns for what it can't."""
    have = {}
    for name, sql in named("sqlite", "index.sql").items():
        try:
            db.execute(sql)
            have[name] = True
        except sqlite3.OperationalError as e:
            if not any(sign in str(e) for sign in ("no such module", "no such tokenizer", "error in tokenizer")):
                raise
            have[name] = False
            warnings.warn(
                ClewWarning(f"this SQLite can't index {name} ({e}): such searches read every message"), stacklevel=2
            )
    return Indexes(have["words"], have["grams"])


def present(db: sqlite3.Connection) -> Indexes:
    rows = {r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE name IN ('words', 'grams')")}
    return Indexes("words" in rows, "grams" in rows)


def word_mark(kind: str, value: int | str) -> str:
    """One token of the word index that no text holds: kind is l (lineage), r (role) or t (tool)."""
    return f"{MARK}{kind}{_number(value):x}"


def gram_mark(kind: str, value: int | str) -> str:
    """The same as the three characters that make one token of the trigram index."""
    n = _number(value)
    low, high = n % _GRAM_BASE, n // _GRAM_BASE % _GRAM_BASE
    return f"{chr(0xE000 + 1 + 'lrt'.index(kind))}{chr(_GRAM_FIRST + high)}{chr(_GRAM_FIRST + low)}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One message as the indexes hold it."""

    id: int
    root: int
    role: str
    tool: str
    text: str

    def words(self) -> tuple[int, str, str]:
        marks = [word_mark("l", self.root), word_mark("r", self.role)]
        if self.tool:
            marks.append(word_mark("t", self.tool))
        return self.id, " ".join(marks), self.text

    def grams(self) -> tuple[int, str, str, str, str]:
        tool = gram_mark("t", self.tool) if self.tool else ""
        return self.id, gram_mark("l", self.root), gram_mark("r", self.role), tool, self.text


def add(db: sqlite3.Connection, have: Indexes, entries: Iterable[Entry]) -> None:
    for e in entries:
        if have.words:
            db.execute("INSERT INTO words (rowid, scope, body) VALUES (?, ?, ?)", e.words())
        if have.grams:
            db.execute("INSERT INTO grams (rowid, lineage, role, tool, body) VALUES (?, ?, ?, ?, ?)", e.grams())


def remove(db: sqlite3.Connection, have: Indexes, entries: Iterable[Entry]) -> None:
    """`entries` must be as they were added."""
    for e in entries:
        if have.words:
            db.execute("INSERT INTO words (words, rowid, scope, body) VALUES ('delete', ?, ?, ?)", e.words())
        if have.grams:
            sql = "INSERT INTO grams (grams, rowid, lineage, role, tool, body) VALUES ('delete', ?, ?, ?, ?, ?)"
            db.execute(sql, e.grams())


def clear(db: sqlite3.Connection, have: Indexes) -> None:
    for name, there in (("words", have.words), ("grams", have.grams)):
        if there:
            db.execute(f"INSERT INTO {name} ({name}) VALUES ('delete-all')")  # noqa: S608 - the names are the two above


def optimize(db: sqlite3.Connection, have: Indexes) -> None:
    """Merges each index into one piece: smaller, faster, and without a trace of what was taken out."""
    for name, there in (("words", have.words), ("grams", have.grams)):
        if there:
            db.execute(f"INSERT INTO {name} ({name}) VALUES ('optimize')")  # noqa: S608 - the names are the two above


def _number(value: int | str) -> int:
    return value if isinstance(value, int) else zlib.crc32(value.encode("utf-8", "surrogatepass"))
