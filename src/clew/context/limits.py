"""From what a user says (arguments, configuration, model) to the limits the engine works with."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from clew.catalog import Model
from clew.config import Settings
from clew.economics import weights
from clew.engine.values import Length, Limits
from clew.errors import ClewWarning, ConfigError
from clew.handoff.template import SYSTEM_NOTE
from clew.jsonio import Json
from clew.summarise import Summariser
from clew.tokens import Counter

WINDOW = 200_000  # where neither an argument nor a model says


def limits_of(
    settings: Settings,
    model: Model | None,
    *,
    window: int | None,
    threshold: float | None,
    max_output: int | None,
    overhead: int,
    recall: str,
    summariser: Summariser | None,
    main_differs: bool,
    prepare_ahead: float = 0.0,
) -> Limits:
    """The limits; ConfigError where they leave no room for a conversation."""
    c = settings.compression
    prices = weights(model.prices) if model is not None and model.prices.input else None
    limits = Limits(
        window=window if window is not None else (model.window if model is not None else WINDOW),
        max_output=max_output if max_output is not None else (c.max_output or 0),
        overhead=overhead,
        threshold=threshold if threshold is not None else c.threshold,
        floor=c.threshold_floor,
        ceiling=c.threshold_ceiling or 0,
        target_ratio=c.target_ratio,
        protect_first=c.protect_first_n,
        protect_last=c.protect_last_n,
        least_tail=c.min_tail_messages,
        ceiling_tail=c.tail_soft_ceiling,
        min_saving=c.min_saving,
        strikes=c.max_strikes,
        length=Length(
            c.summary_ratio, c.summary_min_tokens, c.summary_max_ratio, c.summary_max_tokens, c.summary_headroom
        ),
        ledger_budget=c.ledger_max_tokens or 0,
        enabled=c.enabled,
        read=prices.read if prices is not None else 0.1,
        write=prices.write_5m if prices is not None else 1.25,
        cache_ttl=(model.cache.ttl if model is not None and model.cache.kind != "none" else 300.0),
        model=summariser is not None,
        main_differs=main_differs,
        abort_on_failure=c.abort_on_summary_failure,
        summary_window=summariser.window if summariser is not None else 0,
        system_note=c.system_note == "system",
        prepare_ahead=prepare_ahead,
        recall=recall,
    )
    _check(limits)
    return limits


def _check(limits: Limits) -> None:
    if not 0 < limits.threshold <= 1:
        raise ConfigError(
            f"threshold {limits.threshold} is no share of the window", hint="give a number above 0 and up to 1"
        )
    if not 0 <= limits.prepare_ahead <= 1:
        raise ConfigError(
            f"prepare_ahead {limits.prepare_ahead} is no share of the threshold",
            hint="give a number from 0 (never) to 1",
        )
    if limits.window - limits.max_output - limits.overhead < 500:
        raise ConfigError(
            f"a window of {limits.window:,} tokens, less {limits.max_output:,} for output and {limits.overhead:,} for "
            "system and tools, leaves no room",
            hint="give a larger window, or a smaller max_output",
        )
    if 0 < limits.summary_window < limits.soft:
        warnings.warn(
            f"the summariser's window ({limits.summary_window:,} tokens) is smaller than the threshold "
            f"({limits.soft:,}): it is served in pieces",
            ClewWarning,
            stacklevel=4,
        )


def carried(counter: Counter, settings: Settings, tools: Sequence[Json], system: Json | None) -> int:
    """Tokens that every request carries besides messages: tools, and the system prompt where it stands apart, with the
    note it gets.
    """
    tokens = counter.tools(tools) if tools else 0
    if system is not None:
        tokens += counter.system(system)
        tokens += counter.text(SYSTEM_NOTE) if settings.compression.system_note == "system" else 0
    return tokens
