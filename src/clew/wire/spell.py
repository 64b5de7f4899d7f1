"""A neutral turn spelled as the messages of one format; what the format has no place for is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from clew import jsonio
from clew.jsonio import Json
from clew.transcript import Image, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from clew.wire.blocks import Content
from clew.wire.detect import ANTHROPIC

IMAGE_LEFT_OUT = "[image]"
_ID_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@dataclass(frozen=True, slots=True)
class Loss:
    """Something the other format can't carry: the source message's position, and what it was."""

    place: int
    what: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What one role said at a stretch: parts, each with the position of its source message."""

    role: str
    parts: tuple[tuple[int, Part], ...]


@dataclass(slots=True)
class Speller:
    """Collects what is lost while turns are spelled; one for each conversion."""

    lost: list[Loss] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def lose(self, place: int, what: str) -> None:
        loss = Loss(place, what)
        if loss not in self.lost[-8:]:
            self.lost.append(loss)

    def carried(self, turn: Turn, wire: str) -> Turn:
        """The turn with the parts that this format can carry; the others are named."""
        out: list[tuple[int, Part]] = []
        for place, p in turn.parts:
            match p:
                case Text() if not p.text:
                    pass
                case Text() if wire == ANTHROPIC and not p.text.strip():
                    self.lose(place, "a text of blanks")
                case Text():
                    out.append((place, p))
                case Image(data="", url=""):
                    self.lose(place, "an image that the provider keeps")
                case Image() if turn.role != "user":
                    self.lose(place, f"an image in a message of role {turn.role}")
                case Reasoning():
                    self.lose(place, "sealed reasoning" if p.sealed else "reasoning")
                case ToolCall(kind="server") | ToolResult(kind="server"):
                    self.lose(place, "a call that the provider ran itself")
                case Opaque(kind="refusal"):
                    self.lose(place, "that a text is a refusal")
                    out.append((place, Text(p.text)))
                case Opaque():
                    self.lose(place, f"a block of type {p.kind}")
                case _:
                    out.append((place, p))
        return Turn(turn.role, tuple(out))

    def words_and_images(self, result: ToolResult, place: int, *, images: bool) -> list[Text | Image]:
        """What of a result can be carried."""
        out: list[Text | Image] = []
        for p in result.parts:
            if isinstance(p, Opaque):
                self.lose(place, f"a block of type {p.kind} in a tool result")
            elif isinstance(p, Image) and not (images and (p.data or p.url)):
                self.lose(place, "an image in a tool result")
                out.append(Text(IMAGE_LEFT_OUT))
            else:
                out.append(p)
        return out

    def plain_id(self, call_id: str) -> str:
        """The id in letters that every provider takes, the same for a call and its result."""
        if call_id not in self.ids:
            plain = "".join(c if c in _ID_LETTERS else "_" for c in call_id)
            while plain in self.taken:
                plain += "_"
            self.taken.add(plain)
            self.ids[call_id] = plain
        return self.ids[call_id]


Spelling: TypeAlias = Callable[[Speller, Turn], list[Json]]


def image_url(image: Image) -> str:
    return image.url or f"data:{image.media_type or 'image/png'};base64,{image.data}"


def chat(speller: Speller, turn: Turn) -> list[Json]:
    parts = turn.parts
    if turn.role == "tool":
        out = []
        for place, p in parts:
            if isinstance(p, ToolResult):
                if p.is_error:
                    speller.lose(place, "that a result is an error")
                inner = speller.words_and_images(p, place, images=False)
                out.append({"role": "tool", "tool_call_id": p.call_id, "content": _content(inner, _chat_block) or ""})
        return out
    calls = [_chat_call(speller, place, p) for place, p in parts if isinstance(p, ToolCall)]
    said = [p for _, p in parts if isinstance(p, (Text, Image))]
    if not (calls or said):
        return []
    message: dict[str, Json] = {"role": turn.role, "content": _content(said, _chat_block)}
    if calls:
        message["tool_calls"] = calls
        last_text = max((i for i, (_, p) in enumerate(parts) if isinstance(p, Text)), default=-1)
        first_call = next(i for i, (_, p) in enumerate(parts) if isinstance(p, ToolCall))
        if last_text > first_call:
            speller.lose(parts[last_text][0], "that a text came after a call")
    return [message]


def _chat_call(speller: Speller, place: int, call: ToolCall) -> Json:
    if call.kind == "custom":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    if call.kind != "function":
        speller.lose(place, f"that a call is of kind {call.kind}")
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _chat_block(p: Content) -> Json:
    if isinstance(p, Image):
        return {"type": "image_url", "image_url": {"url": image_url(p)}}
    return {"type": "text", "text": p.text}


def anthropic(speller: Speller, turn: Turn) -> list[Json]:
    role = {"tool": "user", "developer": "system"}.get(turn.role, turn.role)
    blocks: list[Json] = []
    only: list[Content] = []
    for place, p in turn.parts:
        match p:
            case ToolCall():
                blocks.append(_anthropic_call(speller, place, p))
            case ToolResult():
                inner = speller.words_and_images(p, place, images=True)
                block = {"type": "tool_result", "tool_use_id": speller.plain_id(p.call_id)}
                content = _content(inner, _anthropic_block)
                blocks.append(
                    block | ({"content": content} if content else {}) | ({"is_error": True} if p.is_error else {})
                )
            case Text() | Image():
                only.append(p)
                blocks.append(_anthropic_block(p))
    if not blocks:
        return []
    return [{"role": role, "content": _content(only, _anthropic_block) if len(only) == len(blocks) else blocks}]


def _anthropic_call(speller: Speller, place: int, call: ToolCall) -> Json:
    if call.kind != "function":
        speller.lose(place, f"that a call is of kind {call.kind}")
    arguments: Json = call.arguments
    if call.kind != "custom":
        try:
            arguments = jsonio.exact(call.arguments or "{}")
        except ValueError:
            speller.lose(place, "arguments as they were, which are no JSON")
    if not isinstance(arguments, dict):
        arguments = {"input": arguments}
    return {"type": "tool_use", "id": speller.plain_id(call.id), "name": call.name, "input": arguments}


def _anthropic_block(p: Content) -> Json:
    if not isinstance(p, Image):
        return {"type": "text", "text": p.text}
    if p.data:
        source = {"type": "base64", "media_type": p.media_type or "image/png", "data": p.data}
    else:
        source = {"type": "url", "url": p.url}
    return {"type": "image", "source": source}


def responses(speller: Speller, turn: Turn) -> list[Json]:
    out: list[Json] = []
    said: list[Text | Image] = []

    def flush() -> None:
        if said:
            kind = "output_text" if turn.role == "assistant" else "input_text"
            content = [_responses_block(p, kind) for p in said]
            out.append({"type": "message", "role": turn.role, "content": content})
            said.clear()

    for place, p in turn.parts:
        match p:
            case ToolCall():
                flush()
                out.append(_responses_call(speller, place, p))
            case ToolResult():
                flush()
                out.append(_responses_output(speller, place, p))
            case Text() | Image():
                said.append(p)
    flush()
    return out


def _responses_call(speller: Speller, place: int, call: ToolCall) -> Json:
    if call.kind == "custom":
        return {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": call.arguments}
    if call.kind != "function":
        speller.lose(place, f"that a call is of kind {call.kind}")
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def _responses_output(speller: Speller, place: int, result: ToolResult) -> Json:
    if result.is_error:
        speller.lose(place, "that a result is an error")
    inner = speller.words_and_images(result, place, images=True)
    kind = "custom_tool_call_output" if result.kind == "custom" else "function_call_output"
    output = _content(inner, lambda p: _responses_block(p, "input_text"))
    return {"type": kind, "call_id": result.call_id, "output": output or ""}


def _responses_block(p: Content, kind: str) -> Json:
    return (
        {"type": "input_image", "image_url": image_url(p)} if isinstance(p, Image) else {"type": kind, "text": p.text}
    )


def _content(parts: list[Text | Image] | list[Content], block: Callable[[Content], Json]) -> Json:
    """A string where it is one text, else blocks; None for nothing."""
    if not parts:
        return None
    first = parts[0]
    if len(parts) == 1 and isinstance(first, Text):
        return first.text
    return [block(p) for p in parts]
