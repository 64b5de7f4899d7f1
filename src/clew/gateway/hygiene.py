"""The safety net before a call: a view that fills most of the window is compacted whatever the price says."""

from __future__ import annotations

from clew.config.schema import Compression
from clew.engine.values import Epoch
from clew.errors import WindowTooSmall
from clew.gateway.conversation import Conversation
from clew.gateway.counts import Counts

_GROWN = 1.05  # since the net could do nothing: how much larger the view must be before it tries again


def look(conversation: Conversation, limits: Compression, counts: Counts) -> None:
    """Compacts where `compression.hygiene_threshold` of the window is used, or there are very many messages."""
    live = conversation.live
    shown = len(live.shown()) if live.length >= limits.hygiene_hard_message_limit else live.length
    if not limits.enabled or shown < limits.hygiene_min_messages:
        return
    full = live.used >= limits.hygiene_threshold * live.window
    if not full and shown < limits.hygiene_hard_message_limit:
        conversation.hygiene_at = 0
        return
    if live.used < _GROWN * conversation.hygiene_at:
        return
    made = live.make_fit()
    conversation.hygiene_at = live.used
    if isinstance(made, Epoch):
        counts.add("hygiene")
        try:
            live.view_messages()
        except WindowTooSmall:
            counts.add("view larger than the window")
