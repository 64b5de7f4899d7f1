"""Index entries worked out from stored messages: the same that were, or will be, put in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.store.indexed import indexed
from clew.store.match import fold
from clew.store.sqlite.connect import Link
from clew.store.sqlite.index import Entry
from clew.store.sqlite.rows import message_of, name_of, unpack

_ENTRIES = (
    "SELECT m.id, s.root, m.role, m.tool, c.wire, c.body FROM messages m JOIN sessions s ON s.no = m.session"
    " JOIN contents c ON c.id = m.content"
)


def entries(link: Link, where: str, values: Sequence[object]) -> Iterator[Entry]:
    """Of the messages that a test names, by row."""
    cursor = link.db.execute(f"{_ENTRIES} WHERE {where} ORDER BY m.id", tuple(values))
    while chunk := cursor.fetchmany(200):
        for id_, root, role, tool, kind, body in chunk:
            message = message_of(name_of(link, kind), unpack(link, body))
            yield Entry(id_, root, name_of(link, role), name_of(link, tool), fold(indexed(message)))
