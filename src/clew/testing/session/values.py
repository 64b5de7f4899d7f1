"""What a made session is: its messages, and what was planted in them for a test to look for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clew.jsonio import Json

Kind: TypeAlias = Literal[
    "request", "constraint", "preference", "budget", "value", "decision", "path", "error", "test", "secret", "commit"
]


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that was said. `text` stands word for word in the message at `message`.

    `stands` is False where a later message took it back or changed it (`changed_by` is that message's position), and
    for an error that was resolved or a request that was answered it is the position of the answer. `name` says what
    the fact is about, the same for a value and for what replaced it.
    """

    kind: Kind
    name: str
    text: str
    message: int
    stands: bool = True
    changed_by: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A long agent session in the format of OpenAI Chat Completions, the system prompt first."""

    seed: int
    messages: list[Json]
    tools: list[Json]
    facts: tuple[Fact, ...]

    def standing(self, *kinds: Kind) -> tuple[Fact, ...]:
        """The facts that still hold at the end, of these kinds or of all."""
        return tuple(f for f in self.facts if f.stands and (not kinds or f.kind in kinds))

    def overtaken(self, *kinds: Kind) -> tuple[Fact, ...]:
        """The facts that no longer hold: what a summary must not repeat as if they did."""
        return tuple(f for f in self.facts if not f.stands and (not kinds or f.kind in kinds))
