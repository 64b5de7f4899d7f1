"""From log and epochs to what is sent: kept up as the conversation grows (`View`), and from scratch (`fold`), which is
the oracle that tests compare it with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.context.log import Log
from clew.engine.plan import shown
from clew.engine.values import EMPTY_BASE, Base, Epoch
from clew.strategies.base import Edit
from clew.transcript import Message

Edits = Mapping[int, tuple[Edit, ...]]


class View:
    """The messages to send now. Growing costs O(new); a new base costs its own size."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.base: Base = EMPTY_BASE

    def grow(self, message: Message) -> None:
        self.messages.append(message)

    def rebase(self, log: Log, base: Base, arrival: Edits) -> None:
        self.base = base
        self.messages = [*base.messages, *_tail(log, base, arrival, len(log.transcript))]


def fold(log: Log, epochs: Sequence[Epoch], arrival: Edits, length: int | None = None) -> list[Message]:
    """What the model saw when the log had `length` messages: the last epoch before that, and the messages after it."""
    end = len(log.transcript) if length is None else length
    base = next((e.base for e in reversed(epochs) if e.at <= end), EMPTY_BASE)
    return [*base.messages, *_tail(log, base, arrival, end)]


def _tail(log: Log, base: Base, arrival: Edits, end: int) -> list[Message]:
    """An epoch decides anew what the messages up to it show; later ones show what was decided on their arrival."""
    return [
        shown(log.transcript[i], base.edits.get(i, ()) if i < base.at else arrival.get(i, ()))
        for i in range(base.tail, end)
    ]
