"""What a list of tools costs. OpenAI shows them to its models as type declarations, shorter than their JSON; others
get the JSON. The frames are the family's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from clew import jsonio
from clew.jsonio import Json
from clew.tokens.exact import count_text
from clew.tokens.families import Family
from clew.tokens.message import Tally

_DEEPEST = 20


def tools_tally(tools: Iterable[Json], family: Family) -> Tally:
    """The tokens of tool definitions as any of the wires spells them; nothing for none."""
    total, any_of_them = Tally(), False
    for tool in tools:
        any_of_them = True
        total = total.plus(_tool(jsonio.dumps(tool), family))
    return total.plus(Tally(fixed=family.tools)) if any_of_them else total


@lru_cache(maxsize=4096)
def _tool(raw: bytes, family: Family) -> Tally:
    text = raw.decode("utf-8", "replace")
    if family.tools_as_types:
        text = "\n".join(_declaration(jsonio.loads(raw)))
    return Tally(count_text(text, family.encoding), family.tool)


def _declaration(tool: Json) -> Iterator[str]:
    body = tool.get("function", tool) if isinstance(tool, dict) else {}
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        yield jsonio.dumps(tool).decode("utf-8", "replace")
        return
    yield from _comment(body.get("description"), "")
    schema = body.get("parameters", body.get("input_schema"))
    if isinstance(schema, dict) and schema.get("properties"):
        yield f"type {body['name']} = (_: {{"
        yield from _members(schema, "")
        yield "}) => any;"
    else:
        rest = {k: v for k, v in body.items() if k not in ("type", "name", "description", "parameters", "strict")}
        yield f"type {body['name']} = () => any;" + (jsonio.dumps(rest).decode("utf-8", "replace") if rest else "")


def _members(schema: Mapping[str, Json], indent: str) -> Iterator[str]:
    required = schema.get("required") or ()
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(indent) > _DEEPEST:
        return
    for name, inner in properties.items():
        if isinstance(inner, dict):
            yield from _comment(inner.get("description"), indent)
        optional = "" if name in required else "?"
        yield f"{indent}{name}{optional}: {_type(inner, indent)},"


def _type(schema: Json, indent: str) -> str:
    if not isinstance(schema, dict):
        return "any"
    if isinstance(schema.get("enum"), list):
        return " | ".join(jsonio.dumps(v).decode("utf-8", "replace") for v in schema["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and len(indent) <= _DEEPEST:
            return " | ".join(_type(s, indent + " ") for s in schema[key])
    kind = schema.get("type")
    if kind == "array":
        return _type(schema.get("items"), indent + " ") + "[]" if len(indent) <= _DEEPEST else "any[]"
    if kind == "object" and schema.get("properties"):
        return "\n".join(("{", *_members(schema, indent + " "), indent + "}"))
    if isinstance(kind, list):
        return " | ".join(map(str, kind))
    return "number" if kind == "integer" else str(kind or "any")


def _comment(text: Json, indent: str) -> Iterator[str]:
    if isinstance(text, str) and text:
        yield f"{indent}// {text}"
