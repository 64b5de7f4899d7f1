"""The client's own tools, as a model that never saw them before would call them."""

from __future__ import annotations

from collections.abc import Sequence

from clew.jsonio import Json
from clew.testing.upstream.values import Ask, Call

_KEYS = ("command", "cmd", "script")
_SIMPLE: dict[str, Json] = {"integer": 30, "number": 30, "boolean": False, "array": [], "object": {}}
_AGENTS = {"Task": "general-purpose", "Agent": "general-purpose", "task": "general"}


def offered(ask: Ask, names: Sequence[str]) -> Json:
    """The definition of the first of these tools that the client offers, its name at the top; None without one."""
    found = {}
    for tool in ask.tools:
        function = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        if isinstance(function.get("name"), str):
            found[function["name"]] = function
    return next((found[n] for n in names if n in found), None)


def shell_call(tool: Json, command: str, call_id: str) -> Call:
    """A call of a shell tool, whatever its argument is called."""
    properties = _schema(tool).get("properties", {})
    key = next((k for k in _KEYS if k in properties), _KEYS[0])
    value: Json = ["bash", "-lc", command] if properties.get(key, {}).get("type") == "array" else command
    return Call(tool["name"], filled(tool, key, value), call_id)


def filled(tool: Json, key: str, value: Json) -> dict[str, Json]:
    """An input with `key` set and everything else that is required given some value of its type."""
    schema = _schema(tool)
    out: dict[str, Json] = {}
    for name in schema.get("required", ()):
        kind = schema["properties"].get(name, {})
        chosen = _AGENTS.get(tool["name"], "general") if name == "subagent_type" else "a step of the errand"
        out[name] = (kind.get("enum") or [_SIMPLE.get(kind.get("type", ""), chosen)])[0]
    return {**out, key: value}


def _schema(tool: Json) -> Json:
    return tool.get("input_schema") or tool.get("parameters") or {}
