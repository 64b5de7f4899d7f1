"""What the three wire formats have in common: a request taken apart and put together, message by message."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar

from clew import jsonio
from clew.errors import TooLarge, WireError
from clew.jsonio import Json
from clew.transcript import Image, Message, Part, Path, ToolCall
from clew.wire import blocks
from clew.wire.spans import MAX_DEPTH, check_depth, split

_NOTHING: Mapping[str, bytes] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Request:
    """A request body. `rest` is everything without a field here; `keys` is the order of the body's members;
    `raw` is the body as it arrived, as long as nothing in it was replaced.
    """

    wire: str
    model: str
    system: Json | None
    tools: tuple[Json, ...]
    messages: tuple[Message, ...]
    rest: Mapping[str, Json]
    raw: bytes | None = None
    keys: tuple[str, ...] = ()
    one_text: bool = False  # Responses: `input` is a string, not a list
    fields: Mapping[str, bytes] = field(default_factory=lambda: _NOTHING, repr=False, compare=False)

    def replace(
        self,
        *,
        messages: Iterable[Message] | None = None,
        system: Json | None = None,
        tools: Iterable[Json] | None = None,
        model: str | None = None,
        rest: Mapping[str, Json] | None = None,
    ) -> Request:
        """The request with other contents; what is not named stays, to the byte."""
        if system is not None and self.wire == "openai-chat":
            raise WireError("a chat body has its system prompt among the messages", hint="replace those")
        changed: dict[str, Json] = {}
        if messages is not None:
            changed["messages"] = tuple(messages)
        if system is not None:
            changed["system"] = system
        if tools is not None:
            changed["tools"] = tuple(tools)
        if model is not None:
            changed["model"] = model
        if rest is not None:
            changed["rest"] = rest
        stale = {"tools", "model"} & changed.keys()
        if "system" in changed:
            stale |= {"system", "instructions"}
        if rest is not None:
            stale |= {k for k in self.fields.keys() | rest.keys() if rest.get(k) != self.rest.get(k)}
        fields = {k: v for k, v in self.fields.items() if k not in stale}
        return replace(self, raw=None, fields=fields, **changed)


class Wire(ABC):
    """One format. Stateless: `clew.wire.get(name)` gives the one instance."""

    name: ClassVar[str]
    messages_key: ClassVar[str] = "messages"
    system_key: ClassVar[str | None] = None
    roles: ClassVar[frozenset[str]]
    text_types: ClassVar[Mapping[str, str]] = {}  # the type of a text block by role, where it is not "text"
    results_in_user: ClassVar[bool] = False  # whether results live inside user messages
    alternates: ClassVar[bool] = False  # whether neighbours of one role are better merged

    @abstractmethod
    def read(self, value: dict[str, Json]) -> tuple[str, tuple[Part, ...]]:
        """The role and parts of one message's value."""

    @abstractmethod
    def text_message(self, role: str, text: str) -> Message:
        """A message of plain text."""

    def text_block(self, text: str, role: str) -> Json:
        """A block of text as a message of this role spells it."""
        return {"type": self.text_types.get(role, "text"), "text": text}

    @abstractmethod
    def result(self, call: ToolCall, text: str) -> Message:
        """A message that answers a call, for one whose own result is not at hand."""

    @abstractmethod
    def merge(self, a: Message, b: Message) -> Message:
        """Two messages of one role as one: texts joined with a blank line, blocks one after the other.

        Where results live inside user messages they come first, so this also adds a result to a user message.
        """

    @abstractmethod
    def system_text(self, request: Request) -> str:
        """The words of the system prompt, wherever this format keeps it."""

    def message(self, value: Json | bytes) -> Message:
        """One message. Keys that start with `_` become `meta`; bytes are kept as they are given."""
        # A Python value goes through its JSON, so that what is kept is plain, the caller's no more, and what is sent.
        raw = bytes(value) if isinstance(value, (bytes, bytearray)) else encode(value)
        value = parse(raw)
        if not isinstance(value, dict):
            raise WireError(f"a message is an object, not {_json_name(value)}", hint="give one message at a time")
        check_depth(value)
        return self._built(value, raw)

    def _built(self, value: dict[str, Json], raw: bytes) -> Message:
        if not any(k[:1] == "_" for k in value):
            role, parts = self.read(value)
            return Message(role, parts, raw, self.name)
        meta = {k: v for k, v in value.items() if k[:1] == "_"}
        value = {k: v for k, v in value.items() if k[:1] != "_"}
        role, parts = self.read(value)
        return Message(role, parts + stashed(meta), encode(value), self.name, MappingProxyType(meta))

    def request(self, body: bytes | Mapping[str, Json], *, previous: Request | None = None) -> Request:
        """A request body taken apart. Messages that `previous` has at the same place, to the byte, are its own
        objects again, with whatever was worked out about them.
        """
        raw = bytes(body) if isinstance(body, (bytes, bytearray)) else encode(body)
        cut = split(raw, self.messages_key)
        value = cut.value
        listed = self._listed(value)
        raws = cut.items if len(cut.items) == len(listed) else [encode(v) for v in listed]
        known = previous.messages if previous is not None and previous.wire == self.name else ()
        messages = tuple(
            known[i] if i < len(known) and known[i].raw == r and not known[i].meta else self._built(self._item(v, i), r)
            for i, (v, r) in enumerate(zip(listed, raws, strict=True))
        )
        taken = {self.messages_key} if self.messages_key in value else set()
        model, system, tools = value.get("model"), None, value.get("tools")
        if isinstance(model, str):
            taken.add("model")
        if isinstance(tools, list):
            taken.add("tools")
        if self.system_key and value.get(self.system_key) is not None:
            system = value[self.system_key]
            taken.add(self.system_key)
        return Request(
            wire=self.name,
            model=model if isinstance(model, str) else "",
            system=system,
            tools=tuple(tools) if isinstance(tools, list) else (),
            messages=messages,
            rest={k: v for k, v in value.items() if k not in taken},
            # What a client keeps under `_` is its own and is not sent, so such a body is put together anew.
            raw=None if any(m.meta for m in messages) else raw,
            keys=tuple(value),
            one_text=isinstance(value.get(self.messages_key), str),
            fields=cut.fields,
        )

    def _listed(self, value: dict[str, Json]) -> list[Json]:
        listed = value.get(self.messages_key)
        if not isinstance(listed, list):
            raise WireError(
                f"a {self.name} body has a list `{self.messages_key}`, here it is {_json_name(listed)}",
                hint="name the format, or let it be detected",
            )
        return listed

    def _item(self, value: Json, i: int) -> dict[str, Json]:
        if not isinstance(value, dict):
            raise WireError(f"{self.messages_key}[{i}] is {_json_name(value)}, not an object")
        return value

    def render(self, request: Request) -> dict[str, Json]:
        """The body's value, the caller's own."""
        return {k: jsonio.copy(v) for k, v in self._members(request).items()}

    def render_bytes(self, request: Request) -> bytes:
        """The body: as it arrived where nothing was replaced, else with every unedited message as it arrived."""
        if request.raw is not None:
            return request.raw
        out = []
        for key, value in self._members(request, spliced=True).items():
            raw = request.fields.get(key)
            if key == self.messages_key and not isinstance(value, str):
                raw = b"[" + b",".join(m.raw for m in request.messages) + b"]"
            out.append(jsonio.dumps(key) + b":" + (encode(value) if raw is None else raw))
        return b"{" + b",".join(out) + b"}"

    def _members(self, request: Request, *, spliced: bool = False) -> dict[str, Json]:
        """The body's members in their order; with `spliced`, the list of messages is left empty."""
        known: dict[str, Json] = {}
        if request.model:
            known["model"] = request.model
        if request.system is not None and self.system_key:
            known[self.system_key] = request.system
        if request.tools:
            known["tools"] = list(request.tools)
        text = _one_text(request)
        listed: Json = text if text is not None else [] if spliced else [m.value for m in request.messages]
        if self.messages_key in request.keys or request.messages:
            known[self.messages_key] = listed
        defaults: dict[str, Json] = {"model": request.model, "tools": []}
        out: dict[str, Json] = {}
        for key in (*request.keys, *known, *request.rest):
            if key in known:
                out[key] = known[key]
            elif key in request.rest:
                out[key] = request.rest[key]
            elif key in defaults:
                out[key] = defaults[key]
        return out


def _one_text(request: Request) -> str | None:
    """The string that stood for the messages, where it still can."""
    if not request.one_text or len(request.messages) != 1:
        return None
    value = request.messages[0].value
    plain = value.keys() == {"role", "content"} and value["role"] == "user" and isinstance(value["content"], str)
    return string(value["content"]) if plain else None


def stashed(meta: Mapping[str, Json]) -> tuple[Part, ...]:
    """Images that a host keeps beside the content, in a provider's own blocks; their words stand in the content."""
    return tuple(
        part
        for key, value in meta.items()
        if isinstance(value, list)
        for i, b in enumerate(value)
        if isinstance(part := blocks.block(b, (key, i)), Image)
    )


def parse(raw: bytes) -> Json:
    """The JSON value of bytes; WireError or TooLarge where they are none that could be handled."""
    try:
        return jsonio.exact(raw)
    except jsonio.TooDeep as e:
        raise TooLarge(f"JSON nested more than {MAX_DEPTH} deep", hint="no provider takes such a body") from e
    except ValueError as e:
        raise WireError(f"not JSON: {e}", hint="one JSON value in UTF-8 is wanted") from e


def encode(value: Json) -> bytes:
    """The bytes of a value; WireError where it is no JSON."""
    try:
        return jsonio.dumps(value)
    except RecursionError as e:
        raise TooLarge(f"nested more than {MAX_DEPTH} deep", hint="no provider takes such a body") from e
    except (TypeError, ValueError) as e:
        raise WireError(f"not JSON: {e}", hint="give dicts, lists, strings, numbers, booleans and None") from e


def string(value: Json) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_text(value: Json) -> str:
    """Arguments as their JSON text: as they are where the wire carries text."""
    if isinstance(value, str):
        return value
    return "" if value is None else jsonio.dumps(value).decode()


def as_blocks(wire: Wire, value: Json, role: str) -> list[Json]:
    """A content as a list of blocks."""
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list) else [wire.text_block(value, role)]


def block_path(path: Path) -> Path:
    """The path of the block (or top-level member) that a part's place lies in."""
    for i, step in enumerate(path):
        if isinstance(step, int):
            return path[: i + 1]
    return path[:1]


def same_role(a: Message, b: Message) -> None:
    """Raises WireError where two messages can't be one."""
    if a.role != b.role:
        raise WireError(f"a {a.role} message and a {b.role} message can't be one")
    if a.role == "tool":
        raise WireError("tool results can't be one message: each answers its own call")


def _json_name(value: Json) -> str:
    names = {str: "a string", list: "a list", dict: "an object", type(None): "missing", bool: "a boolean"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else type(value).__name__)
