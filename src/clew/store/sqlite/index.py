"""Writing the two search indexes: what words a message is found under, and the marks that scope a search.

An index row can only be taken out by giving the very text that was put in, so `indexed` must not change without a new
`VERSION`: a store indexed under another is indexed again before anything is taken out. The store notes the version, and
which of the two were written, so that a build of SQLite that has more than the one before doesn't trust a gap.
"""

from __future__ import annotations

import re
import sqlite3
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from clew.errors import ClewWarning
from clew.store.match import WORD
from clew.store.sql import named

VERSION = "4"
BLOCK = 4  # rows to an entry of the trigram index
MARK = "\ue000"  # private use: no tokenizer splits at it, and `indexed` takes it out of what people wrote
_TAIL = "\n\n"  # so that a trigram begins with each of the last characters too, and two can be looked for by prefix
_GRAM_BASE, _GRAM_FIRST = 6000, 0xE100
_PAIRS = 4096  # so few that neighbours in a list of rows stand close, which costs one byte each
_PAIRS_OF_LONG = 1 << 16  # a long message would have most of the few, and be read for every phrase
_LONG = 400  # pairs
_PAIRED = re.compile(r"[^\W\d_]{1,10}|\d{1,4}")  # longer words and numbers are rare enough by themselves


@dataclass(frozen=True, slots=True)
class Indexes:
    """Which of the two this build of SQLite has."""

    words: bool
    grams: bool

    @property
    def label(self) -> str:
        """What a store notes of which these hold every message."""
        if self.words and self.grams:
            return VERSION
        return f"{VERSION} {'words' if self.words else 'grams' if self.grams else 'none'}"

    @classmethod
    def of(cls, label: str) -> Indexes:
        """The reverse."""
        version, _, only = label.partition(" ")
        return cls(version == VERSION and only in ("", "words"), version == VERSION and only in ("", "grams"))

    def __and__(self, other: Indexes) -> Indexes:
        return Indexes(self.words and other.words, self.grams and other.grams)


BOTH = Indexes(words=True, grams=True)


def create(db: sqlite3.Connection) -> Indexes:
    """Makes what isn't there and the build can do; warns for what it can't."""
    have = {}
    for name, sql in named("sqlite", "index.sql").items():
        try:
            db.execute(sql)
            _look_at(db, name)
            have[name] = True
        except sqlite3.OperationalError as e:
            if not _lacking(e):
                raise
            have[name] = False
            warnings.warn(
                ClewWarning(f"this SQLite can't index {name} ({e}): such searches read every message"), stacklevel=2
            )
    return Indexes(have["words"], have["grams"])


def present(db: sqlite3.Connection) -> Indexes:
    """Those that are there and this build of SQLite can read."""
    have = set()
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name IN ('words', 'grams')").fetchall():
        try:
            _look_at(db, name)
            have.add(name)
        except sqlite3.OperationalError as e:
            if not _lacking(e):
                raise
    return Indexes("words" in have, "grams" in have)


def noted(db: sqlite3.Connection) -> Indexes:
    """Those that hold every message."""
    found = db.execute("SELECT value FROM meta WHERE key = 'index'").fetchone()
    return Indexes.of(str(found[0]) if found else "")


def note(db: sqlite3.Connection, held: Indexes) -> None:
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('index', ?)", (held.label,))


def _look_at(db: sqlite3.Connection, name: str) -> None:
    """Raises where a table is there that only another build can read."""
    db.execute(f"SELECT rowid FROM {name} LIMIT 0")  # noqa: S608 - the names are the two above


def _lacking(error: sqlite3.OperationalError) -> bool:
    return any(sign in str(error) for sign in ("no such module", "no such tokenizer", "error in tokenizer"))


def word_mark(kind: str, value: int | str) -> str:
    """One token of the word index that no text holds: kind is l (lineage), r (role) or t (tool)."""
    number = value if isinstance(value, int) else zlib.crc32(value.encode("utf-8", "surrogatepass"))
    return f"{MARK}{kind}{number:x}"


def pair_marks(row: Sequence[str]) -> list[str]:
    """Marks of words that stand next to each other. The index has no places, so without them every message that has
    all words of a phrase would have to be read.
    """
    near = _pairs(row)
    return [_marks_of(n)[len(near) > _LONG] for n in near]


def pair_tests(row: Sequence[str]) -> list[tuple[str, str]]:
    """For each pair of a phrase the two marks of which a message that has it has one."""
    return [_marks_of(n) for n in _pairs(row)]


def _pairs(row: Sequence[str]) -> set[int]:
    common = [_PAIRED.fullmatch(w) is not None for w in row]
    near = (
        f"{a} {b}" for a, b, first, second in zip(row, row[1:], common, common[1:], strict=False) if first and second
    )
    return {zlib.crc32(p.encode()) % _PAIRS_OF_LONG for p in near}


def _marks_of(pair: int) -> tuple[str, str]:
    return f"{MARK}p{pair % _PAIRS:x}", f"{MARK}q{pair:x}"


def gram_mark(root: int) -> str:
    """The mark of a lineage as the three characters that make one token of the trigram index."""
    high, low = divmod(root, _GRAM_BASE)
    return f"{MARK}{chr(_GRAM_FIRST + high % _GRAM_BASE)}{chr(_GRAM_FIRST + low)}"


def block_of(id_: int) -> int:
    """Where the trigram index keeps a row: with its neighbours, which share most trigrams and so most of the room."""
    return id_ // BLOCK


def rows_of(block: int) -> range:
    """The rows that may be in a block, newest first."""
    return range(block * BLOCK + BLOCK - 1, block * BLOCK - 1, -1)


@dataclass(frozen=True, slots=True)
class Entry:
    """One message as the indexes hold it. `text` is folded, as what is looked for will be."""

    id: int
    root: int
    role: str
    tool: str
    text: str

    def words(self) -> tuple[int, str, str]:
        """The words are given one by one: SQLite's tables of Unicode are of 2012, where a robot's face was no sign yet, and
        was taken for the beginning of the word it stands before.
        """
        marks = [word_mark("l", self.root), word_mark("r", self.role)]
        if self.tool:
            marks.append(word_mark("t", self.tool))
        row = WORD.findall(self.text)
        return self.id, " ".join(marks + pair_marks(row)), " ".join(row)


def add(db: sqlite3.Connection, have: Indexes, entries: Sequence[Entry]) -> None:
    """`entries` must be whole blocks, by row."""
    if have.words:
        db.executemany("INSERT INTO words (rowid, scope, body) VALUES (?, ?, ?)", (e.words() for e in entries))
    if have.grams:
        db.executemany("INSERT INTO grams (rowid, scope, body) VALUES (?, ?, ?)", _blocks(entries))


def remove(db: sqlite3.Connection, have: Indexes, entries: Sequence[Entry]) -> None:
    """`entries` must be whole blocks, as they were added."""
    if have.words:
        sql = "INSERT INTO words (words, rowid, scope, body) VALUES ('delete', ?, ?, ?)"
        db.executemany(sql, (e.words() for e in entries))
    if have.grams:
        sql = "INSERT INTO grams (grams, rowid, scope, body) VALUES ('delete', ?, ?, ?)"
        db.executemany(sql, _blocks(entries))


def _blocks(entries: Sequence[Entry]) -> Iterator[tuple[int, str, str]]:
    for block, members in groupby(entries, key=lambda e: block_of(e.id)):
        held = list(members)
        yield block, "".join(dict.fromkeys(gram_mark(e.root) for e in held)), "\n".join(e.text for e in held) + _TAIL


def clear(db: sqlite3.Connection, have: Indexes) -> None:
    for name, there in (("words", have.words), ("grams", have.grams)):
        if there:
            db.execute(f"INSERT INTO {name} ({name}) VALUES ('delete-all')")  # noqa: S608 - the names are the two above


def optimize(db: sqlite3.Connection, have: Indexes) -> None:
    """Merges each index into one piece: smaller, faster, and without a trace of what was taken out."""
    for name, there in (("words", have.words), ("grams", have.grams)):
        if there:
            db.execute(f"INSERT INTO {name} ({name}) VALUES ('optimize')")  # noqa: S608 - the names are the two above
