"""The SQLite store: every method is one transaction around the functions that do the work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clew.errors import StoreBusy, StoreError, StoreFull
from clew.jsonio import Json
from clew.store.base import ANY, DEFAULT_LEASE
from clew.store.mask import Masker
from clew.store.query import Hit, Query, Scope
from clew.store.records import (
    Appended,
    Dump,
    Epoch,
    Event,
    Finding,
    Freed,
    Info,
    Lease,
    NewSession,
    Original,
    Purged,
    Session,
    SessionFilter,
    State,
    Stored,
)
from clew.store.sqlite import (
    epochs,
    files,
    index,
    log,
    messages,
    originals,
    pending,
    purge,
    search,
    sessions,
    upkeep,
    whole,
)
from clew.store.sqlite.connect import TRIES, Link, Pool, Settings
from clew.store.sqlite.rows import Row, chain_at, read_session, session_row
from clew.transcript import Message

_PIECE = 16  # messages that are indexed while nobody waits, at once


class SqliteStore:
    """One file, one tenant. A copy, deep or pickled, is a handle of its own on the same file."""

    def __init__(
        self, path: Path, *, tenant: str = "", clock: Callable[[], float] = time.time, settings: Settings | None = None
    ) -> None:
        self._base = path
        self._tenant = tenant
        self._clock = clock
        self._settings = settings or Settings()
        self.path = files.tenant_path(path, tenant)
        self._pool = Pool(self.path, self._settings)

    def __deepcopy__(self, memo: dict[int, Any]) -> SqliteStore:
        return SqliteStore(self._base, tenant=self._tenant, clock=self._clock, settings=self._settings)

    def __reduce__(self) -> tuple[Callable[..., SqliteStore], tuple[Any, ...]]:
        return _again, (self._base, self._tenant, self._clock, self._settings)

    @property
    def url(self) -> str:
        path = str(self._base).replace("%", "%25").replace("?", "%3F").replace("#", "%23")
        return f"sqlite:///{path}" + ("?synchronous=full" if self._settings.full else "")

    @property
    def tenant(self) -> str:
        return self._tenant

    def for_tenant(self, tenant: str) -> SqliteStore:
        return SqliteStore(self._base, tenant=tenant, clock=self._clock, settings=self._settings)

    def tenants(self) -> Sequence[str]:
        return files.tenants_beside(self._base)

    def close(self) -> None:
        self._pool.close()

    def now(self) -> float:
        return self._clock()

    # -- sessions

    def create(self, new: NewSession) -> Session:
        with self._pool.write() as link:
            sessions.create(link, new, self.now())
            return read_session(link, new.id, self._tenant)

    def session(self, session: str) -> Session:
        with self._pool.read() as link:
            return read_session(link, session, self._tenant)

    def sessions(
        self, where: SessionFilter = ANY, *, limit: int = 0, before: str = "", recent: bool = False
    ) -> Sequence[Session]:
        with self._pool.read() as link:
            return sessions.listed(link, self._tenant, where, limit, before, recent=recent)

    def update(
        self,
        session: str,
        *,
        title: str | None = None,
        goal: str | None = None,
        model: str | None = None,
        workspace: str | None = None,
        source: str | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> Session:
        texts = {"title": title, "goal": goal, "model": model, "workspace": workspace, "source": source}
        with self._pool.write() as link:
            sessions.update(link, session, texts, extra, self.now())
            return read_session(link, session, self._tenant)

    def end(self, session: str, reason: str) -> Session:
        with self._pool.write() as link:
            sessions.end(link, session, reason, self.now())
            return read_session(link, session, self._tenant)

    def reopen(self, session: str) -> Session:
        with self._pool.write() as link:
            sessions.reopen(link, session)
            return read_session(link, session, self._tenant)

    def rotate(
        self, parent: str, child: NewSession, *, unwritten: Sequence[Message] = (), messages: Sequence[Message] = ()
    ) -> Session:
        with self._pool.write() as link:
            above = session_row(link, parent)
            self._append(link, above, unwritten, above.length, None)
            below = whole.rotate(link, parent, child, self.now())
            self._append(link, below, messages, below.length, None)
            return read_session(link, child.id, self._tenant)

    # -- messages

    def append(
        self,
        session: str,
        messages: Sequence[Message],
        *,
        at: int,
        chain: str | None = None,
        times: Sequence[float] | None = None,
    ) -> Appended:
        with self._pool.write() as link:
            done = self._append(link, session_row(link, session), messages, at, chain, times)
            due = upkeep.due(link, done.new)
            behind = pending.due(link)
        later = self._settings.later
        if due:
            self._learn() if later is None else later((self.path, "learn"), self._learn)
        if behind:
            self._catch_up() if later is None else later((self.path, "index"), self._catch_up_some)
        return done

    def messages(self, session: str, start: int = 0, end: int | None = None) -> Sequence[Stored]:
        with self._pool.read() as link:
            return messages.read(link, session_row(link, session), start, end)

    def chain(self, session: str, position: int) -> str:
        with self._pool.read() as link:
            return chain_at(link, session_row(link, session), position)

    # -- the log

    def add_event(self, session: str, kind: str, body: Json) -> Event:
        with self._pool.write() as link:
            return log.add_event(link, session, kind, body, self.now())

    def events(self, session: str, *, after: int = 0, kind: str = "") -> Sequence[Event]:
        with self._pool.read() as link:
            return log.events(link, session, after, kind)

    # -- epochs and leases

    def commit_epoch(self, session: str, epoch: Epoch, lease: Lease | None) -> Epoch:
        with self._pool.write() as link:
            return epochs.commit(link, session, epoch, lease, self.now())

    def epochs(self, session: str) -> Sequence[Epoch]:
        with self._pool.read() as link:
            return epochs.listed(link, session_row(link, session))

    def acquire(self, session: str, holder: str, seconds: float = DEFAULT_LEASE) -> Lease | None:
        with self._pool.write() as link:
            return epochs.acquire(link, session, holder, seconds, self.now())

    def renew(self, lease: Lease, seconds: float = DEFAULT_LEASE) -> Lease:
        with self._pool.write() as link:
            return epochs.renew(link, lease, seconds, self.now())

    def release(self, lease: Lease) -> None:
        with self._pool.write() as link:
            epochs.release(link, lease)

    def lease(self, session: str) -> Lease | None:
        with self._pool.read() as link:
            return epochs.current(link, session, self.now())

    # -- originals

    def add_originals(self, session: str, originals_: Sequence[Original]) -> None:
        with self._pool.write() as link:
            originals.add(link, session_row(link, session), originals_)

    def original(self, reference: str) -> Original:
        with self._pool.read() as link:
            return originals.find(link, reference)

    def short(self, address: str) -> str:
        with self._pool.read() as link:
            return originals.short(link, address)

    # -- state and usage

    def put_state(self, session: str, key: str, position: int, body: Json, *, keep: int = 1) -> None:
        with self._pool.write() as link:
            log.put_state(link, session, State(key, position, body), keep)

    def get_state(self, session: str, key: str, *, at: int | None = None) -> State | None:
        with self._pool.read() as link:
            return log.get_state(link, session, key, at)

    def add_usage(self, session: str, model: str, figures: Mapping[str, float]) -> None:
        with self._pool.write() as link:
            log.add_usage(link, session_row(link, session).no, model, figures)

    def usage(self, session: str) -> Mapping[str, Mapping[str, float]]:
        with self._pool.read() as link:
            return log.usage(link, session_row(link, session).no)

    # -- search

    def find(self, query: Query, scope: Scope, *, limit: int = 20, offset: int = 0) -> Sequence[Hit]:
        with self._pool.read() as link:
            return search.find(link, query, scope, limit, offset)

    # -- whole sessions

    def dump(self, session: str) -> Dump:
        with self._pool.read() as link:
            return whole.dump(link, session, self._tenant)

    def load(self, dump: Dump) -> Session:
        with self._pool.write() as link:
            whole.load(link, dump)
            return read_session(link, dump.session.id, self._tenant)

    def delete(self, sessions: Sequence[str], *, preview: bool = False) -> Freed:
        if preview:
            with self._pool.read() as link:
                return whole.delete(link, sessions, preview=True)
        with self._pool.write() as link:
            self._same_index(link)
            return whole.delete(link, sessions, preview=False)

    def purge(self, secret: str, mask: str) -> Purged:
        masker = Masker(secret, mask)
        with self._pool.write() as link:
            self._same_index(link)
            places, left = purge.mask(link, masker)
            traces = purge.note_traces(link, bool(places))
        if traces:
            left += self._sweep()
        places_beside, left_beside = purge.beside(self.path, masker)
        return Purged(dict(places + places_beside), (*left, *left_beside))

    # -- upkeep

    def info(self) -> Info:
        with self._pool.read() as link:
            return upkeep.info(link, self.url, self._tenant, self.path)

    def check(self) -> Sequence[Finding]:
        with self._pool.alone() as link:
            return tuple(upkeep.check(link, read_only=self._settings.read_only))

    def vacuum(self) -> Info:
        self._sweep()
        return self.info()

    def _sweep(self) -> list[str]:
        """Gives unused room back; says where something deleted may still be read."""
        self._learn()
        with self._pool.write() as link:
            self._same_index(link)
            while pending.catch_up(link):
                pass
            upkeep.repack_old(link)
            index.optimize(link.db, link.have)
        with self._pool.alone() as link:
            self._pool.patiently(lambda: link.db.execute("VACUUM"))
            empty = any(upkeep.empty_log(link) for _ in range(TRIES))
        if not empty:
            return [
                f"{self.path} and its log: others are reading what stood there before; purge again when they are done"
            ]
        with self._pool.write() as link:
            purge.forget_traces(link)
        return []

    def reindex(self) -> int:
        """Makes the search indexes anew; says of how many messages."""
        with self._pool.write() as link:
            return upkeep.reindex(link)

    def walk(self) -> Iterator[Session]:
        yield from reversed(self.sessions())

    # -- within a transaction

    def _append(
        self,
        link: Link,
        row: Row,
        new: Sequence[Message],
        at: int,
        chain: str | None,
        times: Sequence[float] | None = None,
    ) -> Appended:
        said = times if times is not None else [self.now()] * len(new)
        return messages.append(link, row, new, at=at, chain=chain, times=said)

    def _learn(self) -> bool:
        """Others may write while this trains. What was appended stands whatever becomes of it. False: that was all."""
        try:
            with self._pool.read() as link:
                learned = upkeep.learn(link)
            if learned:
                with self._pool.write() as link:
                    upkeep.keep(link, learned)
        except (StoreBusy, StoreFull):
            pass
        return False

    def _catch_up(self) -> None:
        """What was appended stands whatever becomes of this, so a busy or full store is left for the next time."""
        more = True
        while more:
            try:
                with self._pool.write() as link:
                    more = pending.due(link) and pending.catch_up(link) and pending.due(link)
            except (StoreBusy, StoreFull):
                return

    def _catch_up_some(self) -> bool:
        """A little of the same, so that a writer who comes meanwhile waits only for that; whether there is more."""
        try:
            with self._pool.write() as link:
                return pending.catch_up(link, _PIECE) and pending.due(link)
        except StoreError:
            return False

    def _same_index(self, link: Link) -> None:
        """What was indexed under other rules can't be taken out by these: index it all anew first."""
        if index.noted(link.db) != link.have:
            upkeep.reindex(link)


def _again(base: Path, tenant: str, clock: Callable[[], float], settings: Settings) -> SqliteStore:
    return SqliteStore(base, tenant=tenant, clock=clock, settings=settings)
