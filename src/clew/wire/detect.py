"""Which format is this: by its name, its path, or its shape."""

from __future__ import annotations

from clew.errors import WireError
from clew.jsonio import Json
from clew.wire.anthropic import Anthropic
from clew.wire.base import Wire
from clew.wire.openai_chat import OpenAIChat
from clew.wire.openai_responses import OpenAIResponses

CHAT, RESPONSES, ANTHROPIC = "openai-chat", "openai-responses", "anthropic"
WIRES: dict[str, Wire] = {w.name: w for w in (OpenAIChat(), OpenAIResponses(), Anthropic())}
ALIASES = {
    "openai": CHAT,
    "chat": CHAT,
    "chat-completions": CHAT,
    "responses": RESPONSES,
    "messages": ANTHROPIC,
    "claude": ANTHROPIC,
}
_NAMED = f"name one of {', '.join(WIRES)}"
_PATHS = (("/chat/completions", CHAT), ("/responses", RESPONSES), ("/messages", ANTHROPIC))
_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"}
)
_CHAT_BLOCKS = frozenset({"image_url", "input_audio", "file"})
_RESPONSES_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


def get(name: str) -> Wire:
    """The format of this name or alias."""
    wire = WIRES.get(ALIASES.get(name, name))
    if wire is None:
        raise WireError(f"no wire format is called {name!r}", hint=_NAMED)
    return wire


def detect(value: Json, path: str | None = None) -> str:
    """The name of the format of a body, a list of messages, or one message; `path` is that of the request's URL."""
    if path:
        clean = path.split("?", 1)[0].rstrip("/")
        for end, name in _PATHS:
            if clean.endswith(end) or end + "/" in clean:
                return name
    found = None
    if isinstance(value, list):
        found = _of_messages(value)
    elif isinstance(value, dict):
        found = _of_body(value)
    if found is None:
        raise WireError("not a request, a list of messages or a message in any known format", hint=_NAMED)
    return found


def _of_body(value: dict[str, Json]) -> str | None:
    messages = value.get("messages")
    if not isinstance(messages, list):
        if "input" in value or "previous_response_id" in value:
            return RESPONSES
        return _of_messages([value]) if "role" in value or "type" in value else None
    if "anthropic_version" in value or "stop_sequences" in value or _is_anthropic_system(value.get("system")):
        return ANTHROPIC
    tools = value.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            if "input_schema" in tool:
                return ANTHROPIC
            if isinstance(tool.get("function"), dict):
                return CHAT
    return _of_messages(messages) or (CHAT if not messages else None)


def _is_anthropic_system(system: Json) -> bool:
    return isinstance(system, (str, list)) and bool(system)


def _of_messages(messages: list[Json]) -> str | None:
    """The first message that only one format could hold decides; plain ones are chat."""
    plain = None
    for m in messages:
        if not isinstance(m, dict):
            return None
        kind = m.get("type")
        if "role" not in m:
            return RESPONSES if isinstance(kind, str) and kind != "message" else None
        if kind == "message" and not isinstance(m.get("id"), str):
            return RESPONSES
        if m["role"] in ("tool", "function", "developer") or "tool_calls" in m or "function_call" in m:
            return CHAT
        found = _of_content(m.get("content"))
        if found:
            return found
        plain = CHAT
    return plain


def _of_content(content: Json) -> str | None:
    for b in content if isinstance(content, list) else ():
        if not isinstance(b, dict) or not isinstance(b.get("type"), str):
            continue
        if b["type"] in _ANTHROPIC_BLOCKS or (b["type"] == "image" and "source" in b) or "cache_control" in b:
            return ANTHROPIC
        if b["type"] in _CHAT_BLOCKS:
            return CHAT
        if b["type"] in _RESPONSES_BLOCKS:
            return RESPONSES
    return None
