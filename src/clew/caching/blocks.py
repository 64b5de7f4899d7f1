"""A request's blocks in the order in which a provider reads them, each with its place, its tokens and its mark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from clew import jsonio
from clew.caching.spots import life, tool_life
from clew.economics import Block, Ttl
from clew.jsonio import Json
from clew.tokens import Counter
from clew.transcript import Message, without_cache_marks
from clew.wire import Request

Piece: TypeAlias = tuple[str, Block]  # where in its message a block stands, and the block


@dataclass(frozen=True, slots=True)
class Known:
    """What was worked out of tools, system prompts and messages, by their bytes, for one way of counting."""

    counter: Counter
    pieces: Mapping[bytes, tuple[Piece, ...]]


def blocks(request: Request, counter: Counter, known: Known | None = None) -> tuple[list[tuple[str, Block]], Known]:
    """Blocks with their names; equal keys are equal blocks to the cache, whatever their marks and spelling.

    What `known` holds already isn't counted and hashed again; the result's own holds no more than this request has.
    """
    old = known.pieces if known is not None and known.counter == counter else {}
    kept: dict[bytes, tuple[Piece, ...]] = {}

    def piece(raw: bytes, make: Callable[[], Iterable[Piece]]) -> tuple[Piece, ...]:
        if raw not in kept:
            kept[raw] = old[raw] if raw in old else tuple(make())
        return kept[raw]

    out: list[tuple[str, Block]] = []
    tools = piece(jsonio.dumps(["tools", *request.tools]), lambda: _tools(request, counter))
    system = piece(jsonio.dumps(["system", request.system]), lambda: _system(request, counter))
    out += [(f"tools[{i}]", block) for i, (_, block) in enumerate(tools)]
    out += [(f"system[{i}]", block) for i, (_, block) in enumerate(system)]
    for n, message in enumerate(request.messages):
        found = piece(message.raw, partial(_of_message, message, counter))
        out += [(f"messages[{n}]{inside}", block) for inside, block in found]
    whole = life(request.rest)
    if whole and out:
        name, block = out[-1]
        out[-1] = (name, replace(block, breakpoint=whole))
    return out, Known(counter, kept)


def _tools(request: Request, counter: Counter) -> Iterator[Piece]:
    return (("", _block(tool, counter.tools([tool]), tool_life(tool))) for tool in request.tools)


def _system(request: Request, counter: Counter) -> Iterator[Piece]:
    system = request.system if isinstance(request.system, list) else [request.system] if request.system else []
    for block in system:
        value = block if isinstance(block, dict) else {"type": "text", "text": block}
        yield "", _block(value, counter.system([block]), life(block))


def _of_message(message: Message, counter: Counter) -> Iterator[Piece]:
    value = message.value
    content = value.get("content")
    if isinstance(content, str) and message.role != "tool":  # the same text in a block is the same to the cache
        content = [{"type": "text", "text": content}]
    if message.wire == "anthropic" and isinstance(content, list) and len(content) == len(message.parts):
        # A message's tokens are kept by its content, those of its parts aren't.
        sizes = counter.parts(message) if len(content) > 1 else (counter.message(message),)
        for k, block in enumerate(content):
            held = {"role": message.role, **block} if isinstance(block, dict) else {"role": message.role, "is": block}
            yield f".content[{k}]", _block(held, sizes[k], _deep(block))
        return
    mark = life(value) or next((t for b in (content if isinstance(content, list) else ()) if (t := _deep(b))), None)
    yield "", _block(_plain(value), counter.message(message), mark)


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
