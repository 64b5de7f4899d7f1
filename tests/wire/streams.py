"""Responses cut into the events their providers stream, so that assembling can be compared with what was cut."""

from __future__ import annotations

from clew import jsonio


def sse(events, *, end="\n", names=True, done=False):
    """Events as bytes. `events` are values; those with a `type` get an event line."""
    out = []
    for value in events:
        if names and "type" in value:
            out.append(f"event: {value['type']}{end}")
        out.append(f"data: {jsonio.dumps(value).decode('utf-8', 'surrogatepass')}{end}{end}")
    if done:
        out.append(f"data: [DONE]{end}{end}")
    return "".join(out).encode()


def pieces(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)] or [""]


def chat(body, size=3):
    """A chat completion as chunks; choices take turns."""
    head = {k: v for k, v in body.items() if k not in {"choices", "usage"}} | {"object": "chat.completion.chunk"}
    lanes = []
    for choice in body["choices"]:
        deltas = [{"role": choice["message"]["role"], "content": None}]
        for key in ("reasoning_content", "content", "refusal"):
            if choice["message"].get(key) is not None:
                deltas += [{key: p} for p in pieces(choice["message"][key], size)]
        for i, call in enumerate(choice["message"].get("tool_calls", [])):
            kind = call["type"]
            grows = "arguments" if kind == "function" else "input"
            deltas.append(
                {"tool_calls": [{"index": i, "id": call["id"], "type": kind, kind: {**call[kind], grows: ""}}]}
            )
            deltas += [{"tool_calls": [{"index": i, kind: {grows: p}}]} for p in pieces(call[kind][grows], size)]
        lane = [{"index": choice["index"], "delta": d, "finish_reason": None} for d in deltas]
        lane.append({"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]})
        lanes.append(lane)
    events = []
    while any(lanes):
        for lane in lanes:
            if lane:
                events.append({**head, "choices": [lane.pop(0)]})
    if "usage" in body:
        events.append({**head, "choices": [], "usage": body["usage"]})
    return events


def anthropic(body, size=3):
    """A message as Anthropic streams it."""
    usage = body["usage"]
    start = {**body, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}
    events = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for i, block in enumerate(body["content"]):
        shell, deltas = _anthropic_block(block, size)
        events.append({"type": "content_block_start", "index": i, "content_block": shell})
        events += [{"type": "content_block_delta", "index": i, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": i})
    stop = {"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage["output_tokens"]}})
    return [*events, {"type": "message_stop"}]


def _anthropic_block(block, size):
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": p} for p in pieces(block["text"], size)]
            deltas += [{"type": "citations_delta", "citation": c} for c in block.get("citations", [])]
            shell = {"type": "text", "text": ""} | ({"citations": []} if "citations" in block else {})
            return shell, deltas
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"], size)]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case "tool_use" | "server_tool_use":
            written = jsonio.dumps(block["input"]).decode()
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": p} for p in pieces(written, size)
            ]
    return block, []


_PART = {
    "output_text": ("text", "response.output_text.delta", "content_index"),
    "refusal": ("refusal", "response.refusal.delta", "content_index"),
    "reasoning_text": ("text", "response.reasoning_text.delta", "content_index"),
    "summary_text": ("text", "response.reasoning_summary_text.delta", "summary_index"),
}
_ITEM = {
    "function_call": ("arguments", "response.function_call_arguments.delta"),
    "custom_tool_call": ("input", "response.custom_tool_call_input.delta"),
}


def responses(body, size=3, *, told=True, dones=True):
    """A response as its events. Without `told` the last event has no output; without `dones` items never end."""
    open_ = {**body, "status": "in_progress", "output": [], "usage": None}
    events = [{"type": "response.created", "response": open_}, {"type": "response.in_progress", "response": open_}]
    for i, item in enumerate(body["output"]):
        at = {"output_index": i, "item_id": item["id"]}
        shell = {k: [] if k in {"content", "summary"} else v for k, v in item.items()}
        if item["type"] in _ITEM:
            key, kind = _ITEM[item["type"]]
            events.append({"type": "response.output_item.added", "output_index": i, "item": {**shell, key: ""}})
            events += [{"type": kind, **at, "delta": p} for p in pieces(item[key], size)]
        else:
            events.append({"type": "response.output_item.added", "output_index": i, "item": shell})
            for where in ("summary", "content"):
                for n, part in enumerate(item.get(where, [])):
                    key, kind, index = _PART[part["type"]]
                    events += [{"type": kind, **at, index: n, "delta": p} for p in pieces(part[key], size)]
        if dones:
            events.append({"type": "response.output_item.done", "output_index": i, "item": item})
    last = {**body, "output": body["output"] if told else []}
    return [*events, {"type": f"response.{body['status']}", "response": last}]
