"""Anthropic Messages: results inside user messages, sealed thinking, tools that the provider runs itself."""

from __future__ import annotations

from typing import ClassVar

from clew.errors import WireError
from clew.jsonio import Json
from clew.transcript import Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from clew.wire import blocks
from clew.wire.base import Request, Wire, as_blocks, as_text, same_role, string

_THINKING = ("thinking", "redacted_thinking")


class Anthropic(Wire):
    name = "anthropic"
    system_key: ClassVar[str | None] = "system"
    roles: ClassVar[frozenset[str]] = frozenset({"user", "assistant", "system"})
    results_in_user: ClassVar[bool] = True
    alternates: ClassVar[bool] = True

    def read(self, value: dict[str, Json]) -> tuple[str, tuple[Part, ...]]:
        role = value.get("role")
        if not isinstance(role, str):
            raise WireError("an Anthropic message has a `role`", hint="is this another format?")
        content = value.get("content")
        if not isinstance(content, list):
            return role, blocks.content(content, ("content",))
        return role, tuple([_block(b, i) for i, b in enumerate(content)])

    def text_message(self, role: str, text: str) -> Message:
        if role == "developer":
            role = "system"
        if role not in self.roles:
            raise WireError(f"no plain message has the role {role!r} in {self.name}")
        return self.message({"role": role, "content": text})

    def result(self, call: ToolCall, text: str) -> Message:
        if call.kind == "server":
            raise WireError("the provider answers its own calls")
        return self.message(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": text}]}
        )

    def merge(self, a: Message, b: Message) -> Message:
        same_role(a, b)
        va, vb = a.value, b.value
        ca, cb = va.get("content"), vb.get("content")
        if isinstance(ca, str) and isinstance(cb, str) and ca and cb:
            content: Json = f"{ca}\n\n{cb}"
        else:
            content = as_blocks(self, ca, a.role) + as_blocks(self, cb, b.role)
            if a.role == "user":
                content.sort(key=lambda block: not _is_result(block))  # stable: results first, all else as it was
        return self.message({**vb, **va, "content": content, **b.meta, **a.meta})

    def system_text(self, request: Request) -> str:
        found = blocks.content(request.system, ())
        return "\n\n".join(p.text for p in found if isinstance(p, Text) and p.text)


def _block(value: Json, i: int) -> Part:
    at = ("content", i)
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        return blocks.block(value, at)
    if kind == "text":
        return blocks.block(value, at)
    if kind == "tool_use":
        return ToolCall(
            string(value.get("id")), string(value.get("name")), as_text(value.get("input")), at=(*at, "input")
        )
    if kind == "tool_result":
        inside = (*at, "content")
        return ToolResult(
            string(value.get("tool_use_id")),
            blocks.content(value.get("content"), inside),
            value.get("is_error") is True,
            at=inside,
        )
    if kind == "thinking":
        return Reasoning(string(value.get("thinking")), bool(value.get("signature")), at)
    if kind == "redacted_thinking":
        return Reasoning("", sealed=True, at=at)
    if kind.endswith("_tool_use"):
        name = string(value.get("name"))
        return ToolCall(string(value.get("id")), name, as_text(value.get("input")), "server", (*at, "input"))
    if kind.endswith("_tool_result"):
        return _server_result(value, kind, at)
    return blocks.block(value, at)


def _server_result(value: dict[str, Json], kind: str, at: tuple[str | int, ...]) -> ToolResult:
    """What a tool of the provider gave: carried, never opened, as much of it is encrypted."""
    content = value.get("content")
    failed = value.get("is_error") is True or (
        isinstance(content, dict) and string(content.get("type")).endswith("_error")
    )
    inside = (*at, "content")
    opaque = Opaque(kind, blocks.readable(content), inside)
    return ToolResult(string(value.get("tool_use_id")), (opaque,), failed, "server", inside)


def _is_result(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") == "tool_result"


def _is_thinking(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") in _THINKING
