"""Where marks stand in a request, where one may stand, and how one is put there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clew.economics import Ttl
from clew.jsonio import Json
from clew.transcript import Message
from clew.wire import Request, get

_KEY = "cache_control"
# Thinking can't carry a mark, nor can what a provider's own tools left; the latter is seldom last, so it isn't tried.
_MARKABLE = {
    "anthropic": frozenset({"text", "image", "document", "search_result", "tool_use", "tool_result"}),
    "openai-chat": frozenset({"text"}),
}
TOOLS, SYSTEM, MESSAGES, WHOLE = range(4)


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A place in the order in which the provider reads. `index` is that of a tool, system block or message."""

    section: int
    index: int
    block: int = 0


def is_system(message: Message) -> bool:
    return message.role in ("system", "developer")


def leading(request: Request) -> int:
    """How many messages of a chat body are its system prompt."""
    if request.wire != "openai-chat":
        return 0
    return next((i for i, m in enumerate(request.messages) if not is_system(m)), len(request.messages))


def found(request: Request) -> list[tuple[Spot, Ttl]]:
    """The marks that are there, in order. One on the whole request counts as its last."""
    out = [(Spot(TOOLS, i), t) for i, tool in enumerate(request.tools) if (t := tool_life(tool))]
    if isinstance(request.system, list):
        out += [(Spot(SYSTEM, i), t) for i, block in enumerate(request.system) if (t := life(block))]
    first = leading(request)
    for i, m in enumerate(request.messages):
        if m.has_cache_marks:
            out += [(Spot(SYSTEM if i < first else MESSAGES, i, k), t) for k, t in _in_message(m.value)]
    if t := life(request.rest):
        out.append((Spot(WHOLE, 0), t))
    return out


def tool_life(tool: Json) -> Ttl | None:
    """The same of a tool, which the chat wire may mark in two places."""
    return life(tool) or (life(tool.get("function")) if isinstance(tool, dict) else None)


def _in_message(value: Json) -> Iterator[tuple[int, Ttl]]:
    content = value.get("content")
    for k, block in enumerate(content if isinstance(content, list) else ()):
        inner = block.get("content") if isinstance(block, dict) else None
        for b in inner if isinstance(inner, list) else ():
            if t := life(b):
                yield k, t
        if t := life(block):
            yield k, t
    if t := life(value):
        yield 0, t


def life(value: Json) -> Ttl | None:
    """The life that a mark asks for; None where there is no mark."""
    """The life that a mark asks for; None where there is no mark."""
    mark = value.get(_KEY) if isinstance(value, dict) else None
    if not isinstance(mark, dict):
        return None
    return "1h" if mark.get("ttl") == "1h" else "5m"


def last_block(message: Message) -> int:
    """The last block of a message that can carry a mark; -1 where none can."""
    content = message.value.get("content")
    if isinstance(content, str):
        return 0 if content.strip() else -1
    blocks = content if isinstance(content, list) else []
    return next((k for k in range(len(blocks) - 1, -1, -1) if _can(blocks[k], message.wire)), -1)


def _can(block: Json, wire: str) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in _MARKABLE[wire]:
        return False
    return kind != "text" or (isinstance(block.get("text"), str) and bool(block["text"].strip()))


def last_tool(request: Request) -> int:
    """The last tool that can carry a mark: one that is loaded later can't. -1 where none can."""
    tools = request.tools
    ok = (i for i in range(len(tools) - 1, -1, -1) if isinstance(tools[i], dict) and not tools[i].get("defer_loading"))
    return next(ok, -1)


def last_system_block(system: Json) -> int:
    """The same for a system prompt outside the messages."""
    if isinstance(system, str):
        return 0 if system.strip() else -1
    blocks = system if isinstance(system, list) else []
    return next((k for k in range(len(blocks) - 1, -1, -1) if _can(blocks[k], "anthropic")), -1)


def put(request: Request, spot: Spot, ttl: Ttl) -> Request:
    """The request with a mark at a place that can carry one. Nothing of the given request changes."""
    mark = {"type": "ephemeral", "ttl": "1h"} if ttl == "1h" else {"type": "ephemeral"}
    if spot.section == TOOLS:
        tool = {**request.tools[spot.index], _KEY: mark}
        return request.replace(tools=(*request.tools[: spot.index], tool, *request.tools[spot.index + 1 :]))
    if spot.section == SYSTEM and request.wire == "anthropic":
        return request.replace(system=_marked(request.system, spot.index, mark))
    message = request.messages[spot.index]
    value = message.value
    return replaced(request, spot.index, {**value, "content": _marked(value["content"], spot.block, mark)})


def replaced(request: Request, index: int, value: Json) -> Request:
    """The request with another value for one message."""
    old = request.messages
    new = get(request.wire).message({**value, **old[index].meta})
    return request.replace(messages=(*old[:index], new, *old[index + 1 :]))


def _marked(content: Json, block: int, mark: Json) -> Json:
    if isinstance(content, str):
        return [{"type": "text", "text": content, _KEY: mark}]
    return [{**b, _KEY: mark} if k == block else b for k, b in enumerate(content)]
