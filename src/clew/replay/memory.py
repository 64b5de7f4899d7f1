"""What a view remembers: of the names a step needs and that were said before, how many it still shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clew.ledger.names import names_in, spoken
from clew.transcript import Message

FAR = 8_000  # tokens since the last mention from which on a name counts as far
_LONG = 400  # a longer line that the policy wrote itself is no memory a reader could use
_CROWDED = 12  # nor is one with more names


@dataclass(frozen=True, slots=True)
class Need:
    """Counts of one step, or their sum."""

    needed: int = 0
    had: int = 0
    far: int = 0
    far_had: int = 0
    calls: int = 0
    ready: int = 0

    def plus(self, other: Need) -> Need:
        return Need(
            self.needed + other.needed,
            self.had + other.had,
            self.far + other.far,
            self.far_had + other.far_had,
            self.calls + other.calls,
            self.ready + other.ready,
        )

    @property
    def recall(self) -> float:
        return self.had / self.needed if self.needed else 1.0

    @property
    def far_recall(self) -> float:
        return self.far_had / self.far if self.far else 1.0

    @property
    def readiness(self) -> float:
        return self.ready / self.calls if self.calls else 1.0


class Memory:
    """The names of a session as it goes, and what a view shows of them. Each message is read once."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._position = 0
        self._given: set[str] = set()
        self._lines: set[int] = set()
        self._shown: dict[str, frozenset[str]] = {}

    def learn(self, message: Message, tokens: int) -> None:
        """The next message was said."""
        self._position += tokens
        text = flat(message)
        names = names_in(text)
        if message.role in ("system", "developer"):
            self._given |= names
        self._lines |= {hash(line.strip()) for line in text.split("\n")}
        for name in names:
            self._last[name] = self._position

    def judge(self, step: Message, view: Iterable[Message]) -> Need:
        """What `step`, about to be said, needs of what was said before, and how much of it the view shows."""
        shown: set[str] = set()
        for m in view:
            shown |= self._names_of(m)
        needed = {n for n in names_in(flat(step)) if n in self._last and n not in self._given}
        far = {n for n in needed if self._position - self._last[n] > FAR}
        calls = [{n for n in names_in(spoken(c)) if n in self._last and n not in self._given} for c in step.calls]
        calls = [c for c in calls if c]
        return Need(
            len(needed), len(needed & shown), len(far), len(far & shown), len(calls), sum(c <= shown for c in calls)
        )

    def _names_of(self, message: Message) -> frozenset[str]:
        key = message.address
        if key not in self._shown:
            self._shown[key] = frozenset(n for line in flat(message).split("\n") for n in self._readable(line))
        return self._shown[key]

    def _readable(self, line: str) -> frozenset[str]:
        names = names_in(line)
        if hash(line.strip()) in self._lines or (len(line) <= _LONG and len(names) <= _CROWDED):
            return names
        return frozenset()


def flat(message: Message) -> str:
    """A message's words, its calls as their values."""
    return "\n".join([message.text, *(spoken(c) for c in message.calls)])
