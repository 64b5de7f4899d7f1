"""From what a user says (arguments, configuration, model) to the limits the engine works with."""

from __future__ import annotations

from clew.catalog import Model
from clew.config import Settings
from clew.economics import weights
from clew.engine.values import Limits
from clew.errors import ConfigError

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
    summariser: bool,
    main_differs: bool,
    summary_window: int,
    prepare_ahead: float = 0.0,
) -> Limits:
    """The limits; ConfigError where they leave no room for a conversation."""
    c = settings.compression
    room = window or (model.window if model is not None else WINDOW)
    output = max_output if max_output is not None else (c.max_output or 0)
    share = threshold if threshold is not None else c.threshold
    if not 0 < share <= 1:
        raise ConfigError(f"threshold {share} is no share of the window", hint="give a number above 0 and up to 1")
    if not 0 <= prepare_ahead <= 1:
        raise ConfigError(
            f"prepare_ahead {prepare_ahead} is no share of the threshold", hint="give a number from 0 (never) to 1"
        )
    if room - output - overhead < 500:
        raise ConfigError(
            f"a window of {room:,} tokens, less {output:,} for output and {overhead:,} for system and tools, leaves no room",
            hint="give a larger window, or a smaller max_output",
        )
    prices = weights(model.prices) if model is not None and model.prices.input else None
    return Limits(
        window=room,
        max_output=output,
        overhead=overhead,
        threshold=share,
        floor=c.threshold_floor,
        ceiling=c.threshold_ceiling or 0,
        target_ratio=c.target_ratio,
        protect_first=c.protect_first_n,
        protect_last=c.protect_last_n,
        enabled=c.enabled,
        read=prices.read if prices is not None else 0.1,
        write=prices.write_5m if prices is not None else 1.25,
        cache_ttl=(model.cache.ttl if model is not None and model.cache.kind != "none" else 300.0),
        model=summariser,
        main_differs=main_differs,
        abort_on_failure=c.abort_on_summary_failure,
        summary_window=summary_window,
        system_note=c.system_note == "system",
        prepare_ahead=prepare_ahead,
        recall=recall,
    )
