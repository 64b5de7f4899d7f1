"""A message with everything that only weighs taken out: what the protocol's checker looks at, and nothing else.

A session of a hundred megabytes has to be checked as a whole, because a call and its result may stand far apart. In this
form it fits.
"""

from __future__ import annotations

import re

from clew import jsonio
from clew.transcript import Image, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

_AS_OBJECT = re.compile(rb'"arguments"[ \t\r\n:]{1,36}[{\[]')


def light(message: Message) -> Message:
    """The same to the checker."""
    raw = b'"arguments":{' if message.calls and _AS_OBJECT.search(message.raw) else b""
    return Message(message.role, tuple(map(_part, message.parts)), raw, message.wire)


def _part(part: Part) -> Part:
    match part:
        case Text(text):
            return Text(_word(text))
        case Opaque(kind, text):
            return Opaque(kind, _word(text))
        case Reasoning(_, sealed):
            return Reasoning("", sealed)
        case Image():
            return Image()
        case ToolCall(call_id, name, arguments, kind):
            return ToolCall(call_id, name, _arguments(arguments), kind)
        case ToolResult(call_id, parts, is_error, kind):
            kept = (Image(),) if any(isinstance(p, Image) for p in parts) else ()
            return ToolResult(call_id, kept, is_error, kind)


def _word(text: str) -> str:
    if not text or text.isspace():
        return text[:1]
    return "w " if text[-1:].isspace() else "w"


def _arguments(text: str) -> str:
    """A short text that parses where this one does, and begins as it does."""
    if not text:
        return ""
    try:
        jsonio.loads(text)
    except ValueError:
        return text[:1] if text[:1] in "{[" else "w"
    return "{}" if text.startswith("{") else "0"
