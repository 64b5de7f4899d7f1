"""What the gateway serves, in the words of OpenAPI 3.1: its own paths, and of the upstreams' those it looks into."""

from __future__ import annotations

from clew import __version__
from clew.jsonio import Json

_TEXT: Json = {"type": "string"}
_OBJECT: Json = {"type": "object", "additionalProperties": True}
_CONTENT: Json = {"anyOf": [_TEXT, {"type": "array", "items": _OBJECT}, {"type": "null"}]}
_MESSAGE: Json = {
    "type": "object",
    "properties": {"role": _TEXT, "content": _CONTENT},
    "required": ["role"],
    "additionalProperties": True,
}
_ITEM: Json = {
    "type": "object",
    "properties": {"type": _TEXT, "role": _TEXT, "content": _CONTENT, "call_id": _TEXT, "output": _CONTENT},
    "additionalProperties": True,
}
_HEADERS: tuple[tuple[str, str], ...] = (
    ("X-Clew", "`off` sends the request as it came."),
    ("X-Clew-Session", "What the client calls its conversation."),
    ("X-Clew-Upstream", "The name of a configured upstream."),
    ("X-Clew-Token", "The gateway's token, where it has one."),
)


def description() -> dict[str, Json]:
    """The document. An upstream's answers are its own; what Clew itself answers is an error with `code: clew`."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Clew's gateway",
            "version": __version__,
            "description": "Every other path of an upstream is passed on as it came.",
        },
        "paths": {
            "/v1/chat/completions": _passed("Chat Completions", _body("messages", _MESSAGE)),
            "/v1/responses": _passed("Responses", _body("input", _ITEM, text=True)),
            "/v1/responses/compact": _passed("Responses, compacted by the provider", _body("input", _ITEM, text=True)),
            "/v1/messages": _passed("Messages", _body("messages", _MESSAGE, system=True)),
            "/v1/messages/count_tokens": _passed("Tokens of a prompt", _body("messages", _MESSAGE, system=True)),
            "/v1/models": {"get": _operation("The upstream's models", "default")},
            "/health": {"get": _operation("Alive", "200")},
            "/ready": {"get": _operation("Its store answers", "200", "503")},
            "/clew/status": {"get": _operation("What it has done so far", "200")},
            "/clew/openapi.json": {"get": _operation("This description", "200")},
        },
        "components": {
            "parameters": {
                name: {"name": name, "in": "header", "required": False, "description": told, "schema": _TEXT}
                for name, told in _HEADERS
            },
            "schemas": {"Error": _error()},
        },
    }


def _body(key: str, item: Json, *, text: bool = False, system: bool = False) -> Json:
    listed: Json = {"type": "array", "items": item}
    properties: dict[str, Json] = {
        "model": _TEXT,
        key: {"anyOf": [_TEXT, listed]} if text else listed,
        "tools": {"type": "array", "items": _OBJECT},
        "stream": {"type": "boolean"},
    }
    if system:
        properties["system"] = {"anyOf": [_TEXT, {"type": "array", "items": _OBJECT}]}
    return {"type": "object", "properties": properties, "required": ["model", key], "additionalProperties": True}


def _passed(summary: str, body: Json) -> dict[str, Json]:
    content: Json = {"application/json": {"schema": body}}
    named: Json = [{"$ref": f"#/components/parameters/{name}"} for name, _ in _HEADERS[:2]]
    told: Json = {"required": True, "content": content}
    return {"post": {**_operation(summary, "default"), "parameters": named, "requestBody": told}}


def _operation(summary: str, *codes: str) -> dict[str, Json]:
    answers: dict[str, Json] = {
        c: {"description": "The upstream's answer, as it came" if c == "default" else "The gateway's answer"}
        for c in codes
    }
    error: Json = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    refused: Json = {"description": "Refused by the gateway, or by the upstream in its own words", "content": error}
    return {"summary": summary, "responses": answers | {"4XX": refused}}


def _error() -> Json:
    inner: Json = {
        "type": "object",
        "properties": {"type": _TEXT, "message": _TEXT, "code": _TEXT, "param": {}},
        "required": ["type", "message"],
    }
    return {"type": "object", "properties": {"type": _TEXT, "error": inner}, "required": ["error"]}
