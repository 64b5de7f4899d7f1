"""ShareGPT conversations: turns of `from` and `value`, with thinking, calls and results in tags inside the text.

They are read as OpenAI chat messages. Calls have no ids there, so each gets one from its place, and results answer the
open calls in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from clew import jsonio
from clew.jsonio import Json
from clew.wire.files.base import mapping, sequence, text

FORMAT = "sharegpt"
WIRE = "openai-chat"
_ROLES = {
    "system": "system", "human": "user", "user": "user", "gpt": "assistant", "chatgpt": "assistant",
    "assistant": "assistant", "model": "assistant", "bing": "assistant", "bard": "assistant",
    "function_call": "call", "tool_call": "call", "tool": "tool", "observation": "tool", "function": "tool",
    "function_response": "tool", "tool_response": "tool",
}  # fmt: skip


def looks_like(value: Json) -> bool:
    """Whether a document or line is one such conversation."""
    turns = sequence(mapping(value).get("conversations"))
    return bool(turns) and isinstance(turns[0], dict) and ("from" in turns[0] or "role" in turns[0])


def tools(value: dict[str, Json]) -> tuple[Json, ...]:
    """The tools a conversation declares: beside it, or in its system turn."""
    told = value.get("tools")
    if told is None:
        first = mapping(next(iter(sequence(value.get("conversations"))), None))
        found = _tagged(text(first.get("value")), "tools") if first.get("from") == "system" else []
        told = found[0][1] if found else None
    return tuple(sequence(_parsed(told) if isinstance(told, str) else told))


def messages(value: dict[str, Json]) -> Iterator[tuple[int, Json]]:
    """Its turns as chat messages, each with the number of its turn; None in place of a turn that is none."""
    waiting: deque[str] = deque()
    for n, turn in enumerate(sequence(value.get("conversations"))):
        if isinstance(turn, dict) and "role" in turn and "from" not in turn:
            yield n, turn  # already a chat message
            continue
        role = _ROLES.get(text(mapping(turn).get("from")).lower())
        if role is None:
            yield n, None
            continue
        said = turn.get("value")
        said = said if isinstance(said, str) else jsonio.dumps(said).decode()
        if role == "tool":
            yield from ((n, m) for m in _results(said, n, waiting))
        elif role in {"assistant", "call"}:
            yield n, _assistant(f"<tool_call>{said}</tool_call>" if role == "call" else said, n, waiting)
        else:
            yield n, {"role": role, "content": said}


def _assistant(said: str, turn: int, waiting: deque[str]) -> Json:
    message: dict[str, Json] = {"role": "assistant", "content": None}
    if said.lstrip().startswith("<think>"):
        for whole, thought in _tagged(said, "think")[:1]:
            message["reasoning_content"] = thought.strip()
            said = said.replace(whole, "", 1)
    calls: list[Json] = []
    for whole, inner in _tagged(said, "tool_call"):
        call = mapping(_parsed(inner))
        if not text(call.get("name")):
            continue  # it stays in the text
        arguments = call.get("arguments", call.get("parameters", {}))
        call_id = text(call.get("id")) or f"call_{turn}_{len(calls)}"
        written = arguments if isinstance(arguments, str) else jsonio.dumps(arguments).decode()
        calls.append({"id": call_id, "type": "function", "function": {"name": call["name"], "arguments": written}})
        said = said.replace(whole, "", 1)
        waiting.append(call_id)
    if calls:
        message["tool_calls"] = calls
    message["content"] = said.strip() or (None if calls else "")
    return message


def _results(said: str, turn: int, waiting: deque[str]) -> Iterator[Json]:
    for i, body in enumerate([inner for _, inner in _tagged(said, "tool_response")] or [said]):
        value = _parsed(body)
        content = value["content"] if isinstance(value, dict) and "content" in value else body.strip()
        written = content if isinstance(content, str) else jsonio.dumps(content).decode()
        call_id = waiting.popleft() if waiting else f"call_{turn}_{i}"
        yield {"role": "tool", "tool_call_id": call_id, "content": written}


def _tagged(said: str, tag: str) -> list[tuple[str, str]]:
    """Each `<tag>…</tag>` as a whole and its inside; linear, however many are left open."""
    found = []
    at = said.find(f"<{tag}>")
    while at >= 0:
        end = said.find(f"</{tag}>", at)
        if end < 0:
            break
        after = end + len(tag) + 3
        found.append((said[at:after], said[at + len(tag) + 2 : end]))
        at = said.find(f"<{tag}>", after)
    return found


def _parsed(written: str) -> Json:
    try:
        return jsonio.loads(written)
    except ValueError:
        return None
