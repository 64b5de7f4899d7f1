"""Requests to a scripted upstream, as a client would send them."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

PATHS = {"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}
MODELS = {"anthropic": "claude-opus-4-6", "openai-chat": "gpt-5", "openai-responses": "gpt-5"}
HEADERS = {
    "content-type": "application/json",
    "authorization": "Bearer k",
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
}


@dataclass(frozen=True)
class Got:
    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def value(self):
        return json.loads(self.raw)

    @property
    def words(self) -> str:
        return self.value["error"]["message"]


def send(url, method, path, raw=b"", headers=HEADERS) -> Got:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    try:
        connection.request(method, path, raw, headers)
        response = connection.getresponse()
        return Got(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def body(wire, messages, **more):
    base = {"model": MODELS[wire], ("input" if wire == "openai-responses" else "messages"): messages}
    if wire == "anthropic":
        base["max_tokens"] = 1000
    return {**base, **more}


def ask(url, wire, messages, headers=HEADERS, **more) -> Got:
    return send(url, "POST", PATHS[wire], json.dumps(body(wire, messages, **more)).encode(), headers)


def user(wire, text="hello"):
    return {"role": "user", "content": text}


def shell(wire):
    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    if wire == "anthropic":
        return {"name": "Bash", "input_schema": schema}
    if wire == "openai-responses":
        return {"type": "function", "name": "shell", "parameters": schema}
    return {"type": "function", "function": {"name": "bash", "parameters": schema}}
