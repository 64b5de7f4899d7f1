"""Requests as broken clients, proxies and attackers send them: valid ones, changed in one to four ways.

`body` changes a JSON value or its bytes, `headers` adds odd ones. Framing (lengths, chunks) stays whole, so that every
request has an end and an answer can be waited for.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable

import zstandard

from clew import jsonio
from clew.jsonio import Json

_TOOL = {"type": "object", "properties": {"command": {"type": "string"}}}
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

CHAT: Json = {
    "model": "m",
    "max_tokens": 100,
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": _TOOL}}],
    "messages": [
        {"role": "system", "content": "Be careful."},
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a file"},
        {"role": "assistant", "content": "Done.", "reasoning_content": "hm"},
        {"role": "user", "content": "thanks"},
    ],
}  # fmt: skip
ANTHROPIC: Json = {
    "model": "m",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be careful.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "bash", "input_schema": _TOOL}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a file"}]}, {"type": "text", "text": "thanks"}]},
    ],
}  # fmt: skip
RESPONSES: Json = {
    "model": "m",
    "max_output_tokens": 100,
    "instructions": "Be careful.",
    "store": False,
    "tools": [{"type": "function", "name": "bash", "parameters": _TOOL}],
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": f"data:image/png;base64,{_PIXEL}"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xx"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": '{"command":"ls"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "a file"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
        {"role": "user", "content": "thanks"},
    ],
}  # fmt: skip
ENDPOINTS: dict[str, Json] = {
    "/v1/chat/completions": CHAT,
    "/v1/messages": ANTHROPIC,
    "/v1/messages/count_tokens": ANTHROPIC,
    "/v1/responses": RESPONSES,
    "/v1/responses/compact": RESPONSES,
}

_ODD: tuple[Json, ...] = (
    None, True, 0, -1, 10**30, 1.5, float("inf"), "", " ", "\ud800", "\x00", "a" * 3000, [], {}, [[]], [None], {"": None},
    {"type": "text"}, {"type": 5}, {"role": "user"}, "user", "tool", "clew:k3v9q2m7x4ab", [{"type": "text", "text": 1}],
)  # fmt: skip
_KEYS = ("role", "content", "type", "tool_calls", "tool_call_id", "id", "call_id", "input", "messages", "system", "tools", "model",
         "cache_control", "metadata", "prompt_cache_key", "previous_response_id", "stream", "_private", "", "n", "é")  # fmt: skip
_NAMES = ("x-clew-session", "x-clew-upstream", "x-clew", "session-id", "thread-id", "user-agent", "anthropic-beta", "anthropic-version",
          "accept-encoding", "content-encoding", "content-type", "x-api-key", "authorization", "cookie", "x-forwarded-host", "forwarded",
          "x-forwarded-for", "range", "te", "x-claude-code-agent-id", "chatgpt-account-id", "origin")  # fmt: skip
_VALUES = (b"", b"off", b"gzip", b"zstd", b"br", b"identity", b"gzip, deflate", b"\xff\xfe", b"http://evil.example", b"\xc3\xa9",
           b"\t", b"a" * 8000, b"null", b"up", b"1", b"bytes=0-1", b"application/json", b"text/html; charset=utf-16")  # fmt: skip


def body(seed: Json, dice: random.Random) -> bytes:
    """The seed's bytes, changed."""
    value = jsonio.copy(seed)
    for _ in range(dice.randint(1, 3)):
        value = _changed(value, dice)
    raw = jsonio.dumps(value)
    for _ in range(dice.choice((0, 0, 0, 1, 1, 2))):
        raw = dice.choice(_BYTES)(raw, dice)
    return raw


def headers(raw: bytes, dice: random.Random) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Odd headers, and the body as they say it is packed, mostly."""
    out = [(dice.choice(_NAMES).encode(), dice.choice(_VALUES)) for _ in range(dice.choice((0, 0, 1, 2, 4)))]
    if dice.random() < 0.05:
        out.append(
            (
                b"x-" + bytes(dice.choices(b"abcxyz0-_.~!", k=dice.randint(1, 40))),
                bytes(dice.choices(range(0x21, 0xFF), k=20)),
            )
        )
    if dice.random() < 0.15:
        kind, pack = dice.choice(((b"gzip", gzip.compress), (b"zstd", zstandard.ZstdCompressor().compress)))
        out = [(k, v) for k, v in out if k != b"content-encoding"]
        out.append((b"content-encoding", kind))
        raw = pack(raw)
        if dice.random() < 0.3:
            raw = dice.choice(_BYTES)(raw, dice)
    return out, raw


def _changed(value: Json, dice: random.Random) -> Json:
    """One node somewhere in it changed."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        match dice.randrange(8):
            case 0:
                return {k: v for k, v in value.items() if k != key}
            case 1:
                return {**value, dice.choice(_KEYS): dice.choice(_ODD)}
            case 2:
                return {(dice.choice(_KEYS) if k == key else k): v for k, v in value.items()}
            case _:
                return {**value, key: _changed(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.85:
        at = dice.randrange(len(value))
        match dice.randrange(8):
            case 0:
                return [*value[:at], *value[at + 1 :]]
            case 1:
                return [*value[:at], value[at], *value[at:]]
            case 2:
                return dice.sample(value, len(value))
            case _:
                return [*value[:at], _changed(value[at], dice), *value[at + 1 :]]
    if dice.random() < 0.03:
        return _deep(dice.choice((50, 400, 2000)))
    return dice.choice(_ODD)


def _deep(n: int) -> Json:
    value: Json = "deep"
    for _ in range(min(n, 900)):
        value = [value]
    return value


def _cut(raw: bytes, dice: random.Random) -> bytes:
    return raw[: dice.randrange(len(raw) + 1)]


def _flip(raw: bytes, dice: random.Random) -> bytes:
    if not raw:
        return b"\x00"
    at = dice.randrange(len(raw))
    return raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :]


def _insert(raw: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(raw) + 1)
    odd = (
        b"\x00",
        b"\xff",
        b"{",
        b"]",
        b'"',
        b"\\u",
        b"\\ud800",
        b"1e999",
        b"NaN",
        b" \r\n\t",
        b',"model":"n"',
        b"\xef\xbb\xbf",
    )
    return raw[:at] + dice.choice(odd) + raw[at:]


def _drop(raw: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(raw) + 1)
    return raw[:at] + raw[at + dice.randrange(20) :]


def _twice(raw: bytes, dice: random.Random) -> bytes:
    at, end = sorted((dice.randrange(len(raw) + 1), dice.randrange(len(raw) + 1)))
    return raw[:end] + raw[at:end] + raw[end:]


def _nested(raw: bytes, dice: random.Random) -> bytes:
    """Deeper than any parser goes."""
    return raw.replace(b"null", b"[" * dice.choice((900, 60_000)), 1)


_BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (_cut, _flip, _insert, _drop, _twice, _nested)
