"""What a context keeps in a store and reads back: messages as they came, epochs, originals, the small counters."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterable, Sequence

from clew.context.codec import counters_in, counters_out, epoch_in, epoch_out
from clew.engine.events import CommitRefused, Committed, Event
from clew.engine.values import Epoch, State
from clew.errors import Conflict, LeaseLost, NotFound
from clew.lineage import new_id
from clew.store import NewSession, Original, Store, open_store
from clew.store.records import Epoch as StoredEpoch
from clew.transcript import Message, text_address
from clew.wire import Wire

_COUNTERS = "engine"


class Keeper:
    """Where a context keeps things. This one keeps nothing: without a store the object is all there is."""

    session = ""

    def messages(self) -> Sequence[Message]:
        return ()

    def epochs(self, _wire: Wire, /) -> Sequence[Epoch]:
        return ()

    def restore(self, state: State, /) -> State:
        return state

    def append(self, _messages: Sequence[Message], _at: int, /) -> None:
        """Keep messages from a position on."""

    def commit(self, _epoch: Epoch, _chain: str, _originals: Iterable[str], now: float, /) -> Event:
        return Committed(now)

    def undo(self, _number: int, /) -> None:
        """Keep that an epoch was dropped."""

    def counters(self, _state: State, /) -> None:
        """Keep what decides when the next epoch comes."""

    def original(self, _ref: str, /) -> str | None:
        return None


class InStore(Keeper):
    """A session of a store. An epoch is committed under a lease, and fenced: of two on one prefix one is taken."""

    def __init__(self, store: Store, session: str) -> None:
        self.store = store
        self.session = session

    def messages(self) -> Sequence[Message]:
        return [s.message for s in self.store.messages(self.session)]

    def epochs(self, wire: Wire, /) -> Sequence[Epoch]:
        """The epochs in force: those that were undone are left out."""
        undone = {e.body["number"] for e in self.store.events(self.session, kind="undo")}
        stored = [e for e in self.store.epochs(self.session) if e.number not in undone]
        return [epoch_in(e.body, wire) for e in stored]

    def restore(self, state: State, /) -> State:
        kept = self.store.get_state(self.session, _COUNTERS)
        return counters_in(state, kept.body) if kept is not None else state

    def append(self, messages: Sequence[Message], at: int, /) -> None:
        self.store.append(self.session, messages, at=at)

    def commit(self, epoch: Epoch, chain: str, originals: Iterable[str], now: float, /) -> Event:
        number = len(self.store.epochs(self.session)) + 1
        lease = self.store.acquire(self.session, holder())
        if lease is None:
            return CommitRefused("another process is compacting this conversation")
        try:
            self.store.add_originals(self.session, [Original(text_address(t), t) for t in originals])
            body = epoch_out(epoch)
            self.store.commit_epoch(self.session, StoredEpoch(number, chain, epoch.span.end, body), lease)
        except (LeaseLost, Conflict) as e:
            return CommitRefused(e.message)
        finally:
            self.store.release(lease)
        return Committed(now)

    def undo(self, number: int, /) -> None:
        self.store.add_event(self.session, "undo", {"number": number})

    def counters(self, state: State, /) -> None:
        self.store.put_state(self.session, _COUNTERS, state.length, counters_out(state))

    def original(self, ref: str, /) -> str | None:
        return self.store.original(ref).text


def holder() -> str:
    """Who holds a lease: process, host, thread, and a nonce, so that a crashed holder is told from a live one."""
    return f"{os.getpid()}:{socket.gethostname()}:{threading.get_ident()}:{secrets.token_hex(4)}"


def keeper(
    store: Store | str | None,
    session: str | None,
    *,
    tenant: str,
    source: str,
    model: str,
    clock: Callable[[], float],
) -> Keeper:
    """Where to keep things; the session is made where the store has none of that id."""
    if store is None:
        return Keeper()
    opened = open_store(store, tenant=tenant, clock=clock) if isinstance(store, str) else store
    if tenant and opened.tenant != tenant:
        opened = opened.for_tenant(tenant)
    name = session or new_id(clock())
    try:
        opened.session(name)
    except NotFound:
        opened.create(NewSession(name, source=source, model=model))
    return InStore(opened, name)
