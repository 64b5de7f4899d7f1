"""All branches of one conversation in this worker, and the way from a request to the branch it goes on with.

Branches are sessions of the store. Each is named by what it shares with its parent and its first own message, so that
every worker finds the same one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from clew import jsonio
from clew.catalog import Model
from clew.config import Settings
from clew.errors import ClewError, Conflict, NotFound, StoreError
from clew.gateway.align import Alignment
from clew.gateway.conversation import Conversation
from clew.gateway.identity import Identity, output_limit
from clew.gateway.live import Live
from clew.gateway.recall_tool import Kept
from clew.store import NewSession, Store
from clew.tokens import Counter
from clew.wire import Request

_BRANCHES = 64  # deeper, and something is wrong with the client or with us
_OPEN = 4  # branches that are kept in memory
_AHEAD = 0.8  # of the threshold: from there on a handoff is prepared, where a model writes it
_DRIFT = 0.02  # of the window: how far tools and system may grow before the limits are set anew
_ROOM = 2_000  # tokens that a conversation must have besides output, system and tools


class Tangled(ClewError):
    """A conversation has more branches upon branches than are followed; its requests pass as they are."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a request says of the room it has. `overhead` are the tokens of its system prompt and tools."""

    wire: str
    model: str
    window: int
    output: int
    overhead: int

    def near(self, other: Shape) -> bool:
        """Whether the limits that were set for the other still do."""
        same = (self.wire, self.model, self.window, self.output) == (
            other.wire,
            other.model,
            other.window,
            other.output,
        )
        return same and abs(self.overhead - other.overhead) <= _DRIFT * self.window


def shape_of(request: Request, settings: Settings, model: Model, *, window: int = 0) -> Shape | None:
    """The room of a request; None where system and tools alone leave none. `window` goes before the catalogue's."""
    room = window or model.window
    counter = Counter.of(model)
    overhead = counter.tools(request.tools) if request.tools else 0
    if request.system is not None:
        overhead += counter.system(request.system)
    output = settings.compression.max_output or output_limit(request) or min(model.max_output, room // 8)
    output = min(output, room // 2)
    if room - output - overhead < _ROOM:
        output = min(output, room // 8)
    if room - output - overhead < _ROOM:
        return None
    return Shape(request.wire, request.model or "unknown", room, output, overhead)


class Family:
    """One conversation and what branched off it, in the store of whose it is. To be used under its `lock`."""

    def __init__(self, who: Identity, store: Store, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self.lock = threading.Lock()
        self.used = 0.0
        self._who = who
        self._store = store
        self._settings = settings
        self._clock = clock
        self._open: dict[str, Conversation] = {}
        self._shape: Shape | None = None
        self._kept: Kept | None = None
        self.tooled = False  # whether its requests offer recall as a tool

    def kept(self, wire: str) -> Kept:
        """What is kept of recall with it."""
        if self._kept is None:
            self._kept = Kept(self._store, self._who.session, wire)
        return self._kept

    @property
    def tenant(self) -> str:
        return self._who.tenant

    @property
    def name(self) -> str:
        """The same for all of its branches."""
        return self._who.session

    def add_usage(self, session: str, model: str, figures: Mapping[str, float]) -> None:
        """Onto the sums that the store keeps of a branch."""
        self._store.add_usage(session, model or "unknown", figures)

    def find(self, request: Request, shape: Shape) -> tuple[Conversation, Alignment]:
        """The branch that a request goes on with, made where there is none yet."""
        self._fit(shape)
        for session in reversed(list(self._open)):  # the one used last first
            conversation = self._current(session)
            places = conversation.align(request)
            if places.fork < 0:
                return self._used(session, conversation), places
        session, parent, shared = self._who.session, "", 0
        for _ in range(_BRANCHES):
            conversation = self._current(session, parent, shared)
            places = conversation.align(request)
            if places.fork < 0:
                return self._used(session, conversation), places
            parent, shared = session, _shareable(conversation.live, places.fork)
            session = self._branch(parent, conversation.keys(places.at))
        raise Tangled(f"{self._who.session} has over {_BRANCHES} branches upon branches", hint="start a new session")

    def reopened(self, conversation: Conversation, shape: Shape) -> Conversation:
        """The same branch under other limits."""
        session = conversation.live.session_id
        self._fit(shape)
        return self._used(session, self._current(session))

    def close(self) -> None:
        """What the store holds stays."""
        for conversation in self._open.values():
            with suppress(StoreError):  # its counters are of the last turn; the next one writes them again
                conversation.live.close()
        self._open.clear()

    def _fit(self, shape: Shape) -> None:
        """Limits are set when a session is opened, so for others it is opened again."""
        if self._shape is None or not shape.near(self._shape):
            self.close()
            self._shape = shape

    def _current(self, session: str, parent: str = "", shared: int = 0) -> Conversation:
        """A session with everything that other workers added to it."""
        held = self._open.get(session)
        if held is None:
            if parent:
                self._make(session, parent, shared)
            held = self._open[session] = Conversation(self._live(session))
            while len(self._open) > _OPEN:
                self._open.pop(next(iter(self._open))).live.close()
            return held
        if not held.live.alone(self._store):
            fresh = [s.message for s in self._store.messages(session, held.live.length)]
            held.live.catch_up(fresh)
            held.note()
        return held

    def _used(self, session: str, conversation: Conversation) -> Conversation:
        self._open[session] = self._open.pop(session, conversation)
        return conversation

    def _make(self, session: str, parent: str, shared: int) -> None:
        try:
            self._store.session(session)
        except NotFound:
            new = NewSession(
                session, source="gateway", model=self._named(), kind="branch", parent=parent, shared=shared
            )
            try:
                self._store.create(new)
            except Conflict:
                return  # another worker was faster

    def _live(self, session: str) -> Live:
        assert self._shape is not None
        shape = self._shape

        def opened() -> Live:
            return Live(
                shape.window,
                model=shape.model,
                wire=shape.wire,
                store=self._store,
                session_id=session,
                max_output=shape.output,
                config=self._settings,
                clock=self._clock,
                overhead=shape.overhead,
                recall="tool" if self.tooled else "command" if self._who.shell else "",
                source="gateway",
                prepare_ahead=_AHEAD,
            )

        try:
            return opened()
        except Conflict:  # another worker made it at the same moment
            return opened()

    def _named(self) -> str:
        return self._shape.model if self._shape is not None else ""

    def _branch(self, parent: str, keys: object) -> str:
        name = jsonio.digest(jsonio.canonical([parent, keys]))[:16]
        return f"{self._who.session}-{name}"


def _shareable(live: Live, at: int) -> int:
    """How much of a session a branch at `at` can share: an epoch that looks beyond that is made anew by the branch."""
    ends = [e.span.end for e in live.epochs if e.span.end <= at < e.at]
    return min([at, *(end - 1 for end in ends)])
