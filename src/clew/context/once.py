"""One call, no state: messages in, fewer messages and a receipt out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from clew.context.context import Context
from clew.engine.values import Epoch, Refusal
from clew.handoff.receipt import Receipt
from clew.jsonio import Json


@dataclass(frozen=True, slots=True)
class Compressed:
    """What `compress` made. `epoch` and `receipt` are None where nothing was compacted; `refusal` says why."""

    messages: list[dict[str, Json]]
    receipt: Receipt | None
    epoch: Epoch | None
    refusal: Refusal | None = None


def compress(
    messages: Iterable[Json], window: int | None = None, *, focus: str | None = None, **same: Any
) -> Compressed:
    """Compact a conversation once, as `Context.compact` would, and see that it fits. Takes what `Context` takes."""
    with Context(window, **same) as ctx:
        ctx.extend(messages)
        outcome = ctx.compact(focus)
        view = ctx.view()
        made = ctx.epochs[-1] if ctx.epochs else None
        # What couldn't be compacted on request may still have had to fit: then there is an epoch, by the ledger.
        refusal = outcome if isinstance(outcome, Refusal) and made is None else None
        return Compressed(view, made.receipt if made is not None else None, made, refusal)
