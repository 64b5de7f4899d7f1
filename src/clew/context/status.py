"""What a context says of itself: figures for programs, one sentence for people."""

from __future__ import annotations

from collections.abc import Sequence

from clew.engine.pressure import estimate, removable
from clew.engine.values import Epoch, State
from clew.jsonio import Json

TOO_SMALL_HINT = "give a larger window or a smaller max_output, start a new session, or shorten the newest messages"


def of(state: State, epochs: Sequence[Epoch], messages: int, session: str) -> dict[str, Json]:
    """The status as JSON values."""
    used = estimate(state)
    last = epochs[-1] if epochs else None
    return {
        "session": session,
        "messages": messages,
        "window": state.limits.window,
        "used": used + state.limits.overhead,
        "percent": round(100 * (used + state.limits.overhead) / state.limits.window, 1),
        "hard_limit": state.limits.hard,
        "threshold": state.limits.soft,
        "removable": removable(state),
        "rent": round(state.rent, 1),
        "epochs": len(epochs),
        "phase": state.phase.value,
        "strikes": state.strikes,
        "level": state.level,
        "fallback_used": state.trouble.fallback,
        "dropped": state.trouble.dropped,
        "last_error": state.trouble.error,
        "aux_model_failure": state.trouble.aux_failed,
        "summary_paused_until": state.trouble.until,
        "last_receipt": list(last.receipt.lines()) if last is not None else [],
        "written_by": last.written_by if last is not None else "",
        "sentence": sentence(state, used, messages),
    }


def sentence(state: State, used: int, messages: int) -> str:
    """What happened last and how things stand."""
    limits = state.limits
    lead = f"{messages} messages, {used + limits.overhead:,} of {limits.window:,} tokens used"
    if not limits.enabled:
        return f"{lead}; compression is off (compression.enabled: false)"
    return f"{lead}; {state.said}" if state.said else f"{lead}; nothing has been compacted yet"


def too_small(state: State) -> str:
    """Why nothing helps: what fills the window."""
    limits, base = state.limits, state.base
    refused = f"; {state.said}" if state.said and state.refused_at == state.length else ""
    return (
        f"the view takes {estimate(state):,} tokens and {limits.hard:,} are there "
        f"({limits.window:,} less {limits.max_output:,} for output and {limits.overhead:,} for system and tools); "
        f"pinned are {base.tokens:,} tokens of beginning and handoff and {state.tail_tokens:,} of the newest messages{refused}"
    )
