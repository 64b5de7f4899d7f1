"""A request's blocks in the order in which a provider reads them, each with its place, its tokens and its mark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clew import jsonio
from clew.caching.spots import life, tool_life
from clew.economics import Block, Ttl
from clew.jsonio import Json
from clew.tokens import Counter
from clew.transcript import Message, without_cache_marks
from clew.wire import Request


def blocks(request: Request, counter: Counter) -> Iterator[tuple[str, Block]]:
    """Equal keys are equal blocks to the cache, whatever their marks and spelling."""
    for i, tool in enumerate(request.tools):
        yield f"tools[{i}]", _block(tool, counter.tools([tool]), tool_life(tool))
    system = request.system if isinstance(request.system, list) else [request.system] if request.system else []
    for i, block in enumerate(system):
        value = block if isinstance(block, dict) else {"type": "text", "text": block}
        yield f"system[{i}]", _block(value, counter.system([block]), life(block))
    whole = life(request.rest)
    last = len(request.messages) - 1
    for n, message in enumerate(request.messages):
        held = list(_of_message(n, message, counter))
        if whole and n == last and held:
            name, block = held[-1]
            held[-1] = (name, replace(block, breakpoint=whole))
        yield from held


def _of_message(n: int, message: Message, counter: Counter) -> Iterator[tuple[str, Block]]:
    value = message.value
    content = value.get("content")
    if isinstance(content, str) and message.role != "tool":  # the same text in a block is the same to the cache
        content = [{"type": "text", "text": content}]
    if message.wire == "anthropic" and isinstance(content, list) and len(content) == len(message.parts):
        sizes = counter.parts(message)
        for k, block in enumerate(content):
            held = {"role": message.role, **block} if isinstance(block, dict) else {"role": message.role, "is": block}
            yield f"messages[{n}].content[{k}]", _block(held, sizes[k], _deep(block))
        return
    mark = life(value) or next((t for b in (content if isinstance(content, list) else ()) if (t := _deep(b))), None)
    yield f"messages[{n}]", _block(_plain(value), counter.message(message), mark)


def _plain(value: Json) -> Json:
    """A message in one spelling: a lone text block is its text."""
    bare = without_cache_marks(value)
    content = bare.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        if block.keys() == {"type", "text"} and isinstance(block["text"], str):
            return {**bare, "content": block["text"]}
    return bare


def _block(value: Json, tokens: int, mark: Ttl | None) -> Block:
    return Block(jsonio.digest(jsonio.canonical(without_cache_marks(value))), tokens, mark)


def _deep(block: Json) -> Ttl | None:
    inner = block.get("content") if isinstance(block, dict) and block.get("type") == "tool_result" else None
    return life(block) or next((t for b in (inner if isinstance(inner, list) else ()) if (t := life(b))), None)
