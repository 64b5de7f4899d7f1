"""Messages are indexed a batch at a time: three times cheaper than one by one, and an append never waits for an index
that grows. Until then a search reads the few that are waiting; row ids rise with time, so one number says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from clew.store.sqlite import index
from clew.store.sqlite.connect import Link
from clew.store.sqlite.entries import entries

BATCH = 64  # as many wait at most, but for those a killed process left
_AT_ONCE = 512


def watermark(link: Link) -> int:
    """The last row that is indexed, the end of a block."""
    found = link.db.execute("SELECT value FROM meta WHERE key = 'indexed'").fetchone()
    return int(found[0]) if found else -1


def waiting(link: Link) -> list[int]:
    """The rows that are not, newest first."""
    rows = link.db.execute("SELECT id FROM messages WHERE id > ? ORDER BY id DESC", (watermark(link),))
    return [id_ for (id_,) in rows.fetchall()]


def due(link: Link) -> bool:
    return _last_block(link) - watermark(link) >= BATCH


def catch_up(link: Link, most: int = _AT_ONCE) -> bool:
    """Indexes `most` of the waiting rows, whole blocks only, within a write; True where more can be done."""
    start = watermark(link)
    end = min(_last_block(link), start + most)
    if end > start:
        index.add(link.db, link.have, list(entries(link, "m.id > ? AND m.id <= ?", (start, end))))
        set_watermark(link, end)
    return _last_block(link) > end


@contextmanager
def changing(link: Link, rows: Iterable[int]) -> Iterator[None]:
    """Takes the index entries of these rows out before they are changed or deleted, and puts in what is left after."""
    mark = watermark(link)
    blocks = sorted({index.block_of(id_) for id_ in rows if id_ <= mark})
    index.remove(link.db, link.have, _of_blocks(link, blocks))
    yield
    index.add(link.db, link.have, _of_blocks(link, blocks))


def set_watermark(link: Link, id_: int) -> None:
    sql = "INSERT INTO meta (key, value) VALUES ('indexed', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    link.db.execute(sql, (str(id_),))


def _last_block(link: Link) -> int:
    """The last row of the last block that nothing can be added to any more."""
    last = link.db.execute("SELECT max(id) FROM messages").fetchone()[0]
    return (int(last) + 1) // index.BLOCK * index.BLOCK - 1 if last is not None else -1


def _of_blocks(link: Link, blocks: Iterable[int]) -> list[index.Entry]:
    found: list[index.Entry] = []
    for block in blocks:
        rows = index.rows_of(block)
        found += entries(link, "m.id BETWEEN ? AND ?", (rows[-1], rows[0]))
    return found
