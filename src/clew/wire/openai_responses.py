"""OpenAI Responses: a list of items, of which only some are messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from clew.errors import WireError
from clew.jsonio import Json
from clew.transcript import Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from clew.wire import blocks
from clew.wire.base import Request, Wire, as_blocks, as_text, same_role, string
from clew.wire.openai_chat import leading_system

# Calls that run on the client: item type -> (kind, where the arguments stand, the tool's name unless the item has one)
_CALLS = {
    "function_call": ("function", "arguments", ""),
    "custom_tool_call": ("custom", "input", ""),
    "local_shell_call": ("local_shell", "action", "local_shell"),
    "shell_call": ("shell", "action", "shell"),
    "apply_patch_call": ("apply_patch", "operation", "apply_patch"),
    "computer_call": ("computer", "action", "computer"),
}
# Their outputs: kind of the call -> item type
_OUTPUTS = {
    "function": "function_call_output",
    "custom": "custom_tool_call_output",
    "local_shell": "local_shell_call_output",
    "shell": "shell_call_output",
    "apply_patch": "apply_patch_call_output",
    "computer": "computer_call_output",
}
_KIND_OF_OUTPUT = {item: kind for kind, item in _OUTPUTS.items()}
_FAILED = ("failed", "incomplete")


class OpenAIResponses(Wire):
    name = "openai-responses"
    messages_key: ClassVar[str] = "input"
    system_key: ClassVar[str | None] = "instructions"
    roles: ClassVar[frozenset[str]] = frozenset({"system", "developer", "user", "assistant", "tool"})
    text_types: ClassVar[Mapping[str, str]] = dict.fromkeys(("system", "developer", "user", "tool"), "input_text") | {
        "assistant": "output_text"
    }

    def read(self, value: dict[str, Json]) -> tuple[str, tuple[Part, ...]]:
        kind = value.get("type", "message")
        if not isinstance(kind, str):
            raise WireError("a Responses item has a `type`, or a `role`", hint="is this another format?")
        role = value.get("role")
        if kind == "message":
            if not isinstance(role, str):
                raise WireError("a message item has a `role`", hint="is this another format?")
            return role, blocks.content(value.get("content"), ("content",))
        if kind in _CALLS:
            return "assistant", (_call(value, kind),)
        if kind in _KIND_OF_OUTPUT:
            return "tool", (_output(value, kind),)
        reader = _OTHERS.get(kind)
        if reader is not None:
            return "assistant", reader(value)
        role = role if isinstance(role, str) else "user" if kind == "mcp_approval_response" else "assistant"
        return role, (Opaque(kind, _seen(value)),)

    def text_message(self, role: str, text: str) -> Message:
        if role not in ("system", "developer", "user", "assistant"):
            raise WireError(f"no plain message has the role {role!r} in {self.name}")
        return self.message({"type": "message", "role": role, "content": [self.text_block(text, role)]})

    def result(self, call: ToolCall, text: str) -> Message:
        kind = _OUTPUTS.get(call.kind)
        if kind is None or call.kind == "computer":
            raise WireError(f"no text can answer a call of kind {call.kind}")
        key = "id" if call.kind == "local_shell" else "call_id"
        return self.message({"type": kind, key: call.id, "output": output_value(kind, text, None)})

    def merge(self, a: Message, b: Message) -> Message:
        same_role(a, b)
        va, vb = a.value, b.value
        if {va.get("type", "message"), vb.get("type", "message")} != {"message"}:
            raise WireError("only message items can be one: every other item is a thing of its own")
        ca, cb = va.get("content"), vb.get("content")
        if isinstance(ca, str) and isinstance(cb, str):
            content: Json = f"{ca}\n\n{cb}" if ca and cb else ca or cb
        else:
            content = as_blocks(self, ca, a.role) + as_blocks(self, cb, b.role)
        both = {**vb, **va, "content": content, **b.meta, **a.meta}
        both.pop("id", None)  # an id names one stored item, and this is none of them
        return self.message(both)

    def system_text(self, request: Request) -> str:
        own = request.system if isinstance(request.system, str) else ""
        return "\n\n".join(t for t in (own, leading_system(request)) if t)

    def _listed(self, value: dict[str, Json]) -> list[Json]:
        listed = value.get(self.messages_key)
        if isinstance(listed, str):
            return [{"role": "user", "content": listed}]
        if listed is None:  # a stored prompt or conversation stands for it
            return []
        return super()._listed(value)


def output_value(kind: str, text: str, old: Json) -> Json:
    """What the `output` of an item of this type becomes when it is to say `text`; `old` is what it was."""
    if kind != "shell_call_output":
        return text
    last = old[-1] if isinstance(old, list) and old and isinstance(old[-1], dict) else {}
    return [{"stdout": text, "stderr": "", "outcome": last.get("outcome", {"type": "exit", "exit_code": 0})}]


def _call_id(value: dict[str, Json]) -> str:
    return string(value.get("call_id")) or string(value.get("id"))


def _call(value: dict[str, Json], item: str) -> ToolCall:
    kind, key, name = _CALLS[item]
    return ToolCall(_call_id(value), string(value.get("name")) or name, as_text(value.get(key)), kind, (key,))


def _output(value: dict[str, Json], item: str) -> ToolResult:
    output = value.get("output")
    parts: tuple[blocks.Content, ...]
    if item == "shell_call_output" and isinstance(output, list):
        parts = tuple(
            Text(chunk[key], ("output", i, key))
            for i, chunk in enumerate(output)
            if isinstance(chunk, dict)
            for key in ("stdout", "stderr")
            if isinstance(chunk.get(key), str)
        )
    else:
        parts = blocks.content(output, ("output",))
    failed = value.get("status") in _FAILED
    return ToolResult(_call_id(value), parts, failed, _KIND_OF_OUTPUT[item], ("output",))


def _reasoning(value: dict[str, Json]) -> tuple[Part, ...]:
    texts = [blocks.readable(value.get(k)) for k in ("summary", "content")]
    return (Reasoning("\n".join(t for t in texts if t), bool(value.get("encrypted_content"))),)


def _mcp_call(value: dict[str, Json]) -> tuple[Part, ...]:
    """A call that the provider ran, with what came of it in the same item."""
    call_id = string(value.get("id"))
    call = ToolCall(call_id, string(value.get("name")), as_text(value.get("arguments")), "server", ("arguments",))
    output = value.get("output")
    failed = value.get("error") is not None
    text = blocks.readable(value["error"] if failed and output is None else output)
    seen = (Opaque("mcp_call", text, ("output",)),)
    return call, ToolResult(call_id, seen, failed, "server", ("output",))


_OTHERS: dict[str, Callable[[dict[str, Json]], tuple[Part, ...]]] = {"reasoning": _reasoning, "mcp_call": _mcp_call}


def _seen(value: dict[str, Json]) -> str:
    """The words of an item that Clew doesn't look into: what was searched for, which code ran."""
    action = value.get("action")
    found = [
        blocks.readable(value),
        blocks.readable(action) if isinstance(action, dict) else "",
        string(value.get("code")),
    ]
    return "\n".join(t for t in found if t)
