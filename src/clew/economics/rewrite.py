"""What it costs to change something that was sent before, and when that has paid for itself.

Ski rental, without a forecast: every request that re-reads tokens which an epoch would remove pays rent on them; once
the rent equals the price of the epoch, it has paid for itself. Whatever comes, and as long as that price stays the same,
this costs at most twice what someone who knew the future would have paid.
"""

from __future__ import annotations

from dataclasses import dataclass

from clew.catalog import Model
from clew.economics.bill import weights
from clew.economics.cache import CacheState, readable, usable_marks
from clew.economics.request import Request, Ttl

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a change costs the next request: tokens sent again at the full price that would have been read.

    `cost` is USD and `weight` tokens of uncached input; both are the difference, (write - read) for each token.
    """

    tokens: int
    cost: float
    weight: float


def rewrite_price(
    state: CacheState, request: Request, model: Model, block: int, now: float, removed: int = 0
) -> Rewrite:
    """The price of changing `request` from `block` on, after which it is `removed` tokens shorter.

    `request` is what would be sent without the change, with its cache marks. With a cold cache the price is zero.
    """
    warm = readable(state, request, model, now).tokens
    kept = readable(state, request, model, now, before=block).tokens
    again = max(0, warm - kept - max(0, removed))
    marks = usable_marks(request, model)
    life: Ttl | None = marks[-1][1] if marks else None
    prices = model.prices_at(request.tokens)
    w = weights(prices)
    write_weight = {"1h": w.write_1h, "5m": w.write_5m, None: 1.0}[life]
    write_price = {"1h": prices.cache_write_1h, "5m": prices.cache_write_5m, None: prices.input}[life]
    return Rewrite(
        again,
        again * max(0.0, write_price - prices.cache_read) / _MILLION,
        again * max(0.0, write_weight - w.read),
    )


def epoch_cost(rewrite: float, summary: float = 0.0, refetch: float = 0.0) -> float:
    """What an epoch costs in all: the rewrite, the summary call and what is expected to be fetched again.

    All three in one unit: a `Rewrite`'s `weight` (which also holds without list prices) or its `cost`.
    """
    return rewrite + summary + refetch


@dataclass(frozen=True, slots=True)
class SkiRental:
    """The rent paid since the last epoch. Begin each epoch with `SkiRental()`."""

    rent: float = 0.0
    requests: int = 0


def accrue(state: SkiRental, removable_tokens: int, read_price: float) -> SkiRental:
    """After a request: it re-read this many tokens that an epoch would remove, at this price each.

    Use the unit of the cost given to `due`: `weights(model.prices).read` for weights.
    """
    if removable_tokens < 0 or read_price < 0:
        raise ValueError("rent can't be negative")
    return SkiRental(state.rent + removable_tokens * read_price, state.requests + 1)


def due(state: SkiRental, rewrite_cost: float) -> bool:
    """Whether the rent has reached the price; a price of zero (a cold cache) is always reached."""
    return state.rent >= rewrite_cost
