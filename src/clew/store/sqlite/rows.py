"""Small things every query needs: times, names, content rows, the segments a session is read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clew import jsonio
from clew.errors import NotFound, StoreCorrupt, WireError
from clew.store.addresses import from_bytes, to_bytes
from clew.store.indexed import clean
from clew.store.pack import Packer
from clew.store.records import Session
from clew.store.sqlite.connect import Link, dictionaries
from clew.transcript import Message
from clew.wire import get as wire_format

MEND = "run `clew store check --repair`; the damaged file is kept"
_LAST = 1 << 60


def ms(seconds: float) -> int:
    """Whole milliseconds, as far as a row can hold them: people ask for "the last million years"."""
    return round(min(max(seconds * 1000, -_LAST), _LAST))


def seconds(milliseconds: int) -> float:
    return milliseconds / 1000


def name_id(link: Link, name: str) -> int:
    """The number of a short word. One made in this transaction isn't remembered: it may be rolled back."""
    if (found := link.names.get(name)) is not None:
        return found
    row = link.db.execute("SELECT id FROM names WHERE name = ?", (name,)).fetchone()
    if row:
        link.names[name] = row[0]
        return int(row[0])
    made = link.db.execute("INSERT INTO names (name) VALUES (?)", (name,)).lastrowid
    assert made is not None
    return made


def name_of(link: Link, number: int | None) -> str:
    if number is None:
        return ""
    if number not in link.words:
        row = link.db.execute("SELECT name FROM names WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise StoreCorrupt(f"the word {number} that rows share is missing", hint=MEND)
        link.words[number] = row[0]
    return link.words[number]


_FIELDS = (
    "s.no, s.id, s.source, s.model, s.title, s.goal, s.workspace, s.kind, p.id, s.shared, s.inherited, r.id, s.created,"
    " s.updated, s.length, s.chain, s.end_reason, s.ended, s.extra"
)
SELECT_SESSION = (
    f"SELECT {_FIELDS} FROM sessions s LEFT JOIN sessions p ON p.no = s.parent LEFT JOIN sessions r ON r.no = s.root"  # noqa: S608 - constants
)


@dataclass(frozen=True, slots=True)
class Row:
    """What writing to a session needs to know of it."""

    no: int
    id: str
    parent: int | None
    shared: int
    inherited: int
    root: int
    length: int
    chain: str
    end_reason: str
    open_calls: str


def session_row(link: Link, session: str) -> Row:
    sql = "SELECT no, id, parent, shared, inherited, root, length, chain, end_reason, open_calls FROM sessions WHERE id = ?"
    found = link.db.execute(sql, (clean(session),)).fetchone()
    if not found:
        raise NotFound(f"no session {session!r}", hint="`clew sessions list` shows those there are")
    return Row(*found)


def to_session(row: tuple[Any, ...], tenant: str) -> Session:
    (_, id_, source, model, title, goal, workspace, kind, parent, shared, inherited, root, created, updated, length, chain,
     end_reason, ended, extra) = row  # fmt: skip
    return Session(
        id=id_, tenant=tenant, source=source, model=model, title=title, goal=goal, workspace=workspace, kind=kind,
        parent=parent or "", shared=shared, inherited=inherited, root=root or id_, created=seconds(created),
        updated=seconds(updated), length=length, chain=chain, end_reason=end_reason, ended=seconds(ended),
        extra=jsonio.loads(extra),
    )  # fmt: skip


def read_session(link: Link, session: str, tenant: str) -> Session:
    found = link.db.execute(f"{SELECT_SESSION} WHERE s.id = ?", (clean(session),)).fetchone()
    if not found:
        raise NotFound(f"no session {session!r}", hint="`clew sessions list` shows those there are")
    return to_session(found, tenant)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of positions that one session of a line wrote: from `start` up to, not with, `end` (None: no end)."""

    no: int
    id: str
    start: int
    end: int | None


def segments(link: Link, no: int) -> list[Segment]:
    """What a session is read from, the session's own first, then its ancestors' shared prefixes."""
    found: list[Segment] = []
    end: int | None = None
    at: int | None = no
    while at is not None:
        id_, parent, shared = link.db.execute("SELECT id, parent, shared FROM sessions WHERE no = ?", (at,)).fetchone()
        if end is None or shared < end:
            found.append(Segment(at, id_, shared, end))
        if not shared:
            break
        end = shared if end is None else min(end, shared)
        at = parent
    return found


def chain_at(link: Link, row: Row, position: int) -> str:
    """The prefix hash at a position that is known to be inside."""
    if position < 0:
        return ""
    if position == row.length - 1:
        return row.chain
    for s in segments(link, row.no):
        if position >= s.start:
            sql = "SELECT chain FROM messages WHERE session = ? AND position = ?"
            found = link.db.execute(sql, (s.no, position)).fetchone()
            if found:
                return from_bytes(found[0])
            break
    raise NotFound(f"session {row.id!r} has no message {position}", hint=f"it has {row.length}")


def content_id(link: Link, address: str, wire: int, data: bytes) -> tuple[int, bytes | None]:
    """The row of these bytes, made where there is none. What was masked stays masked, however often it comes again: then
    the bytes that are kept in their stead.
    """
    raw = to_bytes(address)
    sql = "SELECT id, masked, body FROM contents WHERE substr(address, 1, 8) = ? AND address = ? AND wire = ?"
    for found, masked, body in link.db.execute(sql, (raw[:8], raw, wire)):
        held = unpack(link, body)
        if masked or held == data:
            return int(found), held if masked else None
    body = link.packer.pack(data)
    made = link.db.execute("INSERT INTO contents (address, wire, body) VALUES (?, ?, ?)", (raw, wire, body)).lastrowid
    assert made is not None
    return made, None


def unpack(link: Link, body: bytes) -> bytes:
    """The bytes of a packed body; looks for a dictionary that another process trained meanwhile."""
    if not isinstance(body, bytes):
        raise StoreCorrupt("a stored body is missing", hint=MEND)
    if not link.packer.knows(body):
        link.packer = Packer(dictionaries(link.db))
    return link.packer.unpack(body)


def message_of(kind: str, raw: bytes) -> Message:
    """The message of stored bytes, of the wire format that is called so."""
    try:
        return wire_format(kind).message(raw)
    except WireError as e:
        raise StoreCorrupt(f"a stored message can't be read: {e.message}", hint=MEND) from e
