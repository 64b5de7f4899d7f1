"""Sessions: made, found, changed, ended."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from clew import jsonio
from clew.errors import Conflict
from clew.jsonio import Json
from clew.store.indexed import clean
from clew.store.records import KINDS, NewSession, Session, SessionFilter
from clew.store.sqlite.connect import Link
from clew.store.sqlite.rows import SELECT_SESSION, chain_at, ms, session_row, to_session


def create(link: Link, new: NewSession, now: float) -> None:
    if new.kind not in KINDS:
        raise ValueError(f"unknown kind {new.kind!r}; one of {', '.join(KINDS)}")
    parent, root, chain, inherited = None, None, "", 0
    if new.parent:
        above = session_row(link, new.parent)
        if not 0 <= new.shared <= above.length:
            raise Conflict(f"{new.parent!r} has {above.length} messages, not {new.shared}", hint="fork within it")
        parent, root, chain = above.no, above.root, chain_at(link, above, new.shared - 1)
        if new.shared:
            own = "SELECT count(*) FROM epochs WHERE session = ? AND position <= ?"
            inherited = link.db.execute(own, (above.no, new.shared)).fetchone()[0]
            inherited += sum(1 for p in inherited_positions(link, above.no) if p <= new.shared)
    elif new.shared:
        raise ValueError("only a child shares messages")
    texts = tuple(clean(t) for t in (new.id, new.source, new.model, new.title, new.goal, new.workspace, new.kind))
    began = ms(now if new.created is None else new.created)
    values = (*texts, parent, new.shared, inherited, root or 0, began, began, new.shared, chain, _extra(new.extra))
    try:
        no = link.db.execute(
            "INSERT INTO sessions (id, source, model, title, goal, workspace, kind, parent, shared, inherited, root, created,"
            " updated, length, chain, extra, end_reason, ended, open_calls)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, '{}')",
            values,
        ).lastrowid
    except sqlite3.IntegrityError as e:
        raise Conflict(f"there is a session {new.id!r} already", hint="choose another id") from e
    if root is None:
        link.db.execute("UPDATE sessions SET root = no WHERE no = ?", (no,))


def inherited_positions(link: Link, no: int) -> list[int]:
    """The positions of the epochs a session took over from its ancestors, in order."""
    return [e[2] for e in inherited_epochs(link, no)]


def inherited_epochs(link: Link, no: int) -> list[tuple[int, str, int, int, bytes]]:
    """Number, base, position, time and body of what ancestors committed on the shared prefix before the fork."""
    forks: list[tuple[int, int, int]] = []  # parent, shared, inherited, from the session upwards
    at: int | None = no
    while at is not None:
        sql = "SELECT parent, shared, inherited FROM sessions WHERE no = ?"
        parent, shared, count = link.db.execute(sql, (at,)).fetchone()
        at = parent if count else None
        if at is not None:
            forks.append((at, shared, count))
    found: list[tuple[int, str, int, int, bytes]] = []
    sql = "SELECT number, base_chain, position, time, body FROM epochs WHERE session = ? AND position <= ? ORDER BY number"
    for parent, shared, count in reversed(forks):
        found += link.db.execute(sql, (parent, shared)).fetchall()
        found = [e for e in found if e[2] <= shared][:count]
    return found


def listed(link: Link, tenant: str, where: SessionFilter, limit: int, before: str, *, recent: bool) -> list[Session]:
    tests, values = _tests(where)
    order = ("s.updated", "s.no") if recent else ("s.no",)
    if before:
        last = session_row(link, before).no
        at = link.db.execute("SELECT updated, no FROM sessions WHERE no = ?", (last,)).fetchone()
        tests.append(f"({', '.join(order)}) < ({', '.join('?' * len(order))})")
        values += at if recent else at[1:]
    clause = f" WHERE {' AND '.join(tests)}" if tests else ""
    by = ", ".join(f"{column} DESC" for column in order)
    rows = link.db.execute(f"{SELECT_SESSION}{clause} ORDER BY {by} LIMIT ?", (*values, limit or -1))
    return [to_session(r, tenant) for r in rows.fetchall()]


def _tests(where: SessionFilter) -> tuple[list[str], list[object]]:
    tests: list[str] = []
    values: list[object] = []
    equal = {
        "s.source": where.source, "s.model": where.model, "s.workspace": where.workspace, "r.id": where.root,
        "p.id": where.parent, "s.kind": where.kind, "s.title": where.title,
    }  # fmt: skip
    for column, wanted in equal.items():
        if wanted:
            tests.append(f"{column} = ?")
            values.append(clean(wanted))
    if where.without_sources:
        tests.append(f"s.source NOT IN ({', '.join('?' * len(where.without_sources))})")
        values += map(clean, where.without_sources)
    if where.id_prefix:
        tests.append("substr(s.id, 1, ?) = ?")
        values += [len(where.id_prefix), clean(where.id_prefix)]
    if where.active is not None:
        tests.append("s.end_reason = ''" if where.active else "s.end_reason != ''")
    if where.since is not None:
        tests.append("s.updated >= ?")
        values.append(ms(where.since))
    if where.until is not None:
        tests.append("s.updated <= ?")
        values.append(ms(where.until))
    return tests, values


def update(
    link: Link, session: str, texts: Mapping[str, str | None], extra: Mapping[str, Json] | None, now: float
) -> None:
    row = session_row(link, session)
    given = {k: clean(v) for k, v in texts.items() if v is not None}
    if extra is not None:
        held = jsonio.loads(link.db.execute("SELECT extra FROM sessions WHERE no = ?", (row.no,)).fetchone()[0])
        given["extra"] = _extra({**held, **extra})
    given_values: Sequence[object] = list(given.values())
    sets = "".join(f"{k} = ?, " for k in given)
    link.db.execute(
        f"UPDATE sessions SET {sets}updated = max(updated, ?) WHERE no = ?",  # noqa: S608 - the columns are the caller's own
        (*given_values, ms(now), row.no),
    )


def end(link: Link, session: str, reason: str, now: float) -> None:
    sql = "UPDATE sessions SET end_reason = ?, ended = ? WHERE no = ?"
    link.db.execute(sql, (clean(reason), ms(now), session_row(link, session).no))


def reopen(link: Link, session: str) -> None:
    sql = "UPDATE sessions SET end_reason = '', ended = 0 WHERE no = ?"
    link.db.execute(sql, (session_row(link, session).no,))


def _extra(extra: Mapping[str, Json]) -> str:
    return jsonio.dumps({k: v for k, v in extra.items() if v is not None}).decode()
