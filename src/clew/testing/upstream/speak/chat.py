"""Chat Completions: one message with its tool calls, a stream of chunks that ends in `[DONE]`."""

from __future__ import annotations

from clew import jsonio
from clew.jsonio import Json
from clew.testing.upstream.speak.turn import Turn, bare, pieces
from clew.testing.upstream.values import Call, Say, Think


def body(turn: Turn) -> Json:
    message: dict[str, Json] = {"role": "assistant", "content": _text(turn) or None}
    if thought := _thought(turn):
        message["reasoning_content"] = thought
    if calls := _calls(turn):
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _stop(turn)}
    return {**_shell(turn, "chat.completion"), "choices": [choice], "usage": turn.usage_as(_usage(turn))}


def events(turn: Turn) -> list[bytes]:
    shell = _shell(turn, "chat.completion.chunk")
    wants_usage = bool((turn.ask.body.get("stream_options") or {}).get("include_usage"))

    def chunk(delta: Json, stop: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}
        return bare({**shell, "choices": [choice], **({"usage": None} if wants_usage else {})})

    out = [chunk({"role": "assistant", "content": None if _calls(turn) and not _text(turn) else ""})]
    out += [chunk({"reasoning_content": p}) for p in pieces(_thought(turn))]
    out += [chunk({"content": p}) for p in pieces(_text(turn))]
    for n, call in enumerate(_calls(turn)):
        function = call["function"]
        opening = {**call, "index": n, "function": {**function, "arguments": ""}}
        out.append(chunk({"tool_calls": [opening]}))
        deltas = [{"index": n, "function": {"arguments": p}} for p in pieces(function["arguments"])]
        out += [chunk({"tool_calls": [d]}) for d in deltas]
    out.append(chunk({}, _stop(turn)))
    if wants_usage:
        out.append(bare({**shell, "choices": [], "usage": turn.usage_as(_usage(turn))}))
    return [*out, b"data: [DONE]\n\n"]


def _shell(turn: Turn, kind: str) -> dict[str, Json]:
    return {
        "id": turn.id("chatcmpl-"),
        "object": kind,
        "created": turn.created,
        "model": turn.ask.body["model"],
        "system_fingerprint": "fp_scripted",
    }


def _text(turn: Turn) -> str:
    return "".join(p.text for p in turn.reply.parts if isinstance(p, Say))


def _thought(turn: Turn) -> str:
    return "".join(p.text for p in turn.reply.parts if isinstance(p, Think))


def _calls(turn: Turn) -> list[dict[str, Json]]:
    return [
        {
            "id": part.id or turn.id("call_", n),
            "type": "function",
            "function": {"name": part.name, "arguments": jsonio.dumps(part.input).decode()},
        }
        for n, part in enumerate(turn.reply.parts)
        if isinstance(part, Call)
    ]


def _stop(turn: Turn) -> str:
    if turn.reply.stop == "length":
        return "length"
    return "tool_calls" if turn.reply.calls else "stop"


def _usage(turn: Turn) -> dict[str, Json]:
    u = turn.usage
    return {
        "prompt_tokens": u.prompt,
        "completion_tokens": u.output,
        "total_tokens": u.prompt + u.output,
        "prompt_tokens_details": {"cached_tokens": u.read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": u.reasoning, "audio_tokens": 0},
    }
