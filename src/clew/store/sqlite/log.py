"""The log beside the messages: events, states, usage."""

from __future__ import annotations

from collections.abc import Mapping

from clew import jsonio
from clew.jsonio import Json
from clew.store.indexed import clean
from clew.store.records import Event, State
from clew.store.sqlite.connect import Link
from clew.store.sqlite.rows import ms, seconds, session_row, unpack


def add_event(link: Link, session: str, kind: str, body: Json, now: float) -> Event:
    no = session_row(link, session).no
    last = link.db.execute("SELECT max(sequence) FROM events WHERE session = ?", (no,)).fetchone()[0]
    event = Event((last or 0) + 1, clean(kind), seconds(ms(now)), body)
    write_event(link, no, event)
    return event


def write_event(link: Link, no: int, event: Event) -> None:
    values = (no, event.sequence, event.kind, ms(event.time), link.packer.pack(jsonio.dumps(event.body)))
    link.db.execute("INSERT INTO events (session, sequence, kind, time, body) VALUES (?, ?, ?, ?, ?)", values)


def events(link: Link, session: str, after: int, kind: str) -> list[Event]:
    no = session_row(link, session).no
    sql = "SELECT sequence, kind, time, body FROM events WHERE session = ? AND sequence > ? AND (? = '' OR kind = ?)"
    kind = clean(kind)
    rows = link.db.execute(f"{sql} ORDER BY sequence", (no, after, kind, kind)).fetchall()
    return [Event(n, k, seconds(t), jsonio.loads(unpack(link, b))) for n, k, t, b in rows]


def put_state(link: Link, session: str, state: State, keep: int) -> None:
    no, key = session_row(link, session).no, clean(state.key)
    link.db.execute(
        "INSERT INTO states (session, key, position, body) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (session, key, position) DO UPDATE SET body = excluded.body",
        (no, key, state.position, link.packer.pack(jsonio.dumps(state.body))),
    )
    if keep:
        link.db.execute(
            "DELETE FROM states WHERE session = ? AND key = ? AND position NOT IN"
            " (SELECT position FROM states WHERE session = ? AND key = ? ORDER BY position DESC LIMIT ?)",
            (no, key, no, key, keep),
        )


def get_state(link: Link, session: str, key: str, at: int | None) -> State | None:
    no: int | None = session_row(link, session).no
    key = clean(key)
    while no is not None:
        sql = "SELECT position, body FROM states WHERE session = ? AND key = ? AND (? IS NULL OR position <= ?)"
        found = link.db.execute(f"{sql} ORDER BY position DESC LIMIT 1", (no, key, at, at)).fetchone()
        if found:
            return State(key, found[0], jsonio.loads(unpack(link, found[1])))
        parent, shared = link.db.execute("SELECT parent, shared FROM sessions WHERE no = ?", (no,)).fetchone()
        if not shared:
            return None
        no, at = parent, shared if at is None else min(at, shared)
    return None


def states(link: Link, no: int) -> list[State]:
    sql = "SELECT key, position, body FROM states WHERE session = ? ORDER BY key, position"
    return [State(k, p, jsonio.loads(unpack(link, b))) for k, p, b in link.db.execute(sql, (no,)).fetchall()]


def add_usage(link: Link, no: int, model: str, figures: Mapping[str, float]) -> None:
    link.db.executemany(
        "INSERT INTO usage (session, model, name, value) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (session, model, name) DO UPDATE SET value = value + excluded.value",
        [(no, clean(model), clean(name), float(value)) for name, value in figures.items()],
    )


def usage(link: Link, no: int) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    sql = "SELECT model, name, value FROM usage WHERE session = ? ORDER BY model, name"
    for model, name, value in link.db.execute(sql, (no,)):
        found.setdefault(model, {})[name] = value
    return found
