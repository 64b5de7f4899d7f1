"""Whole sessions: out and in again, and out for good."""

from __future__ import annotations

from collections.abc import Sequence

from clew.errors import Conflict
from clew.store.records import Dump, Freed, NewSession
from clew.store.sqlite import epochs, log, messages, originals, sessions
from clew.store.sqlite.connect import Link
from clew.store.sqlite.pending import changing
from clew.store.sqlite.rows import Row, ms, read_session, session_row


def dump(link: Link, session: str, tenant: str) -> Dump:
    row = session_row(link, session)
    return Dump(
        session=read_session(link, session, tenant),
        messages=tuple(messages.read(link, row, row.shared, None)),
        events=tuple(log.events(link, session, 0, "")),
        epochs=tuple(epochs.own(link, row.no)),
        originals=tuple(originals.of_session(link, row.no)),
        states=tuple(log.states(link, row.no)),
        usage=log.usage(link, row.no),
    )


def load(link: Link, dumped: Dump) -> None:
    s = dumped.session
    new = NewSession(
        s.id, s.source, s.model, s.title, s.goal, s.workspace, s.kind, s.parent, s.shared, s.extra, s.created
    )  # fmt: skip
    sessions.create(link, new, s.created)
    row = session_row(link, s.id)
    bare = [m.message for m in dumped.messages]
    if bare:
        messages.append(link, row, bare, at=row.length, chain=None, times=[m.time for m in dumped.messages])
    row = session_row(link, s.id)
    for event in dumped.events:
        log.write_event(link, row.no, event)
    for epoch in dumped.epochs:
        epochs.write(link, row.no, epoch)
    originals.add(link, row, dumped.originals)
    for state in dumped.states:
        log.put_state(link, s.id, state, 0)
    for model, figures in dumped.usage.items():
        log.add_usage(link, row.no, model, figures)
    link.db.execute(
        "UPDATE sessions SET updated = ?, end_reason = ?, ended = ?, inherited = ? WHERE no = ?",
        (ms(s.updated), s.end_reason, ms(s.ended), s.inherited, row.no),
    )


def delete(link: Link, names: Sequence[str], *, preview: bool) -> Freed:
    rows = [session_row(link, n) for n in dict.fromkeys(names)]
    numbers = {r.no for r in rows}
    for r in rows:
        for child, id_ in link.db.execute("SELECT no, id FROM sessions WHERE parent = ? ORDER BY no", (r.no,)):
            if child not in numbers:
                raise Conflict(f"{id_!r} goes on from {r.id!r}", hint="delete it too, or keep both")
    contents, freed = _doomed(link, numbers)
    if preview:
        return freed
    for no in numbers:
        messages_ = [id_ for (id_,) in link.db.execute("SELECT id FROM messages WHERE session = ?", (no,)).fetchall()]
        with changing(link, messages_):
            for table in ("messages", "events", "epochs", "leases", "originals", "states", "usage"):
                link.db.execute(f"DELETE FROM {table} WHERE session = ?", (no,))  # noqa: S608 - the names above
        link.db.execute("DELETE FROM sessions WHERE no = ?", (no,))
    link.db.executemany("DELETE FROM contents WHERE id = ?", [(c,) for c in contents])
    return freed


def _doomed(link: Link, numbers: set[int]) -> tuple[set[int], Freed]:
    """The contents that nothing else needs, and what goes in all."""
    mine: set[int] = set()
    kept: set[int] = set()
    counts = {"messages": 0, "originals": 0}
    for table in counts:
        for no, content in link.db.execute(f"SELECT session, content FROM {table}"):  # noqa: S608 - the names above
            if no in numbers:
                mine.add(content)
                counts[table] += 1
            else:
                kept.add(content)
    gone = mine - kept
    size = sum(
        (link.db.execute("SELECT length(body) FROM contents WHERE id = ?", (c,)).fetchone() or (0,))[0] for c in gone
    )
    return gone, Freed(len(numbers), counts["messages"], len(gone), counts["originals"], size)


def rotate(link: Link, parent: str, child: NewSession, now: float) -> Row:
    """The parent ended, the child made under it; once, however many come with a child of their own."""
    if reason := session_row(link, parent).end_reason:
        raise Conflict(f"session {parent!r} has ended ({reason})", hint="go on at the tip of its lineage")
    sessions.create(link, child, now)
    sessions.end(link, parent, "compression", now)
    return session_row(link, child.id)
