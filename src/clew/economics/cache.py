"""The provider's prefix cache over time, as a value: a request goes in, a new state and a bill come out.

What it leaves out: requests in flight at the same time, a provider's routing misses and evictions under load, and
prefixes that another session of the same account keeps warm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from clew.catalog import Model
from clew.economics.bill import Bill, Why, bill
from clew.economics.request import Request, Ttl

_REMEMBERED = 16  # branches of a conversation whose ends are kept


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored prefix: of which model, how many blocks, until when it lives, and how long a use prolongs it."""

    model: str
    chain: bytes
    blocks: int
    expires: float
    life: float


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that was sent, and how many of its blocks the cache kept at the most."""

    model: str
    chains: tuple[bytes, ...]
    stored: int
    expires: float


@dataclass(frozen=True, slots=True)
class CacheState:
    """What the provider is thought to hold. Begin with `CacheState()`; `price` returns the next one."""

    entries: tuple[Entry, ...] = ()
    seen: tuple[Seen, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """How much of a request the cache holds: blocks and tokens (a step may end inside a block)."""

    blocks: int = 0
    tokens: int = 0
    chain: bytes = b""


def price(state: CacheState, request: Request, model: Model, now: float, output: int = 0) -> tuple[CacheState, Bill]:
    """What this request costs if it is sent `now` (seconds on any clock that only goes forward), and why."""
    hit = readable(state, request, model, now)
    marks = usable_marks(request, model)
    written: dict[Ttl, int] = {"1h": 0, "5m": 0}
    done = hit.tokens
    for block, ttl in marks:
        written[ttl] += max(0, request.totals[block] - done)
        done = max(done, request.totals[block])
    why = _why(state, request, model, now, hit)
    charged = bill(model, request.tokens, hit.tokens, written["5m"], written["1h"], output, why)
    return _stored(state, request, model, now, hit), charged


def readable(
    state: CacheState, request: Request, model: Model, now: float, before: int | None = None, *, live: bool = True
) -> Hit:
    """What the cache holds of this request's first `before` blocks (of all, without it).

    With `live` false, entries whose time has passed count too.
    """
    rules = model.cache
    limit = len(request.chains) if before is None else max(0, min(before, len(request.chains)))
    if rules.kind == "none" or limit == 0:
        return Hit()
    if rules.hits == "step":
        most = max((n for n, s in _branches(state, request, model) if not live or s.expires > now), default=0)
        blocks = min(most, limit)
        tokens = request.upto(blocks) // rules.step * rules.step
        return Hit(blocks, tokens) if tokens >= max(rules.minimum, 1) else Hit()
    best = Hit()
    marks = [i for i, _ in usable_marks(request, model)]
    for entry in state.entries:
        at = entry.blocks - 1
        if entry.model != model.name or not best.blocks < entry.blocks <= limit or (live and entry.expires <= now):
            continue
        if request.chains[at] == entry.chain and any(_within(rules.lookback, mark - at) for mark in marks):
            best = Hit(entry.blocks, request.totals[at], entry.chain)
    return best


def usable_marks(request: Request, model: Model) -> tuple[tuple[int, Ttl], ...]:
    """The places where the provider stores this request's prefix: its own choice and the marks it accepts.

    It refuses more marks than its maximum and a long life after a short one; here the last ones count, and the long
    life is taken for a short one. `problems` names both.
    """
    rules = model.cache
    if rules.kind == "none" or rules.hits == "step" or not request.chains:
        return ()
    last = len(request.chains) - 1
    marks: list[tuple[int, Ttl]] = list(request.marks)
    if rules.kind == "automatic" and not any(i == last for i, _ in marks):
        marks.append((last, "5m"))
    out: list[tuple[int, Ttl]] = []
    short = False
    for i, ttl in marks[-rules.max_breakpoints :]:
        short = short or ttl == "5m" or not rules.long_ttl
        if request.totals[i] >= rules.minimum:
            out.append((i, "5m" if short else ttl))
    return tuple(out)


def problems(request: Request, model: Model) -> tuple[str, ...]:
    """Why the provider would refuse these cache marks; empty where it wouldn't."""
    rules = model.cache
    if rules.kind == "none" or rules.hits == "step":
        return ()
    out = []
    allowed = rules.max_breakpoints - (rules.kind == "automatic")
    if len(request.marks) > allowed:
        out.append(f"{len(request.marks)} cache marks where {model.name} takes {allowed}")
    lives = [ttl for _, ttl in request.marks]
    if "5m" in lives and "1h" in lives[lives.index("5m") :]:
        out.append("a mark with a life of one hour stands after one of five minutes")
    return tuple(out)


def _within(lookback: int, distance: int) -> bool:
    return distance >= 0 and (lookback == 0 or distance < lookback)


def _branches(state: CacheState, request: Request, model: Model) -> Iterator[tuple[int, Seen]]:
    """The remembered requests to this model, with the number of blocks shared with each."""
    return ((request.shared(s.chains), s) for s in state.seen if s.model == model.name)


def _stored(state: CacheState, request: Request, model: Model, now: float, hit: Hit) -> CacheState:
    """The state after this request: what it used lives longer, what it wrote is new, what has expired is gone."""
    rules = model.cache
    entries = {(e.model, e.chain): e for e in state.entries if e.expires > now}
    if hit.chain:
        used = entries[model.name, hit.chain]
        entries[model.name, hit.chain] = replace(used, expires=now + used.life)
    stored = len(request.chains) if rules.hits == "step" and request.tokens >= rules.minimum else 0
    expires = now + rules.ttl
    for block, ttl in usable_marks(request, model):
        key = (model.name, request.chains[block])
        life = max(rules.long_ttl if ttl == "1h" else rules.ttl, entries[key].life if key in entries else 0)
        entries[key] = Entry(model.name, request.chains[block], block + 1, now + life, life)
        stored, expires = block + 1, now + life
    mine = Seen(model.name, request.chains, 0 if rules.kind == "none" else stored, expires)
    others = (s for s in state.seen if s.model != model.name or request.shared(s.chains) < len(s.chains))
    return CacheState(tuple(entries.values()), (*others, mine)[-_REMEMBERED:])


def _why(state: CacheState, request: Request, model: Model, now: float, hit: Hit) -> Why:
    """The one reason that tells most about how much was, or wasn't, read."""
    rules = model.cache
    if rules.kind == "none":
        return Why("no cache")
    if request.tokens < rules.minimum:
        return Why("below minimum", tokens=rules.minimum)
    if rules.hits == "breakpoint" and not usable_marks(request, model):
        return Why("below minimum" if request.marks else "no breakpoint", tokens=rules.minimum if request.marks else 0)
    branches = list(_branches(state, request, model))
    if not branches:
        return Why("model changed" if state.seen else "cold start")
    shared, last = max(branches, key=lambda b: (b[0], b[1].expires))
    wanted = min(shared, last.stored)
    if 0 < last.stored <= shared and hit.blocks >= wanted:
        return Why("warm")
    past = readable(state, request, model, now, live=False)
    if past.tokens > hit.tokens or (hit.blocks < wanted and last.expires <= now):
        return Why("expired", tokens=max(past.tokens, request.upto(wanted)) - hit.tokens)
    if shared < last.stored:
        return Why("prefix changed", block=shared, tokens=request.tokens - hit.tokens)
    if last.stored == 0:
        return Why("nothing stored")
    return Why("beyond lookback", block=wanted - 1, tokens=request.upto(wanted) - hit.tokens)
