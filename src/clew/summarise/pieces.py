"""A prompt in pieces, run one after the other: each answer goes into the next prompt's place for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.errors import SummaryError
from clew.handoff.prompt import PREVIOUS_ANSWER
from clew.handoff.shape import cleaned, declined
from clew.summarise.base import Cancel, Reply, Summariser
from clew.wire.usage import Usage


def run(prompts: Sequence[str], max_tokens: int, summariser: Summariser, cancel: Cancel | None = None) -> Reply:
    """The last answer, with the usage of all of them. SummaryError where one fails or comes back empty."""
    cancel = cancel or Cancel()
    reply = Reply("")
    used: Usage | None = None
    for n, prompt in enumerate(prompts):
        cancel.check()
        reply = summariser(prompt.replace(PREVIOUS_ANSWER, cleaned(reply.text), 1), max_tokens, cancel)
        plain = cleaned(reply.text)
        if n + 1 < len(prompts) and (not plain or declined(plain)):
            # The next answer builds on this one alone: what was in the turns so far would be lost without a word.
            kind = "refused" if plain else "empty"
            raise SummaryError(f"piece {n + 1} of {len(prompts)} came back {kind}", kind=kind)
        used = _added(used, reply.usage)
    return replace(reply, usage=used)


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
