"""Responses: output items, reasoning with its encrypted content, a stream of numbered events."""

from __future__ import annotations

from collections.abc import Iterator

from clew import jsonio
from clew.jsonio import Json
from clew.testing.upstream.speak.turn import Turn, named, pieces
from clew.testing.upstream.values import Say, Think


def body(turn: Turn) -> Json:
    cut = {"incomplete_details": {"reason": "max_output_tokens"}} if turn.reply.stop else {}
    status = "incomplete" if turn.reply.stop else "completed"
    return {**_shell(turn), "status": status, **cut, "output": items(turn), "usage": turn.usage_as(_usage(turn))}


def events(turn: Turn) -> list[bytes]:
    whole = body(turn)
    opened = {**_shell(turn), "status": "in_progress", "output": [], "usage": None}
    listed: list[dict[str, Json]] = [
        {"type": "response.created", "response": opened},
        {"type": "response.in_progress", "response": opened},
    ]
    for n, item in enumerate(items(turn)):
        listed.append({"type": "response.output_item.added", "output_index": n, "item": _opening(item)})
        listed += [{**e, "output_index": n, "item_id": item["id"]} for e in _inside(item)]
        listed.append({"type": "response.output_item.done", "output_index": n, "item": item})
    listed.append({"type": "response.incomplete" if turn.reply.stop else "response.completed", "response": whole})
    return [named(e["type"], {**e, "sequence_number": n}) for n, e in enumerate(listed)]


def failed(turn_shell: dict[str, Json], code: str | None, message: str) -> bytes:
    """The event in which a stream that had begun ends badly."""
    response = {
        **turn_shell,
        "status": "failed",
        "error": {"code": code, "message": message},
        "output": [],
        "usage": None,
    }
    return named("response.failed", {"type": "response.failed", "response": response, "sequence_number": 2})


def items(turn: Turn) -> list[dict[str, Json]]:
    """The output items of the reply: also what `previous_response_id` stands for later."""
    return [_item(turn, n) for n in range(len(turn.reply.parts))]


def _item(turn: Turn, n: int) -> dict[str, Json]:
    part = turn.reply.parts[n]
    if isinstance(part, Think):
        name = turn.id("rs_", n)
        item: dict[str, Json] = {
            "id": name,
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": part.text}],
        }
        if "reasoning.encrypted_content" in (turn.ask.body.get("include") or ()):
            item["encrypted_content"] = turn.seals.encrypted(name, part.text)
        return item
    if isinstance(part, Say):
        text = {"type": "output_text", "annotations": [], "logprobs": [], "text": part.text}
        return {
            "id": turn.id("msg_", n),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [text],
        }
    call_id = part.id or turn.id("call_", n)
    if isinstance(part.input, str):
        return {
            "id": turn.id("ctc_", n), "type": "custom_tool_call", "status": "completed", "call_id": call_id,
            "name": part.name, "input": part.input,
        }  # fmt: skip
    return {
        "id": turn.id("fc_", n), "type": "function_call", "status": "completed", "call_id": call_id, "name": part.name,
        "arguments": jsonio.dumps(part.input).decode(),
    }  # fmt: skip


def _shell(turn: Turn) -> dict[str, Json]:
    asked = turn.ask.body
    return {
        "id": turn.id("resp_"),
        "object": "response",
        "created_at": turn.created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": asked["model"],
        "output": [],
        "parallel_tool_calls": asked.get("parallel_tool_calls", True),
        "previous_response_id": asked.get("previous_response_id"),
        "store": asked.get("store", True),
        "usage": None,
    }


def _usage(turn: Turn) -> dict[str, Json]:
    u = turn.usage
    return {
        "input_tokens": u.prompt,
        "input_tokens_details": {"cached_tokens": u.read},
        "output_tokens": u.output,
        "output_tokens_details": {"reasoning_tokens": u.reasoning},
        "total_tokens": u.prompt + u.output,
    }


def _opening(item: dict[str, Json]) -> dict[str, Json]:
    empty: dict[str, dict[str, Json]] = {
        "message": {"content": []},
        "reasoning": {"summary": []},
        "function_call": {"arguments": ""},
        "custom_tool_call": {"input": ""},
    }
    status: dict[str, Json] = {} if item["type"] == "reasoning" else {"status": "in_progress"}
    return {**item, **empty[item["type"]], **status}


def _inside(item: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """What comes between an item's opening and its end."""
    kind = item["type"]
    if kind == "message":
        (part,) = item["content"]
        yield {"type": "response.content_part.added", "content_index": 0, "part": {**part, "text": ""}}
        for p in pieces(part["text"]):
            yield {"type": "response.output_text.delta", "content_index": 0, "delta": p, "logprobs": []}
        yield {"type": "response.output_text.done", "content_index": 0, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", "content_index": 0, "part": part}
    elif kind == "reasoning":
        (part,) = item["summary"]
        yield {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": {**part, "text": ""}}
        for p in pieces(part["text"]):
            yield {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": p}
        yield {"type": "response.reasoning_summary_text.done", "summary_index": 0, "text": part["text"]}
        yield {"type": "response.reasoning_summary_part.done", "summary_index": 0, "part": part}
    else:
        key, name = (
            ("arguments", "function_call_arguments") if kind == "function_call" else ("input", "custom_tool_call_input")
        )
        for p in pieces(item[key]):
            yield {"type": f"response.{name}.delta", "delta": p}
        yield {"type": f"response.{name}.done", key: item[key]}
