"""A reply that is about to be spoken: its ids, its seals and its usage are settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clew import jsonio
from clew.jsonio import Json
from clew.testing.dice import Dice
from clew.testing.upstream.rules.seals import Seals
from clew.testing.upstream.values import Ask, Reply, Usage

_PIECE = 24  # characters of one delta


@dataclass(frozen=True, slots=True)
class Turn:
    """`name` is drawn from the seed and the request's number: every id in the reply begins with it."""

    ask: Ask
    reply: Reply
    usage: Usage
    seals: Seals
    name: str
    created: int

    def id(self, prefix: str, position: int = 0) -> str:
        return prefix + Dice(self.name, prefix, position).letters(24)

    def usage_as(self, real: dict[str, Json]) -> dict[str, Json]:
        """The usage as reported: the real one, unless the reply lies."""
        if self.reply.lie is None:
            return real
        told = {**real, **self.reply.lie.usage}
        return {k: v for k, v in told.items() if v is not None}


def pieces(text: str) -> Iterator[str]:
    """A text as it trickles in."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def named(event: str, value: Json) -> bytes:
    """One event with its type."""
    return b"event: " + event.encode() + b"\ndata: " + jsonio.dumps(value) + b"\n\n"


def bare(value: Json) -> bytes:
    """One event without a type."""
    return b"data: " + jsonio.dumps(value) + b"\n\n"
