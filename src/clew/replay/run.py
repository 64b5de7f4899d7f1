"""The play itself: a view before every answer, its price under a prefix cache, and what it remembers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.catalog import Model, lookup
from clew.economics import weights
from clew.engine.values import Epoch
from clew.replay.memory import Memory, Need
from clew.replay.policies import Policy
from clew.tokens import Counter
from clew.transcript import Message
from clew.wire import problems

_SMALLEST = 1_024  # tokens of a prefix under which nothing is cached


@dataclass(frozen=True, slots=True)
class Step:
    """One request: where it stood, its tokens, what of them was read from the cache, its price, what it remembered."""

    position: int
    tokens: int
    read: int
    billed: float
    full: int  # tokens of sending everything
    full_billed: float
    need: Need
    epoch: int
    problems: int = 0


@dataclass(frozen=True, slots=True)
class Replay:
    """A session under a policy. Prices are in tokens of uncached input."""

    policy: str
    window: int
    steps: tuple[Step, ...]
    epochs: tuple[Epoch, ...]
    prefix_breaks: int  # requests between epochs whose earlier part was not byte for byte what had been sent

    @property
    def need(self) -> Need:
        total = Need()
        for s in self.steps:
            total = total.plus(s.need)
        return total

    @property
    def billed(self) -> float:
        return sum(s.billed for s in self.steps)

    @property
    def full_billed(self) -> float:
        return sum(s.full_billed for s in self.steps)

    @property
    def share(self) -> float:
        """The price against sending everything."""
        return self.billed / self.full_billed if self.full_billed else 1.0

    @property
    def sent(self) -> int:
        return sum(s.tokens for s in self.steps)

    @property
    def hits(self) -> float:
        return sum(s.read for s in self.steps) / self.sent if self.sent else 0.0

    @property
    def peak(self) -> int:
        return max((s.tokens for s in self.steps), default=0)

    @property
    def over(self) -> int:
        """Requests that would not have fitted the window."""
        return sum(s.tokens > self.window for s in self.steps)

    @property
    def invalid(self) -> int:
        return sum(s.problems > 0 for s in self.steps)


class _Cache:
    """What the last request held is read, the rest is written."""

    def __init__(self, overhead: int, read: float, write: float) -> None:
        self._before: list[str] = []
        self._first = True
        self._overhead, self._read, self._write = overhead, read, write

    def bill(self, view: Sequence[Message], sizes: Sequence[int]) -> tuple[float, int, bool]:
        """The price, the tokens read, and whether what was sent before stands unchanged at the beginning."""
        keys = [m.address for m in view]
        same = 0
        for a, b in zip(keys, self._before, strict=False):
            if a != b:
                break
            same += 1
        kept = same == len(self._before)
        read = sum(sizes[:same]) + (0 if self._first else self._overhead)
        fresh = sum(sizes[same:]) + (self._overhead if self._first else 0)
        if read < _SMALLEST:
            read, fresh = 0, fresh + read
        self._before, self._first = keys, False
        return self._read * read + self._write * fresh, read, kept


def replay(
    messages: Sequence[Message],
    policy: Policy,
    name: str,
    *,
    window: int,
    overhead: int = 0,
    model: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """Play a session: before each of the agent's answers the policy gives the view that would have been sent."""
    known = lookup(model) if model else None
    counter = Counter.of(known) if known is not None else Counter("gpt-o200k")
    read, write = _prices(known)
    cache, whole = _Cache(overhead, read, write), _Cache(overhead, read, write)
    memory, said, sizes = Memory(), list[Message](), list[int]()
    steps: list[Step] = []
    breaks = epochs = 0
    for i, m in enumerate(messages):
        if m.role == "assistant" and (not said or said[-1].role != "assistant"):
            view = policy.view()
            toks = [counter.message(x) for x in view]
            billed, hit, kept = cache.bill(view, toks)
            made = len(policy.epochs())
            breaks += not kept and made == epochs
            epochs = made
            full_billed, _, _ = whole.bill(said, sizes)
            wrong = len(problems.problems(list(view), m.wire)) - len(problems.problems(said, m.wire))
            steps.append(
                Step(
                    position=i,
                    tokens=sum(toks) + overhead,
                    read=hit,
                    billed=billed,
                    full=sum(sizes) + overhead,
                    full_billed=full_billed,
                    need=memory.judge(m, view),
                    epoch=made,
                    problems=max(0, wrong),
                )
            )
            if progress is not None:
                progress(i, len(messages))
        size = counter.message(m)
        memory.learn(m, size)
        said.append(m)
        sizes.append(size)
        policy.push(m)
    return Replay(name, window, tuple(steps), tuple(policy.epochs()), breaks)


def _prices(model: Model | None) -> tuple[float, float]:
    if model is None or not model.prices.input:
        return 0.1, 1.25
    w = weights(model.prices)
    return w.read, w.write_5m
