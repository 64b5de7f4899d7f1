"""A prompt in pieces, run one after the other: each answer goes into the next prompt's place for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.errors import SummaryError
from clew.handoff.prompt import PREVIOUS_ANSWER
from clew.handoff.shape import cleaned, declined
from clew.summarise.base import Cancel, Reply, Summariser
from clew.tokens import rough_text
from clew.wire.usage import Usage

_COUNTED = 1.1  # our estimate of a prompt, against what the model's own vocabulary may make of it
_LEAST = 256


def run(prompts: Sequence[str], max_tokens: int, summariser: Summariser, cancel: Cancel | None = None) -> Reply:
    """The last answer, with the usage of all of them. SummaryError where one fails or comes back empty."""
    cancel = cancel or Cancel()
    reply = Reply("")
    used: Usage | None = None
    for n, prompt in enumerate(prompts):
        cancel.check()
        asked = prompt.replace(PREVIOUS_ANSWER, cleaned(reply.text), 1)
        reply = summariser(asked, _room(asked, max_tokens, summariser.window), cancel)
        plain = cleaned(reply.text)
        if n + 1 < len(prompts) and (not plain or declined(plain)):
            # The next answer builds on this one alone: what was in the turns so far would be lost without a word.
            kind = "refused" if plain else "empty"
            raise SummaryError(f"piece {n + 1} of {len(prompts)} came back {kind}", kind=kind)
        used = _added(used, reply.usage)
    return replace(reply, usage=used)


def _room(prompt: str, max_tokens: int, window: int) -> int:
    """The most that may be answered: providers refuse a call whose prompt and limit exceed the window together."""
    if not window:
        return max_tokens
    return max(min(max_tokens, window - int(rough_text(prompt) * _COUNTED)), _LEAST)


def _added(a: Usage | None, b: Usage | None) -> Usage | None:
    if a is None or b is None:
        return a or b
    return Usage(
        a.input + b.input,
        a.cache_read + b.cache_read,
        a.cache_write_5m + b.cache_write_5m,
        a.cache_write_1h + b.cache_write_1h,
        a.output + b.output,
        a.reasoning + b.reasoning,
    )
