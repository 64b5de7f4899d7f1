"""The log of one conversation: its messages and what is derived from each as it arrives. It only grows."""

from __future__ import annotations

from clew.ledger import Builder, Ledger
from clew.ledger.names import Names
from clew.tokens import Counter
from clew.transcript import Image, Message, Place, Transcript, reference
from clew.wire import Wire


class Log:
    """The transcript with sizes, names and ledger, each kept O(new). Not safe to use from several threads at once."""

    def __init__(self, wire: Wire, counter: Counter, *, alternates: bool) -> None:
        self.wire = wire
        self.counter = counter
        self.alternates = alternates
        self.transcript = Transcript()
        self._names = Names()
        self._sizes: list[int] = []
        self._builder = Builder()
        self._read = 0  # messages that names and ledger have taken in
        self._snapshot: Ledger | None = None
        self.last_user = -1
        self.last_pictured = -1
        self._originals: dict[str, Place] = {}

    def append(self, message: Message) -> int:
        """Take a message in; its size in tokens."""
        position = self.transcript.append(message)
        size = self.counter.message(message)
        self._sizes.append(size)
        if message.is_user_turn:
            self.last_user = position
            if any(isinstance(p, Image) for p in message.parts):
                self.last_pictured = position
        self._originals[reference(message.address)] = Place(position, -1)
        return size

    def size(self, position: int) -> int:
        return self._sizes[position]

    def count(self, message: Message) -> int:
        return self.counter.message(message)

    def measure(self, text: str) -> int:
        return self.counter.text(text)

    @property
    def names(self) -> Names:
        self.catch_up()
        return self._names

    def ledger(self) -> Ledger:
        self.catch_up()
        if self._snapshot is None:
            self._snapshot = self._builder.ledger()
        return self._snapshot

    def catch_up(self, least: int = 1, most: int = 0) -> bool:
        """Take in what came since, where it is so many messages; no more than `most` of them, without it all. Whether it
        is behind still. Names and facts are only asked for when something is compacted: nobody need wait for them before.
        """
        if len(self.transcript) - self._read < least:
            return False
        end = min(len(self.transcript), self._read + most) if most else len(self.transcript)
        for position in range(self._read, end):
            message = self.transcript[position]
            self._names.observe(message)
            self._builder.observe(position, message, self.transcript)
            self._snapshot = None
        self._read = end
        return len(self.transcript) - end >= least

    def original(self, ref: str) -> Message | None:
        """The message a reference stands for, where it is one of this log's."""
        place = self._originals.get(ref)
        return self.transcript[place.message] if place is not None else None
