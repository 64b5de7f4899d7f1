"""What a strategy proposes: an edit, and nothing that was not asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from clew.transcript import Span, Transcript


@dataclass(frozen=True, slots=True)
class Edit:
    """One shortening: the part of a message, what is shown instead (None: nothing), why, and what it saved.

    `part` is -1 where the whole message is meant. `reference` resolves to the original.
    """

    message: int
    part: int
    text: str | None
    reason: str
    strategy: str
    before: int
    after: int
    reference: str = ""

    @property
    def saved(self) -> int:
        return self.before - self.after


Measure: TypeAlias = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a strategy may look at: the log, the span it may edit, the tokens of a text, and how originals are recalled
    ("" where this conversation has no way to).
    """

    log: Transcript
    span: Span
    measure: Measure
    recall: str = ""


Strategy: TypeAlias = Callable[[Scene], Iterable[Edit]]
