"""What the requests cost: as recorded, as the cache model foretells, and without a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clew.catalog import Model
from clew.economics import Bill, Block, CacheState, Request, Ttl, Why, bill, price
from clew.inspect.requests import Sent
from clew.inspect.values import Cost, Costs, Miss

_STEP = 5.0  # seconds between requests where the file has no times
_MISSED = 0.05  # of the prompt, and
_LEAST = 1_000  # tokens: less is no miss worth a line
_SHOWN = 20
_OTHERWISE = "the file doesn't say why"
_WHY = Why("no cache")


@dataclass(frozen=True, slots=True)
class Priced:
    """One request with its bills."""

    sent: Sent
    model: Model
    recorded: Bill | None
    forecast: Bill
    uncached: Bill

    @property
    def paid(self) -> Bill:
        return self.recorded or self.forecast


def price_all(sent: Sequence[Sent], model_of: Callable[[str], Model]) -> list[Priced]:
    """Every request of one chain priced, in order."""
    state, now, out = CacheState(), 0.0, []
    for s, request in zip(sent, _requests(sent), strict=True):
        model = model_of(s.model)
        now = max(now + 0.001, s.time) if s.time is not None else now + _STEP
        last = len(request.chains) - 1
        life: Ttl = "1h" if s.usage and s.usage.cache_write_1h else "5m"
        marks = sorted({0, last}) if model.cache.kind == "explicit" and last >= 0 else []
        state, forecast = price(state, request.marked((i, life) for i in marks), model, now, s.output)
        u = s.usage
        recorded = (
            bill(model, u.prompt, u.cache_read, u.cache_write_5m, u.cache_write_1h, s.output, forecast.why)
            if u
            else None
        )
        out.append(Priced(s, model, recorded, forecast, bill(model, s.prompt, 0, 0, 0, s.output, _WHY)))
    return out


def _requests(sent: Iterable[Sent]) -> Iterator[Request]:
    """Each as the cache sees it, with sizes that make its prompt come out: what a request adds is shared among its new
    blocks by their counted tokens.
    """
    sizes: dict[str, int] = {}
    request = Request()
    for s in sent:
        if s.fresh:
            new = [b for b in s.blocks if b[0] not in sizes]
            known = sum(sizes[k] for k, _ in s.blocks if k in sizes)
        else:
            new, known = list(s.blocks), request.tokens
        grown = s.prompt - known
        if grown > 0 and not any(weight for _, weight in new):
            new.append((f"unseen {s.number}", grown))
        _share(sizes, new, max(0, grown))
        blocks = [Block(k, sizes[k]) for k, _ in (*(s.blocks if s.fresh else ()), *new) if k in sizes]
        if s.fresh:
            blocks = list({b.key: b for b in blocks}.values())
        request = (Request() if s.fresh else request).then(blocks)
        yield _cut(request, s) if grown < 0 else request


def _share(sizes: dict[str, int], new: list[tuple[str, int]], tokens: int) -> None:
    left, weight = tokens, sum(w for _, w in new)
    for key, w in new:
        sizes[key] = round(left * w / weight) if weight else 0
        left, weight = left - sizes[key], weight - w


def _cut(request: Request, s: Sent) -> Request:
    """Something left the prompt that the file doesn't name: taken from the end, for this request."""
    keep = next((i for i, total in enumerate(request.totals) if total > s.prompt), len(request.totals))
    short = Request(request.chains[:keep], request.totals[:keep])
    rest = s.prompt - short.tokens
    return short.then([Block(f"shortened {s.number}", rest)]) if rest > 0 or not keep else short


def costs(priced: Sequence[Sequence[Priced]]) -> Costs:
    """The sum over all chains of a file."""
    every = [p for chain in priced for p in chain]
    recorded = bool(every) and all(p.recorded for p in every)
    found = [m for chain in priced for m in _misses(chain)]
    worst = sorted(found, key=lambda m: (-m.cost, -m.tokens, m.request))[:_SHOWN]
    return Costs(
        source="recorded" if recorded else "forecast",
        paid=_sum(p.paid for p in every),
        forecast=_sum(p.forecast for p in every),
        uncached=_sum(p.uncached for p in every),
        misses=tuple(worst),
        missed=len(found),
        missed_tokens=sum(m.tokens for m in found),
        missed_cost=sum(m.cost for m in found),
    )


def _sum(bills: Iterable[Bill]) -> Cost:
    n = read = written = uncached = output = 0
    input_cost = cost = 0.0
    for b in bills:
        n, read, written = n + 1, read + b.read, written + b.written_5m + b.written_1h
        uncached, output = uncached + b.uncached, output + b.output
        input_cost, cost = input_cost + b.input_cost, cost + b.cost
    return Cost(n, read, written, uncached, output, round(input_cost, 6), round(cost, 6))


def _misses(chain: Sequence[Priced]) -> Iterator[Miss]:
    """Requests that were billed again for what the one before them had left in the cache."""
    for before, now in pairwise(chain):
        kept = before.paid.read + before.paid.written_5m + before.paid.written_1h
        could = min(kept if now.model.cache.hits == "breakpoint" else before.sent.prompt, now.sent.prompt)
        missed = could - now.paid.read
        if now.model.cache.kind == "none" or missed <= max(_LEAST, _MISSED * now.sent.prompt):
            continue
        idle = None
        if now.sent.time is not None and before.sent.time is not None:
            idle = max(0.0, now.sent.time - before.sent.time)
        yield Miss(now.sent.number, missed, round(_extra(now, missed), 6), _reason(before, now), idle)


def _extra(p: Priced, missed: int) -> float:
    """What those tokens cost beyond being read."""
    prices, paid = p.model.prices_at(p.sent.prompt), p.paid
    if paid.written_1h > paid.written_5m:
        each = prices.cache_write_1h
    else:
        each = prices.cache_write_5m if paid.written_5m > paid.uncached else prices.input
    return max(0.0, missed * (each - prices.cache_read) / 1_000_000)


def _reason(before: Priced, now: Priced) -> str:
    if now.sent.after_compaction:
        return "a compaction rewrote the conversation"
    if before.model.name != now.model.name:
        return "the model was changed"
    match now.forecast.why.reason:
        case "expired":
            return "the cache had expired"
        case "prefix changed":
            return "an earlier part of the prompt changed"
        case _:
            return _OTHERWISE
