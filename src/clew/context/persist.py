"""What a context keeps in a store and reads back: messages as they came, epochs, originals, the small counters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from clew.context.codec import counters_in, counters_out, epoch_in, epoch_out
from clew.engine.events import CommitRefused, Committed, Event
from clew.engine.values import Epoch, State
from clew.errors import Conflict, LeaseLost, NotFound, StoreError
from clew.lineage import Held, compacting, new_id
from clew.recall.filters import in_view
from clew.store import NewSession, Original, Store, open_store
from clew.store.records import Epoch as StoredEpoch
from clew.transcript import Message, text_address
from clew.wire import Wire

_COUNTERS = "engine"
_RENEW = 30.0  # seconds between renewals; the lease lasts four times as long


class Keeper:
    """Where a context keeps things. This one keeps nothing: without a store the object is all there is."""

    session = ""

    def messages(self) -> Sequence[Message]:
        return ()

    def epochs(self, _wire: Wire, /) -> Sequence[Epoch]:
        return ()

    def history(self, _wire: Wire, /) -> Sequence[tuple[Epoch, int]]:
        """Every epoch there was, with the log's length when it was undone; -1 where it is in force."""
        return ()

    def restore(self, state: State, /) -> State:
        return state

    def append(self, _messages: Sequence[Message], _at: int, /) -> None:
        """Keep messages from a position on."""

    def commit(self, _epoch: Epoch, _chain: str, _originals: Iterable[str], now: float, /) -> Event:
        return Committed(now)

    def begin(self) -> bool:
        """Take the right to compact; False while another has it. It is renewed until `end`."""
        return True

    def end(self) -> None:
        """Give it back."""

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """While this lasts the right to compact doesn't run out."""
        yield

    def undo(self, _at: int, /) -> None:
        """Keep that the last epoch was dropped when the log had this length."""

    def counters(self, _state: State, /) -> None:
        """Keep what decides when the next epoch comes."""

    def original(self, _ref: str, /) -> str | None:
        return None

    def close(self) -> None:
        """Let go of what was opened for it."""


class InStore(Keeper):
    """A session of a store. An epoch is committed under a lease, and fenced: of two on one prefix one is taken."""

    def __init__(self, store: Store, session: str, *, own: bool = False) -> None:
        self.store = store
        self._own = own  # opened here, so closed here
        self.session = session
        self._numbers: list[int] = []  # of the epochs in force, as the store counts them
        self._leases = ExitStack()
        self._held: Held | None = None

    def messages(self) -> Sequence[Message]:
        return [s.message for s in self.store.messages(self.session)]

    def epochs(self, wire: Wire, /) -> Sequence[Epoch]:
        """The epochs in force: those that were undone are left out."""
        return [epoch for epoch, undone in self.history(wire) if undone < 0]

    def history(self, wire: Wire, /) -> Sequence[tuple[Epoch, int]]:
        undone = {e.body["number"]: e.body["at"] for e in self.store.events(self.session, kind="undo")}
        stored = self.store.epochs(self.session)
        self._numbers = [e.number for e in stored if e.number not in undone]
        return [(epoch_in(e.body, wire), undone.get(e.number, -1)) for e in stored]

    def restore(self, state: State, /) -> State:
        kept = self.store.get_state(self.session, _COUNTERS)
        return counters_in(state, kept.body) if kept is not None else state

    def append(self, messages: Sequence[Message], at: int, /) -> None:
        self.store.append(self.session, messages, at=at)

    def begin(self) -> bool:
        if self._held is None:
            self._held = self._leases.enter_context(compacting(self.store, self.session))
        return self._held is not None

    def end(self) -> None:
        self._held = None
        self._leases.close()

    @contextmanager
    def renewing(self) -> Iterator[None]:
        over = threading.Event()

        def renew() -> None:
            while self._held is not None and not over.wait(_RENEW):
                try:
                    self._held.renew()
                except StoreError:
                    return  # lost: the fenced commit will say so

        thread = threading.Thread(target=renew, name="clew-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()

    def commit(self, epoch: Epoch, chain: str, originals: Iterable[str], now: float, /) -> Event:
        if not self.begin():
            return CommitRefused("another process is compacting this conversation")
        assert self._held is not None
        known = self.store.epochs(self.session)
        number = known[-1].number + 1 if known else 1
        if len(known) > len(self._numbers) + len(self.store.events(self.session, kind="undo")):
            return CommitRefused("another process has compacted this conversation meanwhile")
        try:
            self.store.add_originals(self.session, [Original(text_address(t), t) for t in originals])
            body = {**epoch_out(epoch), **in_view(epoch.base.head, _cut(epoch))}
            stored = StoredEpoch(number, chain, epoch.span.end, body)
            self.store.commit_epoch(self.session, stored, self._held.lease)
        except (LeaseLost, Conflict) as e:
            return CommitRefused(e.message)
        self._numbers.append(number)
        return Committed(now)

    def undo(self, at: int, /) -> None:
        self.store.add_event(self.session, "undo", {"number": self._numbers.pop(), "at": at})

    def counters(self, state: State, /) -> None:
        self.store.put_state(self.session, _COUNTERS, state.length, counters_out(state))

    def original(self, ref: str, /) -> str | None:
        return self.store.original(ref).text

    def close(self) -> None:
        self.end()
        if self._own:
            self.store.close()


def _cut(epoch: Epoch) -> Iterator[int]:
    """The messages behind the handoff that are shown only in part. What a pointer stands for is in view elsewhere."""
    for position, edits in epoch.base.edits.items():
        if position >= epoch.span.end and any(e.strategy != "dedupe" for e in edits):
            yield position


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
    return InStore(opened, name, own=isinstance(store, str))
