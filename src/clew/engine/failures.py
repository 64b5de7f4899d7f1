"""What a failed summary leads to, by table: who is asked next, how long nobody is asked, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.engine.events import SummaryFailed
from clew.engine.values import Draft, Epoch, Refusal, State, Trouble, Urgency

TRANSIENT = 60.0
COOLDOWNS: dict[str, float] = {
    "json": 30.0, "stream": 30.0, "no_provider": 600.0, "empty": TRANSIENT, "longer": TRANSIENT, "truncated": TRANSIENT,
    "language": TRANSIENT, "refused": TRANSIENT, "rate_limit": TRANSIENT, "server": TRANSIENT, "network": TRANSIENT,
    "not_found": TRANSIENT, "auth": TRANSIENT, "quota": TRANSIENT, "overflow": TRANSIENT, "unstructured": TRANSIENT,
    "vague": TRANSIENT, "unsupported": TRANSIENT, "lost": TRANSIENT, "other": TRANSIENT,
}  # fmt: skip
TIMEOUTS = (60.0, 300.0, 900.0)  # the first, the second, every further timeout in a row

# The session and the transcript stay as they are: the handoff would be poorer for a reason that may pass.
KEEPS_SESSION = frozenset({"auth", "quota", "network"})

_ADVICE = {
    "auth": "check the summariser's credential and endpoint",
    "quota": "the summariser's quota is used up: add some, or set auxiliary.compression.model to another one",
    "network": "the summariser can't be reached: check its base_url",
    "no_provider": "set auxiliary.compression.provider, or leave it out to use the ledger alone",
    "not_found": "the summary model is not known to its provider: check auxiliary.compression.model",
    "overflow": "the summariser's window is smaller than what it was sent: set its context_length",
}


@dataclass(frozen=True, slots=True)
class After:
    """What is done after a failure."""

    trouble: Trouble
    retry_on_main: bool
    abort: bool
    sentence: str
    advice: str


def decide(state: State, thought: Draft, event: SummaryFailed) -> After:
    """The main model after the auxiliary one where there is another; then the ledger, unless the session is kept."""
    who = "summary model" if thought.attempt == "aux" else "main model"
    said = f"the {who} failed ({event.kind}): {event.error[:160]}"
    if thought.attempt == "aux" and state.limits.main_differs:
        trouble = replace(state.trouble, aux_failed=f"{event.kind}: {event.error[:160]}")
        return After(trouble, retry_on_main=True, abort=False, sentence=said, advice="")
    must = thought.urgency is Urgency.MUST_FIT
    abort = thought.background or (not must and (state.limits.abort_on_failure or event.kind in KEEPS_SESSION))
    trouble = replace(
        state.trouble,
        until=event.now + max(cooldown(state.trouble, event.kind), event.retry_after or 0.0),
        kind=event.kind,
        error=event.error[:160],
        timeouts=state.trouble.timeouts + 1 if event.kind == "timeout" else 0,
        fallback=not abort,
    )
    ending = "nothing was changed" if abort else "the ledger wrote the handoff"
    return After(
        trouble,
        retry_on_main=False,
        abort=abort,
        sentence=f"{said}; {ending}",
        advice=_ADVICE.get(event.kind, "it is tried again later"),
    )


def holds_back(state: State, now: float) -> bool:
    """Whether an epoch that may wait does: while a failure lasts that keeps the session as it was."""
    kept = state.limits.abort_on_failure or state.trouble.kind in KEEPS_SESSION
    return bool(state.limits.model and state.trouble.kind and kept and now < state.trouble.until)


def paused(state: State) -> Refusal:
    """What is said while it does."""
    advice = _ADVICE.get(state.trouble.kind, "it is tried again later")
    return Refusal(f"the last summary failed ({state.trouble.kind}) and is not tried again yet", "failed", advice)


def instead(state: State) -> str:
    """Why the ledger wrote a handoff that a model was to write, and what helps."""
    advice = _ADVICE.get(state.trouble.kind, "a model is tried again later")
    return f"the last summary failed ({state.trouble.kind}: {state.trouble.error}); {advice}"


def cooldown(trouble: Trouble, kind: str) -> float:
    """Seconds in which no summary is asked for."""
    if kind == "timeout":
        return TIMEOUTS[min(trouble.timeouts, len(TIMEOUTS) - 1)]
    return COOLDOWNS.get(kind, TRANSIENT)


def thrash(epoch: Epoch) -> str:
    """Which of the two causes two poor epochs have, and what helps."""
    tail = epoch.receipt.after - epoch.base.tokens
    if tail > epoch.base.tokens or not epoch.handoff:
        return (
            "two compactions in a row saved under 10%: what is pinned and the newest messages fill the window; a smaller "
            "tail is kept from now on. A new session, or a focus for the next compaction, would help more"
        )
    return (
        "two compactions in a row saved under 10%: the handoff itself doesn't shrink; it is rebuilt smaller from now on. "
        "A focus for the next compaction would help"
    )
