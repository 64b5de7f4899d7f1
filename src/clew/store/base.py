"""The one protocol of every backend.

A handle is synchronous, safe to use from any thread, cheap to make and to copy: it holds no connection and no lock of
the backend until it is used, so an object that has one may be deep-copied. It speaks for one tenant. Every write is a
transaction of its own: it has happened as a whole when the call returns, or not at all when it raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from clew.jsonio import Json
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
from clew.transcript import Message

DEFAULT_LEASE = 120.0
ANY = SessionFilter()


class Store(Protocol):
    """Sessions, messages, epochs, originals. Raises `errors.NotFound` for a session that isn't there."""

    @property
    def url(self) -> str: ...

    @property
    def tenant(self) -> str: ...

    # -- tenants and the handle itself

    def for_tenant(self, tenant: str) -> Store:
        """The same store for another tenant; nothing is shared between tenants, content addresses neither."""
        ...

    def tenants(self) -> Sequence[str]: ...

    def close(self) -> None:
        """Lets go of what was opened. The handle opens again when it is used again."""
        ...

    def now(self) -> float:
        """The clock this handle was given; every time it writes is taken from it."""
        ...

    # -- sessions

    def create(self, new: NewSession) -> Session:
        """Conflict where the id is taken; NotFound where the parent is unknown."""
        ...

    def session(self, session: str) -> Session: ...

    def sessions(
        self, where: SessionFilter = ANY, *, limit: int = 0, before: str = "", recent: bool = False
    ) -> Sequence[Session]:
        """The latest made first, or with `recent` the latest changed; `before` continues after a page's last id, `limit` 0
        gives all.
        """
        ...

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
        """Changes what is given; `extra` is merged by key, a None value takes the key out."""
        ...

    def end(self, session: str, reason: str) -> Session: ...

    def reopen(self, session: str) -> Session: ...

    def rotate(
        self, parent: str, child: NewSession, *, unwritten: Sequence[Message] = (), messages: Sequence[Message] = ()
    ) -> Session:
        """In one transaction: `unwritten` is appended to the parent, the parent is ended with "compression", the child
        is made under it with `messages`. If any of it fails, all of it has not happened and the parent is active.
        Conflict where the parent has ended: of several that rotate it at once, one does.
        """
        ...

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
        """Puts messages at position `at` and after. What already stands there is passed over, so a client may send its
        whole history again; the first message that differs raises Conflict with its position, and nothing is written.
        `chain`, where given, is the hash of the prefix before `at`, and must hold. `at` beyond the end is a Conflict.
        `times` say when each message was said, where that wasn't now.
        """
        ...

    def messages(self, session: str, start: int = 0, end: int | None = None) -> Sequence[Stored]:
        """By position, the shared prefix included."""
        ...

    def chain(self, session: str, position: int) -> str:
        """The hash of the prefix that ends with the message at `position`; "" at -1."""
        ...

    # -- the log

    def add_event(self, session: str, kind: str, body: Json) -> Event: ...

    def events(self, session: str, *, after: int = 0, kind: str = "") -> Sequence[Event]: ...

    # -- epochs and leases

    def commit_epoch(self, session: str, epoch: Epoch, lease: Lease | None) -> Epoch:
        """LeaseLost where another took the lease or it was given back; Conflict where the number isn't the next one
        or the prefix has another hash. `lease` may be None where leases are broken: then number and prefix alone
        decide, and of two that were worked out on the same prefix still only one is taken.
        """
        ...

    def epochs(self, session: str) -> Sequence[Epoch]:
        """In order. A fork begins with those its parent had on the shared prefix when it was made."""
        ...

    def acquire(self, session: str, holder: str, seconds: float = DEFAULT_LEASE) -> Lease | None:
        """The lease, or None while another holder's is live. Taking one's own again renews it."""
        ...

    def renew(self, lease: Lease, seconds: float = DEFAULT_LEASE) -> Lease:
        """LeaseLost where another has taken it."""
        ...

    def release(self, lease: Lease) -> None:
        """Gives it back; nothing happens where it was lost already."""
        ...

    def lease(self, session: str) -> Lease | None:
        """Who holds it now, if anyone does."""
        ...

    # -- originals

    def add_originals(self, session: str, originals: Sequence[Original]) -> None:
        """Kept for as long as the session is; the same content is kept once."""
        ...

    def original(self, reference: str) -> Original:
        """By reference (`clew:` and 60 bits) or whole address. UnknownReference where there is none for this tenant;
        Conflict where two originals share the 60 bits: then the whole address is needed.
        """
        ...

    def short(self, address: str) -> str:
        """The reference a marker should carry: the short form, or the whole address where the short one is taken."""
        ...

    # -- state and usage

    def put_state(self, session: str, key: str, position: int, body: Json, *, keep: int = 1) -> None:
        """Keeps the newest `keep` bodies of this key, by position; 0 keeps all."""
        ...

    def get_state(self, session: str, key: str, *, at: int | None = None) -> State | None:
        """The newest body, or the newest whose position is at most `at`. A fork that has none of its own yet reads
        its parent's, as of the shared prefix.
        """
        ...

    def add_usage(self, session: str, model: str, figures: Mapping[str, float]) -> None:
        """Adds to the running sums. Counters that belong to no model go under ""."""
        ...

    def usage(self, session: str) -> Mapping[str, Mapping[str, float]]: ...

    # -- search

    def find(self, query: Query, scope: Scope, *, limit: int = 20, offset: int = 0) -> Sequence[Hit]:
        """Messages that match, best or newest first as the scope says."""
        ...

    # -- whole sessions

    def dump(self, session: str) -> Dump: ...

    def load(self, dump: Dump) -> Session:
        """Puts a dumped session in, times and numbers as they were. Its parent must be here first."""
        ...

    def delete(self, sessions: Sequence[str], *, preview: bool = False) -> Freed:
        """Takes the sessions out with their originals and index entries; only says what it would free with `preview`.
        Conflict where a session that stays was forked from one of them.
        """
        ...

    def purge(self, secret: str, mask: str) -> Purged:
        """Puts `mask` for a leaked value in every place it stands in: messages, originals, events, epochs, state,
        titles, index, backups. Addresses and positions stay, so references and a client's resends still fit.
        """
        ...

    # -- upkeep

    def info(self) -> Info: ...

    def check(self) -> Sequence[Finding]:
        """What is wrong with the store; empty when it is sound."""
        ...

    def vacuum(self) -> Info:
        """Gives unused room back and puts the indexes in order."""
        ...

    def reindex(self) -> int:
        """Makes what search needs anew, from the messages; says of how many."""
        ...

    def walk(self) -> Iterator[Session]:
        """Every session, parents before their children."""
        ...
