"""What the same requests would have cost with everything sent, and no window to stop them: the cache model's bill."""

from __future__ import annotations

from collections.abc import Iterable

from clew.catalog import Model
from clew.economics import Bill, Block, CacheState, Request, price
from clew.jsonio import Json
from clew.tokens import Counter
from clew.transcript import Message

_ROLLING = 3  # messages at the end that a careful client marks for the cache, besides its system prompt


class Whole:
    """Grows with the conversation; counts and hashes only what is new."""

    def __init__(self, model: Model, tools: Iterable[Json], system: Json) -> None:
        self._model = model
        self._counter = Counter.of(model)
        first = [Block(f"tool {n}", self._counter.tools([t])) for n, t in enumerate(tools)]
        if system:
            first.append(Block("system", self._counter.system(system)))
        self._request = Request.of(first)
        self._system = len(first) - 1
        self._state = CacheState()

    @property
    def tokens(self) -> int:
        return self._request.tokens

    def add(self, messages: Iterable[Message]) -> None:
        self._request = self._request.then(Block(m.address, self._counter.message(m)) for m in messages)

    def bill(self, output: int, now: float) -> Bill:
        """One request with all that was added so far."""
        end = len(self._request.chains)
        marks = {self._system, *range(max(0, end - _ROLLING), end)} - {-1}
        self._state, billed = price(
            self._state, self._request.marked((m, "5m") for m in marks), self._model, now, output
        )
        return billed
