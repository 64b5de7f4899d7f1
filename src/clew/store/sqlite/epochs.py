"""Epochs and the lease that fences their commit."""

from __future__ import annotations

from clew import jsonio
from clew.errors import Conflict, LeaseLost
from clew.store.indexed import clean
from clew.store.lease import live
from clew.store.records import Epoch, Lease
from clew.store.sqlite.connect import Link
from clew.store.sqlite.rows import Row, chain_at, ms, seconds, session_row, unpack
from clew.store.sqlite.sessions import inherited_epochs


def commit(link: Link, session: str, epoch: Epoch, lease: Lease | None, now: float) -> Epoch:
    row = session_row(link, session)
    if lease is not None:
        _fence(link, row, lease)
    expected = last_number(link, row) + 1
    if epoch.number != expected:
        raise Conflict(f"the next epoch of {session!r} is {expected}, not {epoch.number}", hint="read its epochs again")
    if not 0 <= epoch.position <= row.length or chain_at(link, row, epoch.position - 1) != epoch.base_chain:
        raise Conflict(f"epoch {epoch.number} of {session!r} was made on another prefix", hint="read the session again")
    done = Epoch(epoch.number, epoch.base_chain, epoch.position, epoch.body, seconds(ms(now)))
    write(link, row.no, done)
    return done


def write(link: Link, no: int, epoch: Epoch) -> None:
    body = link.packer.pack(jsonio.dumps(epoch.body))
    link.db.execute(
        "INSERT INTO epochs (session, number, base_chain, position, time, body) VALUES (?, ?, ?, ?, ?, ?)",
        (no, epoch.number, epoch.base_chain, epoch.position, ms(epoch.time), body),
    )


def last_number(link: Link, row: Row) -> int:
    own = link.db.execute("SELECT max(number) FROM epochs WHERE session = ?", (row.no,)).fetchone()[0]
    return int(own or max((e[0] for e in inherited_epochs(link, row.no)), default=0))


def listed(link: Link, row: Row) -> list[Epoch]:
    return [_epoch(link, r) for r in inherited_epochs(link, row.no)] + own(link, row.no)


def own(link: Link, no: int) -> list[Epoch]:
    sql = "SELECT number, base_chain, position, time, body FROM epochs WHERE session = ? ORDER BY number"
    return [_epoch(link, r) for r in link.db.execute(sql, (no,)).fetchall()]


def _epoch(link: Link, r: tuple[int, str, int, int, bytes]) -> Epoch:
    number, base, position, time, body = r
    return Epoch(number, base, position, jsonio.loads(unpack(link, body)), seconds(time))


# -- leases


def acquire(link: Link, session: str, holder: str, length: float, now: float) -> Lease | None:
    row, holder = session_row(link, session), clean(holder)
    held = _held(link, row.no)
    token = 0
    if held:
        other, token, its_length, expires = held
        if other == holder:
            return _take(link, row, holder, token, length, now)
        if other and live(seconds(expires), seconds(its_length), now):
            return None
    return _take(link, row, holder, token + 1, length, now)


def renew(link: Link, lease: Lease, length: float, now: float) -> Lease:
    row = session_row(link, lease.session)
    _fence(link, row, lease)
    return _take(link, row, lease.holder, lease.token, length, now)


def release(link: Link, lease: Lease) -> None:
    link.db.execute(
        "UPDATE leases SET holder = '', expires = 0 WHERE holder = ? AND token = ? AND session = (SELECT no FROM sessions WHERE id = ?)",
        (lease.holder, lease.token, clean(lease.session)),
    )


def current(link: Link, session: str, now: float) -> Lease | None:
    row = session_row(link, session)
    held = _held(link, row.no)
    if not held or not held[0] or not live(seconds(held[3]), seconds(held[2]), now):
        return None
    return Lease(row.id, held[0], held[1], seconds(held[3]))


def _held(link: Link, no: int) -> tuple[str, int, int, int] | None:
    sql = "SELECT holder, token, length, expires FROM leases WHERE session = ?"
    found: tuple[str, int, int, int] | None = link.db.execute(sql, (no,)).fetchone()
    return found


def _take(link: Link, row: Row, holder: str, token: int, length: float, now: float) -> Lease:
    link.db.execute(
        "INSERT INTO leases (session, holder, token, length, expires) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (session) DO UPDATE SET holder = excluded.holder, token = excluded.token,"
        " length = excluded.length, expires = excluded.expires",
        (row.no, holder, token, ms(length), ms(now + length)),
    )
    return Lease(row.id, holder, token, seconds(ms(now + length)))


def _fence(link: Link, row: Row, lease: Lease) -> None:
    held = _held(link, row.no)
    if not held or held[:2] != (lease.holder, lease.token):
        who = f"; {held[0]} has it" if held and held[0] else ""
        raise LeaseLost(f"the lease on {row.id!r} was lost{who}", hint="start over from the session as it is now")
