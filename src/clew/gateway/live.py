"""A context that several processes share and that never makes a request wait for a model's words it can do without."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.context import Context
from clew.context.codec import counters_out
from clew.engine.events import Asked, CallModel, Effect, Event
from clew.engine.pressure import estimate, removable
from clew.engine.values import Phase
from clew.store import Store
from clew.strategies import Edit
from clew.transcript import Message, Span

_BEHIND = 4  # messages that names and facts may be behind
_PIECE = 4  # messages in one go
_LOOK = 0.05  # seconds between two looks at a summary under way


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the view. `position` is the message of the log that it shows, -1 for one that the epoch made;
    `edits` are what was shortened of it.
    """

    message: Message
    position: int
    edits: tuple[Edit, ...] = ()


class Live(Context):
    """`Context` as the gateway needs it; to be used by one thread at a time but for its own background work."""

    def step(self, event: Event) -> tuple[Effect, ...]:
        """A summary that is wanted but not needed yet is written in the background; the old view is sent meanwhile."""
        effects = super().step(event)
        if not isinstance(event, Asked) or estimate(self._state) > self._state.limits.hard:
            return effects
        return tuple(replace(e, background=True) if isinstance(e, CallModel) else e for e in effects)

    def wait_for_summary(self, seconds: float) -> None:
        """Where the view can't be sent and a summary is being written, wait for it, so long at most."""
        end = time.monotonic() + seconds
        while self.summarising and estimate(self._state) > self._state.limits.hard and time.monotonic() < end:
            time.sleep(_LOOK)

    def rest(self) -> bool:
        """While nobody waits: some of what a compaction would have to do first; whether there is more of it. Nothing,
        while the conversation is too short for one: most never come to it.
        """
        if removable(self._state) <= 0:
            return False
        with self._lock:
            return self._log.catch_up(_BEHIND, _PIECE)

    @property
    def summarising(self) -> bool:
        return self._state.phase is Phase.SUMMARISING

    @property
    def shown_from(self) -> int:
        """The first message of the log that the view shows behind the handoff; 0 where there is none."""
        return self._state.base.tail

    @property
    def handoff(self) -> Span | None:
        """The messages of the view that hold the handoff; None before the first epoch."""
        return self._state.base.handoff if self._epochs else None

    @property
    def used(self) -> int:
        """Tokens of the next request as it would be sent, as the provider would count them."""
        return estimate(self._state) + self._state.limits.overhead

    @property
    def counted(self) -> int:
        """The same by our own count alone, whatever a provider said."""
        return self._state.view_tokens + self._state.limits.overhead

    @property
    def window(self) -> int:
        return self._state.limits.window

    @property
    def length(self) -> int:
        return len(self._log.transcript)

    def log_messages(self) -> Sequence[Message]:
        return self._log.transcript.slice(0)

    def shown(self) -> list[Shown]:
        """The view, each message with what of the log it shows."""
        with self._lock:
            base, log = self._state.base, self._log.transcript
            out = []
            for k, m in enumerate(self._view.messages[: len(base.messages)]):
                same = k < base.head and log[k].raw == m.raw
                out.append(Shown(m, k if same else -1))
            for i, m in enumerate(self._view.messages[len(base.messages) :], base.tail):
                edits = base.edits.get(i, ()) if i < base.at else self._arrival.get(i, ())
                out.append(Shown(m, i, edits))
            return out

    def original_of(self, position: int) -> Message:
        """A message of the log as it came first."""
        return self._log.transcript[position]

    @property
    def shortens(self) -> bool:
        """Whether the view differs from the log."""
        return bool(self._epochs or self._arrival)

    def alone(self, store: Store) -> bool:
        """Whether nobody else has gone on with this session since this object last did."""
        kept = store.get_state(self.session_id, "engine")
        here = (self._state.length, counters_out(self._state))
        return kept is None or (kept.position, kept.body) == here

    def catch_up(self, messages: Sequence[Message]) -> None:
        """Take over what other processes wrote: these messages follow, and the epochs they made stand where they were
        made.
        """
        with self._lock:
            fresh = list(self._keeper.epochs(self._wire))[len(self._epochs) :]
            for m in (None, *messages):
                if m is not None:
                    self._take(m)
                while fresh and fresh[0].at <= self.length:
                    self._adopt(fresh.pop(0))
            self._state = self._keeper.restore(self._state)
