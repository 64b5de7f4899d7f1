"""Messages are indexed a batch at a time: three times cheaper than one by one, and an append never waits for an index
that grows. Until then a search reads the few that are waiting; row ids rise with time, so one number says which.
"""

from __future__ import annotations

from clew.store.sqlite import index
from clew.store.sqlite.connect import Link
from clew.store.sqlite.entries import entries

BATCH = 64  # as many wait at most, but for those a killed process left
_AT_ONCE = 512


def watermark(link: Link) -> int:
    """The last row that is indexed."""
    found = link.db.execute("SELECT value FROM meta WHERE key = 'indexed'").fetchone()
    return int(found[0]) if found else 0


def waiting(link: Link) -> list[int]:
    """The rows that are not, newest first."""
    rows = link.db.execute("SELECT id FROM messages WHERE id > ? ORDER BY id DESC", (watermark(link),))
    return [id_ for (id_,) in rows.fetchall()]


def due(link: Link) -> bool:
    last = link.db.execute("SELECT max(id) FROM messages").fetchone()[0] or 0
    return (link.have.words or link.have.grams) and int(last) - watermark(link) >= BATCH


def catch_up(link: Link) -> bool:
    """Indexes some of the waiting rows, within a write; True where more are left than a batch."""
    found = list(entries(link, "m.id > ?", (watermark(link),), limit=_AT_ONCE))
    if found:
        index.add(link.db, link.have, found)
        set_watermark(link, found[-1].id)
    return due(link)


def set_watermark(link: Link, id_: int) -> None:
    sql = "INSERT INTO meta (key, value) VALUES ('indexed', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    link.db.execute(sql, (str(id_),))
