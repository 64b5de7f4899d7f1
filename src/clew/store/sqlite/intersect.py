"""What both indexes propose, newest first: each is read only as far as the search gets, and leapt through where the other
has nothing.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from typing import Literal

from clew.store.sqlite import index

NEWEST = (1 << 62) - 1
_CHUNK = 128
_CHUNKS = 16  # to read which costs about as much as to ask anew


class Descending:
    """The ids that one index proposes, from the newest down."""

    def __init__(self, db: sqlite3.Connection, name: Literal["words", "grams"], match: str) -> None:
        self._db, self._match = db, match
        self._sql = f"SELECT rowid FROM {name} WHERE {name} MATCH ? AND rowid <= ? ORDER BY rowid DESC"  # noqa: S608 - two names
        self._ids: sqlite3.Cursor | None = None
        self._chunk: list[int] = []  # the oldest first; what was passed is cut off by `_end`
        self._end = 0

    def upto(self, bound: int) -> int:
        """The newest that is at most `bound`, which never grows from call to call; -1 where there is none."""
        passed = 0
        while not self._chunk or self._chunk[0] > bound:
            if passed % _CHUNKS == 0 and (passed or self._ids is None):
                self._ids = self._db.execute(self._sql, (self._match, bound))
            assert self._ids is not None
            self._chunk = [id_ for (id_,) in self._ids.fetchmany(_CHUNK)]
            self._chunk.reverse()
            self._end = len(self._chunk)
            if not self._chunk:
                return -1
            passed += 1
        self._end = bisect_right(self._chunk, bound, 0, self._end)
        return self._chunk[self._end - 1]


def rows_of(blocks: Descending) -> Iterator[int]:
    """Every row of every block."""
    block = blocks.upto(NEWEST)
    while block >= 0:
        yield from index.rows_of(block)
        block = blocks.upto(block - 1)


def rows_in(rows: Descending, blocks: Descending, first: int = NEWEST) -> Iterator[int]:
    """The rows, from `first` down, that stand in one of the blocks."""
    row = rows.upto(first)
    while row >= 0:
        own = index.block_of(row)
        block = blocks.upto(own)
        if block == own:
            yield row
            row = rows.upto(row - 1)
        else:
            row = rows.upto(index.rows_of(block)[0]) if block >= 0 else -1
