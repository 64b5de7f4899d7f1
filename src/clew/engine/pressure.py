"""When: how full the view is, what re-reading has cost, and which urgency that makes."""

from __future__ import annotations

from dataclasses import replace

from clew.economics import SkiRental, accrue, due, epoch_cost
from clew.engine.plan import tail_target
from clew.engine.values import State, Urgency

_KEPT = 0.15  # of the leaving turns, that the record will hold
_CLOSING = 800  # tokens of a handoff that every epoch writes anew
_ENOUGH = 0.35  # of the view, that an epoch at the threshold has to take out
_NEAR = 0.85  # of the hard limit
_FORGOTTEN = 0.06  # tokens of uncached input for each leaving one: what is fetched again because it left this early
_SUMMARY_IN = 0.2  # what a summariser, a smaller model, pays for a token it reads, in uncached tokens of the main model
_SUMMARY_OUT = 2_000.0  # what its answer costs, in the same: some 2,000 tokens at five times the price of reading
_GROWN = 0.25  # of the soft limit: growth before the threshold is asked again after an epoch


def estimate(state: State) -> int:
    """Tokens of the messages, as the provider would count them: its last report for what it saw, our count for the rest.

    Before any report our own count stands.
    """
    if not state.reported or state.reported_view <= 0:
        return state.view_tokens
    fresh = state.view_tokens - state.reported_view
    seen = state.reported - state.limits.overhead
    ratio = min(max(seen / state.reported_view, 0.5), 2.0)
    return int(seen + fresh * ratio)


def kept_tail(state: State) -> int:
    """Tokens of tail that an epoch now would leave: the target, or the newest messages where they are larger."""
    target, _ = tail_target(state)
    return min(max(target, sum(state.recent)), state.tail_tokens)


def removable(state: State) -> int:
    """Tokens that an epoch now would take out of the view."""
    return int((state.tail_tokens - kept_tail(state)) * (1 - _KEPT))


def rent(state: State) -> State:
    """The state after one more request has read the removable tokens again."""
    paid = accrue(SkiRental(state.rent), removable(state), state.limits.read)
    return replace(state, rent=paid.rent)


def rewrite(state: State) -> float:
    """What an epoch now would cost more than reading the same: its new tokens are written, not read; and where a model
    writes the handoff, the call for it; and what will have to be fetched again.
    """
    kept = kept_tail(state)
    leaving = state.tail_tokens - kept
    fresh = kept + _KEPT * leaving + _CLOSING
    call = _SUMMARY_IN * leaving + _SUMMARY_OUT if state.limits.model else 0.0
    written = (state.limits.write - state.limits.read) * fresh
    return epoch_cost(written, summary=call, refetch=_FORGOTTEN * leaving)


def _worth_it(state: State) -> bool:
    """Whether the threshold asks for an epoch: the first time always; later, where the view has grown and an epoch would
    take out enough of it, or where the wall is near. Where it would not, the price decides.
    """
    if not state.number:
        return True
    grown = state.view_tokens - state.after_epoch
    enough = removable(state) >= _ENOUGH * state.view_tokens
    return grown >= _GROWN * state.limits.soft and (enough or estimate(state) >= _NEAR * state.limits.hard)


def reason(state: State, urgency: Urgency) -> str:
    """The figures behind an epoch that is due, as a user reads them."""
    used, limits = estimate(state), state.limits
    match urgency:
        case Urgency.MUST_FIT if used <= limits.hard:
            return f"the messages take {used:,} tokens, and whoever they were for found them too long"
        case Urgency.MUST_FIT:
            return f"the messages take {used:,} tokens and {limits.hard:,} are there"
        case Urgency.THRESHOLD:
            return f"the messages take {used:,} tokens; the threshold is {limits.soft:,}"
        case Urgency.PRICED if due(SkiRental(state.rent), rewrite(state)):
            paid, price = f"{state.rent:,.0f}", f"{rewrite(state):,.0f}"
            return f"reading {removable(state):,} removable tokens again has cost {paid}, an epoch costs {price}"
        case Urgency.PRICED:
            return (
                f"the provider's cache has run out, so that rewriting costs no more; {removable(state):,} tokens can go"
            )
    return "someone asked for it"


def judge(state: State, now: float) -> Urgency | None:
    """The urgency of an epoch before the next request, or None."""
    limits = state.limits
    if not limits.enabled:
        return None
    if estimate(state) > limits.hard:
        return Urgency.MUST_FIT
    if estimate(state) >= limits.soft and _worth_it(state):
        return Urgency.THRESHOLD
    if not limits.priced or not removable(state):
        return None
    cold = state.last_request > 0 and now - state.last_request > limits.cache_ttl
    if cold and removable(state) >= tail_target(state)[1]:
        return Urgency.PRICED
    return Urgency.PRICED if due(SkiRental(state.rent), rewrite(state)) else None
