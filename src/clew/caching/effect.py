"""What caching did in a session, as the provider reports it, beside what the cache model foretold; and, where a prefix
changed that should have stayed, which block it was and who changed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from clew.caching.blocks import Listed, listed, whole
from clew.catalog import Model
from clew.economics import CacheState, Reason, price
from clew.economics import Request as Priced
from clew.tokens import Counter
from clew.wire import Request
from clew.wire.usage import Usage

Side: TypeAlias = Literal["client", "clew", "provider"]
_KEPT = 20  # warnings, the newest
_SHORT = 0.05  # of the forecast: what the provider may read less before it is worth a word, and at least
_LEAST = 1_000  # tokens
_COLD = CacheState()


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as the cache sees it: its blocks, with the name of each, and the hashes of what the client had sent."""

    priced: Priced
    names: tuple[str, ...]
    client: tuple[bytes, ...]
    client_names: tuple[str, ...]
    ours: Listed = field(repr=False, compare=False)
    theirs: Listed = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Changed:
    """A prefix that wasn't read though it was stored. `tokens` is how many the provider might have read."""

    request: int
    place: str
    side: Side
    tokens: int

    def __str__(self) -> str:
        lost = f"about {self.tokens:,} cached tokens were not read"
        if self.side == "provider":
            return f"request {self.request}: {lost}, though the prefix was the same and its life not over"
        who = "the client" if self.side == "client" else "Clew"
        return f"request {self.request}: {lost}: {self.place} was changed by {who}"


@dataclass(frozen=True, slots=True)
class Effect:
    """A session's tokens by how they were billed, reported and foretold. Begin with `NO_EFFECT`.

    The forecast is scaled to the prompt that the provider reported, so the two differ in how it was split only.
    """

    requests: int = 0
    read: int = 0
    written: int = 0
    uncached: int = 0
    forecast_read: int = 0
    forecast_written: int = 0
    forecast_uncached: int = 0
    changed: tuple[Changed, ...] = ()
    state: CacheState = _COLD
    last: Sent | None = None
    reason: Reason | None = None  # of the last forecast
    less: bool = False  # whether the provider read less than foretold the last time

    @property
    def prompt(self) -> int:
        return self.read + self.written + self.uncached

    @property
    def share_read(self) -> float:
        """The share of all input that was read from the cache."""
        return self.read / self.prompt if self.prompt else 0.0


NO_EFFECT = Effect()


def sent(request: Request, model: Model, client: Request | None = None, *, previous: Sent | None = None) -> Sent:
    """A request as it went out; `client` is what the client had sent, where Clew changed it.

    Every block is counted and hashed, those that `previous` held excepted: it belongs after the answer.
    """
    counter = Counter.of(model)
    ours = listed(request, counter, previous.ours if previous is not None else None)
    priced = whole(request, ours.priced)
    if client is None:
        return Sent(priced, ours.names, priced.chains, ours.names, ours, ours)
    theirs = listed(client, counter, previous.theirs if previous is not None else None)
    return Sent(priced, ours.names, theirs.priced.chains, theirs.names, ours, theirs)


def after(
    effect: Effect, this: Sent, usage: Usage, model: Model, now: float, *, expected: bool = False
) -> tuple[Effect, Changed | None]:
    """The effect with one more answered request, and the warning it gives rise to.

    `expected` says that the prefix had to change: an epoch, or the client's own compaction.
    """
    state, bill = price(effect.state, this.priced, model, now, usage.output)
    scale = usage.prompt / bill.input if bill.input else 0.0
    read, written = round(bill.read * scale), round((bill.written_5m + bill.written_1h) * scale)
    number = effect.requests + 1
    found: Changed | None = None
    if bill.why.reason == "prefix changed" and effect.last is not None and not expected:
        found = _cause(effect.last, this, number, round(bill.why.tokens * scale))
    less = bill.why.reason == "warm" and read - usage.cache_read > max(_LEAST, _SHORT * read)
    # Of a run of such requests the first is told; a server that never reported a read may keep no cache at all.
    if less and not effect.less and (effect.read or model.cache.kind == "explicit"):
        found = Changed(number, "", "provider", read - usage.cache_read)
    grown = replace(
        effect,
        requests=number,
        read=effect.read + usage.cache_read,
        written=effect.written + usage.cache_write,
        uncached=effect.uncached + usage.input,
        forecast_read=effect.forecast_read + read,
        forecast_written=effect.forecast_written + written,
        forecast_uncached=effect.forecast_uncached + usage.prompt - read - written,
        changed=(*effect.changed, found)[-_KEPT:] if found is not None else effect.changed,
        state=state,
        last=this,
        reason=bill.why.reason,
        less=less,
    )
    return grown, found


def _cause(before: Sent, this: Sent, number: int, tokens: int) -> Changed:
    """Whose change it was. Where the client's own prefix is not what it had sent before, the change began there."""
    theirs = _first_difference(before.client, this.client)
    if theirs is not None:
        return Changed(number, _name(this.client_names, before.client_names, theirs), "client", tokens)
    ours = _first_difference(before.priced.chains, this.priced.chains)
    return Changed(number, _name(this.names, before.names, ours or 0), "clew", tokens)


def _first_difference(before: tuple[bytes, ...], now: tuple[bytes, ...]) -> int | None:
    """The first block that isn't what it was; None where what was sent before only grew."""
    same = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))
    return None if same == len(before) else same


def _name(now: Sequence[str], before: Sequence[str], at: int) -> str:
    return now[at] if at < len(now) else f"{before[at]} (left out)"
