"""Numbers that look random and never change: `random` promises the same sequence for `random()` only."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")
ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class Dice:
    """A stream of choices that depends on its seed alone, in every Python version."""

    def __init__(self, *seed: object) -> None:
        self._seed = repr(seed).encode()
        self._n = 0

    def below(self, limit: int) -> int:
        """A number from 0 up to, not including, `limit`."""
        self._n += 1
        raw = blake2b(self._seed + self._n.to_bytes(8, "big"), digest_size=8).digest()
        return int.from_bytes(raw, "big") % limit

    def between(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def letters(self, length: int, alphabet: str = ALPHANUMERIC) -> str:
        return "".join(self.pick(alphabet) for _ in range(length))

    def hex(self, length: int) -> str:
        return self.letters(length, "0123456789abcdef")

    def shuffled(self, values: Sequence[T]) -> list[T]:
        left = list(values)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent
