"""What one request costs, split by price, and the reason for the split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clew.catalog import Model, Prices

Reason: TypeAlias = Literal[
    "warm",
    "cold start",
    "model changed",
    "prefix changed",
    "expired",
    "below minimum",
    "no breakpoint",
    "beyond lookback",
    "nothing stored",
    "no cache",
]
_MILLION = 1_000_000
_SENTENCES: dict[Reason, str] = {
    "warm": "everything that was stored was read",
    "cold start": "nothing was sent before",
    "model changed": "what was sent before went to another model",
    "prefix changed": "the prefix changed at block {block}: {tokens:,} tokens were not read",
    "expired": "what was stored had expired: {tokens:,} tokens were not read",
    "below minimum": "the prefix is below the {tokens:,} tokens that this model stores",
    "no breakpoint": "the request marks no cache breakpoint",
    "beyond lookback": "the stored prefix ends at block {block}, beyond the lookback of every breakpoint: "
    "{tokens:,} tokens were not read",
    "nothing stored": "the request before stored nothing",
    "no cache": "this model has no prefix cache",
}


@dataclass(frozen=True, slots=True)
class Why:
    """The reason for a bill. `block` is where it shows (0 is the first), `tokens` how many it concerns."""

    reason: Reason
    block: int | None = None
    tokens: int = 0

    def __str__(self) -> str:
        return _SENTENCES[self.reason].format(block=self.block, tokens=self.tokens)


@dataclass(frozen=True, slots=True)
class Bill:
    """The tokens of one request by price; `read + written_5m + written_1h + uncached` is the whole input.

    `written_5m` was written with the provider's ordinary life, `written_1h` with its long one, whatever their lengths.
    `input_cost` and `cost` (with output) are USD. `weight` is the input's cost in tokens of uncached input; it also holds
    for models without a list price, where a read weighs nothing.
    """

    read: int
    written_5m: int
    written_1h: int
    uncached: int
    output: int
    input_cost: float
    cost: float
    weight: float
    why: Why

    @property
    def input(self) -> int:
        return self.read + self.written_5m + self.written_1h + self.uncached


def bill(model: Model, tokens: int, read: int, written_5m: int, written_1h: int, output: int, why: Why) -> Bill:
    """The bill of a request of so many input tokens. Also for usage that a provider reported."""
    uncached = tokens - read - written_5m - written_1h
    if min(read, written_5m, written_1h, uncached, output) < 0:
        raise ValueError(f"{read} read, {written_5m} + {written_1h} written of {tokens} tokens, {output} out")
    p = model.prices_at(tokens)
    cost = (
        uncached * p.input + read * p.cache_read + written_5m * p.cache_write_5m + written_1h * p.cache_write_1h
    ) / _MILLION
    w = weights(p)
    weight = uncached + read * w.read + written_5m * w.write_5m + written_1h * w.write_1h
    return Bill(read, written_5m, written_1h, uncached, output, cost, cost + output * p.output / _MILLION, weight, why)


@dataclass(frozen=True, slots=True)
class Weights:
    """Prices in tokens of uncached input."""

    read: float
    write_5m: float
    write_1h: float
    output: float


def weights(prices: Prices) -> Weights:
    """Every price over that of uncached input. Without a list price (local weights), a read is free, the rest counts 1."""
    unit = prices.input
    if not unit:
        return Weights(read=0.0, write_5m=1.0, write_1h=1.0, output=1.0)
    return Weights(
        prices.cache_read / unit, prices.cache_write_5m / unit, prices.cache_write_1h / unit, prices.output / unit
    )
