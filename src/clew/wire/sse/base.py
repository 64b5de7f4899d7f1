"""What the three assemblers share: lenient looks at values, and texts that grow by pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clew.jsonio import Json


class Assembler(Protocol):
    """Builds one response out of a stream's values. Nothing a provider sends makes it raise."""

    finished: bool
    stop_reason: str
    error: Json
    usage: Json

    def take(self, value: dict[str, Json], kind: str) -> None:
        """Everything an event says, `tail` included."""

    def tail(self, value: dict[str, Json], kind: str) -> None:
        """Only what the end of a stream tells: usage, stop reason, error, whether it finished."""

    def done(self) -> None:
        """The stream's own last word came (`[DONE]`)."""

    def body(self) -> Json:
        """The response as it would have come without streaming, as far as it came."""

    def values(self) -> Sequence[Json]:
        """The message values in it."""


def mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def sequence(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def position(value: Json, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


class Growing:
    """A string that comes in pieces; joined once."""

    __slots__ = ("_pieces",)

    def __init__(self, first: str = "") -> None:
        self._pieces = [first] if first else []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


def grow(into: dict[str, Json], key: str, piece: str) -> None:
    """The string under `key` goes on with `piece`; what is no string there is replaced."""
    held = into.get(key)
    if isinstance(held, Growing):
        held.add(piece)
    else:
        into[key] = Growing((held if isinstance(held, str) else "") + piece)


def settled(value: Json) -> Json:
    """The value with every growing string in it joined."""
    if isinstance(value, Growing):
        return str(value)
    if isinstance(value, dict):
        return {k: settled(v) if isinstance(v, (Growing, dict, list)) else v for k, v in value.items()}
    if isinstance(value, list):
        return [settled(v) if isinstance(v, (Growing, dict, list)) else v for v in value]
    return value
