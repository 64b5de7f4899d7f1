"""Originals: what references stand for."""

from __future__ import annotations

from collections.abc import Sequence

from clew.errors import Conflict, UnknownReference
from clew.store.addresses import SHORT, WHOLE, from_bytes, parse, span, to_bytes
from clew.store.parts import part_text, readable
from clew.store.records import Original
from clew.store.sqlite.connect import Link
from clew.store.sqlite.rows import Row, content_id, message_of, name_id, name_of, segments, unpack
from clew.transcript import REFERENCE, reference

_TEXT = ""  # the wire of a content that is a plain text


def add(link: Link, row: Row, originals: Sequence[Original]) -> None:
    for o in originals:
        content, part = _pointer(link, row, o)
        if content is None:
            data = o.text.encode("utf-8", "surrogatepass")
            (content, _), part = content_id(link, o.address, name_id(link, _TEXT), data), -1
        link.db.execute(
            "INSERT INTO originals (session, address, content, position, part) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (session, address) DO NOTHING",
            (row.no, to_bytes(o.address), content, o.position if part >= 0 else -1, part),
        )


def _pointer(link: Link, row: Row, o: Original) -> tuple[int | None, int]:
    """The stored message that holds this very text at that part; None where it doesn't."""
    if o.position < 0 or o.part < 0 or o.position >= row.length:
        return None, -1
    for s in segments(link, row.no):
        if o.position >= s.start:
            sql = (
                "SELECT c.id, c.wire, c.body FROM messages m JOIN contents c ON c.id = m.content"
                " WHERE m.session = ? AND m.position = ?"
            )
            content, kind, body = link.db.execute(sql, (s.no, o.position)).fetchone()
            message = message_of(name_of(link, kind), unpack(link, body))
            if part_text(message, o.part) == o.text:
                return content, o.part
            break
    return None, -1


def find(link: Link, ref: str) -> Original:
    letters = parse(ref)
    low, high = span(letters)
    by_address: dict[bytes, tuple[int, int, int]] = {}
    sql = "SELECT address, content, position, part FROM originals WHERE substr(address, 1, 8) BETWEEN ? AND ?"
    for address, content, position, part in link.db.execute(sql, (low[:8], high[:8])):
        if low <= address <= high:
            by_address.setdefault(address, (content, position, part))
    sql = "SELECT address, id FROM contents WHERE substr(address, 1, 8) BETWEEN ? AND ?"
    for address, content in link.db.execute(sql, (low[:8], high[:8])):
        if low <= address <= high:
            by_address.setdefault(address, (content, -1, -1))
    if not by_address:
        raise UnknownReference(f"no original is known as {ref!r}", hint="it may belong to another tenant or store")
    if len(by_address) > 1:
        whole = ", ".join(REFERENCE + from_bytes(a) for a in sorted(by_address))
        raise Conflict(f"{ref!r} may mean {len(by_address)} originals", hint=f"use one of {whole}")
    [(address, (content, position, part))] = by_address.items()
    return Original(from_bytes(address), _text(link, content, part), position, part)


def _text(link: Link, content: int, part: int) -> str:
    kind, body = link.db.execute("SELECT wire, body FROM contents WHERE id = ?", (content,)).fetchone()
    data = unpack(link, body)
    name = name_of(link, kind)
    if name == _TEXT:
        return data.decode("utf-8", "surrogatepass")
    message = message_of(name, data)
    return part_text(message, part) if part >= 0 else readable(message)


def short(link: Link, address: str) -> str:
    low, high = span(address[:SHORT])
    own = to_bytes(address)
    for table in ("originals", "contents"):
        sql = f"SELECT address FROM {table} WHERE substr(address, 1, 8) BETWEEN ? AND ?"  # noqa: S608 - the two names above
        for (other,) in link.db.execute(sql, (low[:8], high[:8])):
            if other != own and low <= other <= high:
                return REFERENCE + address[:WHOLE]
    return reference(address)


def of_session(link: Link, no: int) -> list[Original]:
    sql = "SELECT address, content, position, part FROM originals WHERE session = ? ORDER BY address"
    rows = link.db.execute(sql, (no,)).fetchall()
    return [Original(from_bytes(a), _text(link, c, part), position, part) for a, c, position, part in rows]
