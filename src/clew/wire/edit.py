"""An edit rendered: a message with other words at the places of some of its parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from clew import jsonio
from clew.errors import WireError
from clew.jsonio import Json
from clew.transcript import Image, Message, Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult, at_path, put
from clew.wire.base import Wire, block_path
from clew.wire.detect import get
from clew.wire.openai_responses import output_value


def render(message: Message, edits: Mapping[int, str | None]) -> Message:
    """The message as it is shown with `edits`: index of a part to the text shown instead, None to drop its block.

    A call gets other arguments (JSON text), a result other content, an image gives way to words. Role and call ids stay.
    """
    wire = get(message.wire)
    value: Json = {**message.value, **message.meta}
    dropped: list[Path] = []
    for i, shown in edits.items():
        part = message.parts[i]
        if shown is None:
            dropped.append(_droppable(part))
        else:
            value = _shown(wire, message.role, value, part, shown)
    for path in sorted(dropped, key=_from_the_end):
        value = _without(value, path)
    if dropped and not _has_content(value):
        raise WireError("nothing would be left of the message", hint="leave the message out instead")
    edited = wire.message(value)
    _same_pairs(message, edited)
    return edited


def without(message: Message, parts: Collection[int]) -> Message | None:
    """The message without these parts, calls and results too; None where nothing is left. For repairs, not for edits."""
    places = {block_path(message.parts[i].at) for i in parts}
    value: Json = {**message.value, **message.meta}
    if places and "role" not in value:  # an item that is no message is one thing
        return None
    for path in sorted(places, key=_from_the_end):
        value = _without(value, path)
    return get(message.wire).message(value) if _has_content(value) else None


def _shown(wire: Wire, role: str, value: Json, part: Part, text: str) -> Json:
    match part:
        case Text():
            return put(value, part.at, text)
        case ToolCall(kind="server") | ToolResult(kind="server"):
            raise WireError("what the provider ran itself is bound to it and can't be edited")
        case ToolCall():
            return put(value, part.at, _arguments(at_path(value, part.at), text, part.at[-1]))
        case ToolResult():
            return _result(value, part, text)
        case Image():
            old = at_path(value, part.at)
            block = wire.text_block(text, role)
            if isinstance(old, dict) and "cache_control" in old:
                block = {**block, "cache_control": old["cache_control"]}
            return put(value, part.at, block)
        case Reasoning(sealed=False) if part.at:
            return _thought(value, part, text)
        case Reasoning():
            raise WireError("sealed reasoning is kept or dropped as a whole")
        case Opaque():
            if part.at[:1] != ("content",):
                raise WireError(f"a {part.kind} is no place for other words")
            return put(value, part.at, wire.text_block(text, role))


def _arguments(old: Json, text: str, key: str | int) -> Json:
    """Text where the wire carries text, an object where it carries one."""
    if isinstance(old, str) or (old is None and key == "arguments"):
        return text
    try:
        new = jsonio.exact(text)
    except ValueError as e:
        raise WireError(f"the new arguments are no JSON: {e}") from e
    if not isinstance(new, dict):
        raise WireError("the new arguments are no JSON object")
    return new


def _result(value: Json, part: ToolResult, text: str) -> Json:
    if part.kind == "computer":
        raise WireError("the result of a computer call is a screenshot and can't be words")
    if part.at[:1] != ("output",):
        return put(value, part.at, text)
    return put(value, part.at, output_value(value["type"], text, value.get("output")))


def _thought(value: Json, part: Reasoning, text: str) -> Json:
    old = at_path(value, part.at)
    if isinstance(old, str):
        return put(value, part.at, text)
    key = next((k for k in ("thinking", "text") if isinstance(old, dict) and isinstance(old.get(k), str)), None)
    if key is None:
        raise WireError("this reasoning is kept or dropped as a whole")
    return put(value, (*part.at, key), text)


def _droppable(part: Part) -> Path:
    if isinstance(part, (ToolCall, ToolResult)):
        raise WireError("a call and its result stay a pair: give other words instead of dropping one")
    path = block_path(part.at)
    if not path:
        raise WireError(
            "this item is one part and can only be left out as a whole", hint="leave the message out instead"
        )
    return path


def _from_the_end(path: Path) -> tuple[str, int]:
    """Later elements of a list first, so that the places of earlier ones still hold."""
    last = path[-1]
    return str(path[0]), -last if isinstance(last, int) else 0


def _without(value: Json, path: Path) -> Json:
    key, rest = path[0], path[1:]
    if not rest:
        if key == "content":
            return {**value, "content": None if value.get("role") == "assistant" else ""}
        return {k: v for k, v in value.items() if k != key}
    listed = at_path(value, path[:-1])
    left = [v for i, v in enumerate(listed) if i != path[-1]]
    return put(value, path[:-1], left) if left else _without(value, path[:-1])


def _has_content(value: Json) -> bool:
    if value.get("type", "message") not in ("message", "") and "role" not in value:
        return True
    return bool(value.get("content") or value.get("tool_calls") or value.get("function_call") or value.get("refusal"))


def _same_pairs(before: Message, after: Message) -> None:
    if before.role != after.role or _ids(before) != _ids(after):
        raise WireError("the edit would change what calls and results belong to")


def _ids(message: Message) -> list[str]:
    return [c.id for c in message.calls] + [r.call_id for r in message.results]
