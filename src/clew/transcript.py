"""What travelled on the wire, as frozen values: messages, parts, their addresses and their pairs.

A message keeps the bytes it arrived in and is rendered from them; its parts say where in the JSON value they stand
(`at`), so an edit is a value put at a path, in every wire format alike. `wire/` builds these; nothing else does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

from clew import jsonio
from clew.jsonio import Json

Path: TypeAlias = tuple[str | int, ...]
NO_META: Mapping[str, Json] = MappingProxyType({})
REFERENCE = "clew:"
_REFERENCE_LETTERS = 12  # of 5 bits each


@dataclass(frozen=True, slots=True)
class Text:
    """Words. `at` is the place of the string in the message's value."""

    text: str
    at: Path = ()


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: base64 `data` or a `url`. `at` is the place of its whole block."""

    media_type: str = ""
    data: str = ""
    url: str = ""
    at: Path = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model made. `arguments` is their text as JSON (as it arrived where the wire carries text);
    `kind` is "function", "custom" (free text) or "server" (run by the provider).
    """

    id: str
    name: str
    arguments: str
    kind: str = "function"
    at: Path = ()

    @property
    def input(self) -> Json:
        """The arguments as a value; an empty mapping where they can't be parsed."""
        try:
            return jsonio.loads(self.arguments) if self.arguments else {}
        except ValueError:
            return {}


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block Clew carries and never looks into. `text` is what can be read of it, for search and counting."""

    kind: str
    text: str = ""
    at: Path = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back for a call. `at` is the place of its content."""

    call_id: str
    parts: tuple[Text | Image | Opaque, ...] = ()
    is_error: bool = False
    kind: str = "function"
    at: Path = ()

    @property
    def text(self) -> str:
        return "\n".join(p.text for p in self.parts if not isinstance(p, Image) and p.text)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thinking. `sealed` says that a signature or encryption binds it: it is kept or dropped as a whole."""

    text: str
    sealed: bool = False
    at: Path = ()


Part: TypeAlias = Text | Image | ToolCall | ToolResult | Reasoning | Opaque


@dataclass(frozen=True)
class Message:
    """One message (or Responses item) as it travelled. `role` is system, developer, user, assistant or tool;
    `raw` is its JSON; `meta` never goes on the wire.
    """

    role: str
    parts: tuple[Part, ...]
    raw: bytes
    wire: str
    meta: Mapping[str, Json] = field(default_factory=lambda: NO_META, compare=False)

    @cached_property
    def _value(self) -> Json:
        return jsonio.exact(self.raw)

    @property
    def value(self) -> Json:
        """The JSON value, a copy that is the caller's own."""
        return jsonio.copy(self._value)

    @cached_property
    def has_cache_marks(self) -> bool:
        """Whether a cache mark may stand in it. Asked of every message of every request, so it is looked up once."""
        return b'"cache_control"' in self.raw

    @cached_property
    def address(self) -> str:
        """Its content address: the same in every process, whatever the key order and cache marks."""
        value = self._value
        if self.has_cache_marks:
            value = without_cache_marks(value)
        return jsonio.digest(jsonio.canonical(value))

    @cached_property
    def text(self) -> str:
        """Every word in it that a person or a search would read, reasoning and arguments left out."""
        return "\n".join(p.text for p in self.parts if isinstance(p, (Text, ToolResult)) and p.text)

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(p for p in self.parts if isinstance(p, ToolCall))

    @cached_property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(p for p in self.parts if isinstance(p, ToolResult))

    @property
    def is_user_turn(self) -> bool:
        """Whether a user speaks here: tool results alone, which some wires carry under `user`, are no turn."""
        return self.role == "user" and any(not isinstance(p, ToolResult) for p in self.parts)


def reference(address: str) -> str:
    """The short form of a content address that markers carry: 60 bits."""
    return REFERENCE + address[:_REFERENCE_LETTERS]


def text_address(text: str) -> str:
    """The content address of an original that is a text."""
    return jsonio.digest(text.encode("utf-8", "surrogatepass"))


def without_cache_marks(value: Json) -> Json:
    """The same value without the client's cache marks, which move from request to request.

    Only where a block may carry one: a key of that name inside a call's input is the agent's own data.
    """
    if isinstance(value, list):
        return [without_cache_marks(v) for v in value]
    if not isinstance(value, dict):
        return value
    keep = {k: v for k, v in value.items() if k != "cache_control"}
    if isinstance(keep.get("content"), list):
        keep["content"] = without_cache_marks(keep["content"])
    if isinstance(keep.get("parts"), list):
        keep["parts"] = without_cache_marks(keep["parts"])
    return keep


def chain(previous: str, address: str) -> str:
    """The hash of a prefix grown by one message: equal exactly when the prefixes are."""
    return jsonio.digest(f"{previous}\n{address}".encode())


def at_path(value: Json, path: Path) -> Json:
    """What stands at a path."""
    for step in path:
        value = value[step]
    return value


def put(value: Json, path: Path, new: Json) -> Json:
    """The value with `new` at `path`; copies only along the path."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        assert isinstance(step, int)
        return [*value[:step], put(value[step], rest, new), *value[step + 1 :]]
    return {**value, step: put(value[step], rest, new) if rest else new}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part stands: the message's position and the part's."""

    message: int
    part: int


@dataclass(frozen=True, slots=True)
class Span:
    """Messages from `start` up to, not including, `end`."""

    start: int
    end: int

    def __len__(self) -> int:
        return max(0, self.end - self.start)


class Transcript:
    """The append-only list of one conversation's messages, with their chain hashes and call pairs.

    Reading by position is O(1), appending O(new). Ids that are used again in a later turn pair with their own turn's
    results: a result belongs to the latest call of its id that has none yet.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages: list[Message] = []
        self._chains: list[str] = []
        self._open: dict[str, list[Place]] = {}
        self._call_of: dict[Place, Place] = {}
        self._result_of: dict[Place, Place] = {}
        for m in messages:
            self.append(m)

    def __len__(self) -> int:
        return len(self._messages)

    def __getitem__(self, i: int) -> Message:
        return self._messages[i]

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages)

    def slice(self, start: int, end: int | None = None) -> Sequence[Message]:
        return self._messages[start:end]

    def append(self, message: Message) -> int:
        """Its position."""
        n = len(self._messages)
        self._messages.append(message)
        self._chains.append(chain(self._chains[-1] if self._chains else "", message.address))
        for i, p in enumerate(message.parts):
            if isinstance(p, ToolCall):
                self._open.setdefault(p.id, []).append(Place(n, i))
            elif isinstance(p, ToolResult):
                waiting = self._open.get(p.call_id)
                if waiting:
                    call = waiting.pop()
                    if not waiting:
                        del self._open[p.call_id]
                    self._call_of[Place(n, i)] = call
                    self._result_of[call] = Place(n, i)
        return n

    def chain_at(self, position: int) -> str:
        """The hash of the prefix that ends with the message at `position`; before the first one it is empty."""
        return self._chains[position] if position >= 0 else ""

    def call_of(self, result: Place) -> Place | None:
        return self._call_of.get(result)

    def result_of(self, call: Place) -> Place | None:
        return self._result_of.get(call)

    def part(self, place: Place) -> Part:
        return self._messages[place.message].parts[place.part]

    def open_calls(self) -> tuple[Place, ...]:
        """Calls that no result has come for yet."""
        return tuple(p for places in self._open.values() for p in places)
