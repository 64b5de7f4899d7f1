"""What a scripted upstream is asked and what it replies, before any wire format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from clew.catalog import Model
from clew.jsonio import Json
from clew.wire import Request


@dataclass(frozen=True, slots=True)
class Say:
    """Words to the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning, signed or encrypted as the provider does it: a changed word is refused when it comes back."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `input` is an object, or a string for a custom tool. Without an id it gets one."""

    name: str
    input: Json
    id: str = ""


@dataclass(frozen=True, slots=True)
class Lie:
    """Usage that isn't true: these members replace the real ones; None takes one away."""

    usage: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of the model. `stop` is natural unless given ("length": cut off at the output limit)."""

    parts: tuple[Say | Think | Call, ...]
    stop: Literal["", "length"] = ""
    lie: Lie | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(p for p in self.parts if isinstance(p, Call))


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error of the provider's own: 429 with `retry_after`, 500, 529, 401."""

    status: int
    message: str = ""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Slow:
    """The reply, after a wait: before the first byte, and between events."""

    reply: Reply
    before: float = 0.0
    between: float = 0.0


@dataclass(frozen=True, slots=True)
class Cut:
    """The reply's stream ends early, after `events` events and `extra` bytes of the next: the connection is reset, or
    closed as if all was well.
    """

    reply: Reply
    events: int = 3
    extra: int = 0
    reset: bool = True


@dataclass(frozen=True, slots=True)
class MidError:
    """A stream that begins well and then carries an error event, as an overloaded provider sends it."""

    reply: Reply
    events: int = 3
    message: str = "Overloaded"


@dataclass(frozen=True, slots=True)
class Nonsense:
    """200 and a body that is no reply: empty, or a page of a proxy in between."""

    body: bytes = b""
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class HangUp:
    """The connection is reset before a byte of the answer."""


Answer: TypeAlias = Reply | Refuse | Slow | Cut | MidError | Nonsense | HangUp


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that the rules let through. `number` counts them from 0; `request` holds all that the model reads
    (with what `previous_response_id` stands for before it).
    """

    number: int
    wire: str
    headers: Mapping[str, str]
    body: Json
    request: Request
    model: Model
    tokens: int

    @property
    def tools(self) -> tuple[Json, ...]:
        return self.request.tools


Policy: TypeAlias = Callable[[Ask], Answer]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request used, as the prefix cache saw it."""

    uncached: int
    read: int
    written_5m: int
    written_1h: int
    output: int
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        return self.uncached + self.read + self.written_5m + self.written_1h


@dataclass(frozen=True, slots=True)
class Record:
    """One request as the upstream saw it, refused ones too. `why` is the cache's reason, or the refusal."""

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    raw: bytes = field(repr=False)
    wire: str
    status: int
    usage: Usage | None
    why: str
