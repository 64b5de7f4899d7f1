"""Which way to join the answers of a wire."""

from __future__ import annotations

from clew.errors import InputError
from clew.gateway.recall_tool import anthropic, chat, responses
from clew.gateway.recall_tool.join import Join
from clew.wire.detect import ANTHROPIC, CHAT, RESPONSES

_STREAMS: dict[str, type[Join]] = {
    ANTHROPIC: anthropic.AnthropicEvents,
    CHAT: chat.ChatEvents,
    RESPONSES: responses.ResponsesEvents,
}
_BODIES: dict[str, type[Join]] = {
    ANTHROPIC: anthropic.AnthropicBody,
    CHAT: chat.ChatBody,
    RESPONSES: responses.ResponsesBody,
}


def joining(wire: str, content_type: str, encoding: str) -> Join | None:
    """What joins answers of this kind; None for those that can't be read."""
    if encoding not in ("", "identity", "gzip"):
        return None
    kinds = {"text/event-stream": _STREAMS, "application/json": _BODIES}
    kind = kinds.get(content_type.partition(";")[0].strip().lower())
    if kind is None:
        return None
    if wire not in kind:
        raise InputError(f"unknown wire format {wire!r}", hint="one of openai-chat, openai-responses, anthropic")
    return kind[wire](wire, encoding)
