"""OpenAI Chat Completions, and what compatible providers and hosts add to it."""

from __future__ import annotations

from typing import ClassVar

from clew.errors import WireError
from clew.jsonio import Json
from clew.transcript import Message, Opaque, Part, Reasoning, ToolCall, ToolResult
from clew.wire import blocks
from clew.wire.base import Request, Wire, as_blocks, as_text, same_role, string

LEGACY = "function_call:"  # the deprecated single call has no id: its name pairs it
_PLAIN_REASONING = ("reasoning_content", "reasoning")
_BOUND_REASONING = ("reasoning_details", "thinking_blocks")
_SEALS = ("signature", "data", "encrypted_content", "thought_signature")


class OpenAIChat(Wire):
    name = "openai-chat"
    roles: ClassVar[frozenset[str]] = frozenset({"system", "developer", "user", "assistant", "tool", "function"})

    def read(self, value: dict[str, Json]) -> tuple[str, tuple[Part, ...]]:
        role = value.get("role")
        if not isinstance(role, str):
            raise WireError("a chat message has a `role`", hint="is this another format?")
        content = value.get("content")
        if role == "tool":
            call_id = string(value.get("tool_call_id"))
            return role, (ToolResult(call_id, blocks.content(content, ("content",)), at=("content",)),)
        if role == "function":
            call_id = LEGACY + string(value.get("name"))
            return "tool", (ToolResult(call_id, blocks.content(content, ("content",)), at=("content",)),)
        if role != "assistant":
            return role, blocks.content(content, ("content",))
        parts = _reasoning(value)
        if isinstance(content, list):
            parts += (_block(b, i) for i, b in enumerate(content))
        else:
            parts += blocks.content(content, ("content",))
        refusal = value.get("refusal")
        if isinstance(refusal, str):
            parts.append(Opaque("refusal", refusal, ("refusal",)))
        if value.get("audio"):
            parts.append(Opaque("audio", blocks.readable(value["audio"]), ("audio",)))
        calls = value.get("tool_calls")
        if isinstance(calls, list):
            parts += (_call(c, i) for i, c in enumerate(calls))
        legacy = value.get("function_call")
        if isinstance(legacy, dict):
            name = string(legacy.get("name"))
            at = ("function_call", "arguments")
            parts.append(ToolCall(LEGACY + name, name, as_text(legacy.get("arguments")), at=at))
        return role, tuple(parts)

    def text_message(self, role: str, text: str) -> Message:
        if role not in ("system", "developer", "user", "assistant"):
            raise WireError(f"no plain message has the role {role!r} in {self.name}")
        return self.message({"role": role, "content": text})

    def result(self, call: ToolCall, text: str) -> Message:
        if call.kind == "server":
            raise WireError("the provider answers its own calls")
        if call.id.startswith(LEGACY):
            return self.message({"role": "function", "name": call.name, "content": text})
        return self.message({"role": "tool", "tool_call_id": call.id, "content": text})

    def merge(self, a: Message, b: Message) -> Message:
        same_role(a, b)
        va, vb = a.value, b.value
        ca, cb = va.get("content"), vb.get("content")
        if ca in (None, "", []) or cb in (None, "", []):
            content = cb if ca in (None, "", []) else ca
        elif isinstance(ca, str) and isinstance(cb, str):
            content = f"{ca}\n\n{cb}"
        else:
            content = as_blocks(self, ca, a.role) + as_blocks(self, cb, b.role)
        both = {**vb, **va, "content": content}
        for key in ("tool_calls", *_BOUND_REASONING):
            if isinstance(va.get(key), list) and isinstance(vb.get(key), list):
                both[key] = va[key] + vb[key]
        for key in (*_PLAIN_REASONING, "refusal"):
            if isinstance(va.get(key), str) and isinstance(vb.get(key), str):
                both[key] = f"{va[key]}\n\n{vb[key]}"
        return self.message({**both, **b.meta, **a.meta})

    def system_text(self, request: Request) -> str:
        return leading_system(request)


def leading_system(request: Request) -> str:
    """The words of the system and developer messages that a request starts with."""
    texts = []
    for m in request.messages:
        if m.role not in ("system", "developer"):
            break
        texts.append(m.text)
    return "\n\n".join(t for t in texts if t)


def _reasoning(value: dict[str, Json]) -> list[Part]:
    """Plain thinking first; what is bound to it by a signature beside it, without saying its words twice."""
    plain = {k: value[k] for k in _PLAIN_REASONING if isinstance(value.get(k), str) and value[k]}
    if len(set(plain.values())) < len(plain):
        del plain["reasoning"]
    parts: list[Part] = [Reasoning(text, at=(key,)) for key, text in plain.items()]
    for key in _BOUND_REASONING:
        details = value.get(key)
        if isinstance(details, list) and details:
            sealed = any(isinstance(d, dict) and any(d.get(s) for s in _SEALS) for d in details)
            words = "" if parts else "\n".join(t for t in map(_thought, details) if t)
            parts.append(Reasoning(words, sealed, (key,)))
    return parts


def _thought(detail: Json) -> str:
    if not isinstance(detail, dict):
        return ""
    return next((detail[k] for k in ("text", "summary", "thinking") if isinstance(detail.get(k), str)), "")


def _block(value: Json, i: int) -> Part:
    """A block of an assistant's content; some providers put thinking there."""
    if isinstance(value, dict) and value.get("type") in ("thinking", "reasoning", "redacted_thinking"):
        thought = value.get("thinking")
        words = blocks.readable(thought) if thought is not None else _thought(value)
        return Reasoning(words, any(bool(value.get(s)) for s in _SEALS), ("content", i))
    return blocks.block(value, ("content", i))


def _call(value: Json, i: int) -> Part:
    at = ("tool_calls", i)
    if not isinstance(value, dict):
        return Opaque("unknown", "", at)
    call_id = string(value.get("id"))
    custom = value.get("custom")
    if isinstance(custom, dict):
        return ToolCall(
            call_id, string(custom.get("name")), as_text(custom.get("input")), "custom", (*at, "custom", "input")
        )
    function = value.get("function")
    if not isinstance(function, dict):
        return Opaque(string(value.get("type")) or "unknown", "", at)
    name, arguments = string(function.get("name")), as_text(function.get("arguments"))
    return ToolCall(call_id, name, arguments, at=(*at, "function", "arguments"))
