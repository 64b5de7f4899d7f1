"""Appending messages and reading them back."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from clew import jsonio, wire
from clew.errors import Conflict
from clew.store.addresses import from_bytes, to_bytes
from clew.store.calls import OpenCalls
from clew.store.records import Appended, Stored
from clew.store.sqlite.connect import Link
from clew.store.sqlite.rows import (
    Row,
    chain_at,
    content_id,
    message_of,
    ms,
    name_id,
    name_of,
    seconds,
    segments,
    unpack,
)
from clew.transcript import Message
from clew.transcript import chain as grow


def append(
    link: Link, row: Row, messages: Sequence[Message], *, at: int, chain: str | None, times: Sequence[float]
) -> Appended:
    """`times` has one for each message."""
    if not 0 <= at <= row.length:
        raise Conflict(
            f"position {at} isn't within the {row.length} messages of {row.id!r}", hint="send what is missing too"
        )
    before = chain_at(link, row, at - 1)
    if chain is not None and chain != before:
        raise Conflict(f"the prefix before {at} of {row.id!r} is another one", hint="fork, or send the whole history")
    overlap = min(len(messages), row.length - at)
    if overlap:
        _compare(link, row, messages[:overlap], at, before)
    fresh = messages[overlap:]
    if not fresh:
        return Appended(row.length, row.chain, 0)
    if row.end_reason:
        raise Conflict(
            f"session {row.id!r} has ended ({row.end_reason})", hint="reopen it, or go on at the tip of its lineage"
        )
    return _write(link, row, fresh, times[overlap:])


def _compare(link: Link, row: Row, messages: Sequence[Message], at: int, before: str) -> None:
    """One look-up where all is equal, as it nearly always is; else the first difference is searched by halves."""
    chains: list[str] = []
    for m in messages:
        before = grow(before, m.address)
        chains.append(before)
    if chain_at(link, row, at + len(chains) - 1) == chains[-1]:
        return
    differs = bisect_left(range(len(chains)), True, key=lambda i: chain_at(link, row, at + i) != chains[i])
    raise Conflict(
        f"message {at + differs} of {row.id!r} is another one", hint="fork at that position", position=at + differs
    )


def _write(link: Link, row: Row, fresh: Sequence[Message], times: Sequence[float]) -> Appended:
    position, chain = row.length, row.chain
    calls = OpenCalls(row.open_calls)
    for m, time in zip(fresh, times, strict=True):
        chain = grow(chain, m.address)
        content, masked = content_id(link, m.address, name_id(link, m.wire), m.raw)
        tool = calls.tool(m if masked is None else wire.get(m.wire).message(masked))
        meta = jsonio.dumps(dict(m.meta)).decode() if m.meta else None
        values = (
            row.no, position, content, name_id(link, m.role), name_id(link, tool) if tool else None, ms(time),
            to_bytes(chain), meta,
        )  # fmt: skip
        link.db.execute(
            "INSERT INTO messages (session, position, content, role, tool, time, chain, meta) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        position += 1
    link.db.execute(
        "UPDATE sessions SET length = ?, chain = ?, open_calls = ?, updated = max(updated, ?) WHERE no = ?",
        (position, chain, calls.text(), ms(max(times)), row.no),
    )
    return Appended(position, chain, len(fresh))


_SELECT = (
    "SELECT m.position, m.role, m.tool, m.time, m.chain, m.meta, c.address, c.wire, c.body"
    " FROM messages m JOIN contents c ON c.id = m.content"
)


def read(link: Link, row: Row, start: int, end: int | None) -> list[Stored]:
    last = row.length if end is None else min(end, row.length)
    found: list[Stored] = []
    for s in reversed(segments(link, row.no)):
        low, high = max(start, s.start), last if s.end is None else min(last, s.end)
        if low < high:
            sql = f"{_SELECT} WHERE m.session = ? AND m.position >= ? AND m.position < ? ORDER BY m.position"
            found += [_stored(link, s.id, r) for r in link.db.execute(sql, (s.no, low, high)).fetchall()]
    return found


def _stored(
    link: Link, owner: str, r: tuple[int, int, int | None, int, bytes, str | None, bytes, int, bytes]
) -> Stored:
    position, _, tool, time, chain, meta, address, kind, body = r
    known = from_bytes(address)
    message = rebuilt(unpack(link, body), name_of(link, kind), known, meta)
    return Stored(position, message, known, from_bytes(chain), seconds(time), owner, name_of(link, tool))


def rebuilt(raw: bytes, kind: str, address: str, meta: str | None) -> Message:
    """The message of stored bytes. Its address is the stored one: where a leaked value was masked since, the message
    is still the one that every chain, epoch and reference means, and the one its client sends again.
    """
    message = message_of(kind, raw)
    if meta:
        message = Message(message.role, message.parts, message.raw, message.wire, jsonio.loads(meta))
    message.__dict__["address"] = address
    return message
