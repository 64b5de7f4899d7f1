"""Messages: content blocks, thinking with its signature, a stream of block events."""

from __future__ import annotations

from clew import jsonio
from clew.jsonio import Json
from clew.testing.upstream.speak.turn import Turn, named, pieces
from clew.testing.upstream.values import Say, Think


def body(turn: Turn) -> Json:
    return {**_shell(turn), "content": _content(turn), "stop_reason": _stop(turn), "usage": turn.usage_as(_usage(turn))}


def events(turn: Turn) -> list[bytes]:
    usage = turn.usage_as(_usage(turn))
    start = {**_shell(turn), "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    out = [named("message_start", {"type": "message_start", "message": start})]
    for n, block in enumerate(_content(turn)):
        out += _block(block, n)
        if n == 0:
            out.insert(2, named("ping", {"type": "ping"}))
    delta = {"stop_reason": _stop(turn), "stop_sequence": None}
    out.append(named("message_delta", {"type": "message_delta", "delta": delta, "usage": usage}))
    out.append(named("message_stop", {"type": "message_stop"}))
    return out


def _shell(turn: Turn) -> dict[str, Json]:
    return {
        "id": turn.id("msg_01"),
        "type": "message",
        "role": "assistant",
        "model": turn.ask.body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {},
    }


def _content(turn: Turn) -> list[dict[str, Json]]:
    out: list[dict[str, Json]] = []
    for n, part in enumerate(turn.reply.parts):
        if isinstance(part, Think):
            out.append({"type": "thinking", "thinking": part.text, "signature": turn.seals.signature(part.text)})
        elif isinstance(part, Say):
            out.append({"type": "text", "text": part.text})
        else:
            out.append(
                {"type": "tool_use", "id": part.id or turn.id("toolu_01", n), "name": part.name, "input": part.input}
            )
    return out


def _stop(turn: Turn) -> str:
    if turn.reply.stop == "length":
        return "max_tokens"
    return "tool_use" if turn.reply.calls else "end_turn"


def _usage(turn: Turn) -> dict[str, Json]:
    u = turn.usage
    return {
        "input_tokens": u.uncached,
        "cache_creation_input_tokens": u.written_5m + u.written_1h,
        "cache_read_input_tokens": u.read,
        "cache_creation": {"ephemeral_5m_input_tokens": u.written_5m, "ephemeral_1h_input_tokens": u.written_1h},
        "output_tokens": u.output,
        "service_tier": "standard",
    }


def _block(block: dict[str, Json], n: int) -> list[bytes]:
    deltas: list[Json] = []
    if block["type"] == "text":
        opening = {**block, "text": ""}
        deltas += [{"type": "text_delta", "text": p} for p in pieces(block["text"])]
    elif block["type"] == "thinking":
        opening = {"type": "thinking", "thinking": "", "signature": ""}
        deltas += [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    else:
        opening = {**block, "input": {}}
        deltas.append({"type": "input_json_delta", "partial_json": ""})
        deltas += [
            {"type": "input_json_delta", "partial_json": p} for p in pieces(jsonio.dumps(block["input"]).decode())
        ]
    return [
        named("content_block_start", {"type": "content_block_start", "index": n, "content_block": opening}),
        *(named("content_block_delta", {"type": "content_block_delta", "index": n, "delta": d}) for d in deltas),
        named("content_block_stop", {"type": "content_block_stop", "index": n}),
    ]
