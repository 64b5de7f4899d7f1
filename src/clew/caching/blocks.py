"""A request's blocks in the order in which a provider reads them, each with its place, its tokens and its mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from clew import jsonio
from clew.caching.spots import life, tool_life
from clew.economics import Block, Ttl
from clew.economics import Request as Priced
from clew.jsonio import Json
from clew.tokens import Counter
from clew.transcript import Message, without_cache_marks
from clew.wire import Request

_SPARE = 64  # pieces of messages that are gone
Piece: TypeAlias = tuple[str, Block]  # where in its message a block stands, and the block


@dataclass(frozen=True, slots=True)
class Listed:
    """A request's blocks with their names, folded into prefixes; and what makes listing the next request cheap.

    `head` is how many blocks come before the messages, `ends` how many there are up to each message's end; `pieces` are
    blocks by their message's bytes.
    """

    names: tuple[str, ...]
    priced: Priced
    counter: Counter
    tools: tuple[Json, ...]
    system: Json
    messages: tuple[Message, ...]
    head: int
    ends: tuple[int, ...]
    pieces: Mapping[bytes, tuple[Piece, ...]]


def listed(request: Request, counter: Counter, before: Listed | None = None) -> Listed:
    """Blocks with their names; equal keys are equal blocks to the cache, whatever their marks and spelling.

    What `before` holds already isn't counted and hashed again, and messages that both begin with are not looked at.
    """
    old = before if before is not None and before.counter == counter else None
    pieces = _kept(request, old.pieces) if old is not None else {}
    if old is not None and old.tools == request.tools and old.system == request.system:
        same, head = _same(request.messages, old.messages), old.head
        upto = old.ends[same - 1] if same else head
        names, ends, priced = list(old.names[:upto]), list(old.ends[:same]), old.priced.until(upto)
    else:
        first = [(f"tools[{i}]", b) for i, b in enumerate(_tools(request, counter))]
        first += [(f"system[{i}]", b) for i, b in enumerate(_system(request, counter))]
        same, head, ends = 0, len(first), []
        names, priced = [name for name, _ in first], Priced.of(b for _, b in first)
    new: list[Block] = []
    for n, message in enumerate(request.messages[same:], same):
        found = pieces.get(message.raw)
        if found is None:
            found = pieces[message.raw] = tuple(_of_message(message, counter))
        names += [f"messages[{n}]{inside}" for inside, _ in found]
        new += [block for _, block in found]
        ends.append(len(names))
    priced = priced.then(new)
    return Listed(
        tuple(names), priced, counter, request.tools, request.system, request.messages, head, tuple(ends), pieces
    )


def whole(request: Request, priced: Priced) -> Priced:
    """With the mark that stands on the request itself, which counts as its last."""
    mark, last = life(request.rest), len(priced.chains) - 1
    return priced.marked([*(m for m in priced.marks if m[0] != last), (last, mark)]) if mark and last >= 0 else priced


def _same(now: tuple[Message, ...], before: tuple[Message, ...]) -> int:
    """How many messages both begin with, as the very same objects."""
    n = 0
    for a, b in zip(now, before, strict=False):
        if a is not b:
            break
        n += 1
    return n


def _kept(request: Request, old: Mapping[bytes, tuple[Piece, ...]]) -> dict[bytes, tuple[Piece, ...]]:
    """Known pieces, and not many more than the request has messages."""
    if len(old) <= 2 * len(request.messages) + _SPARE:
        return dict(old)
    return {m.raw: old[m.raw] for m in request.messages if m.raw in old}


def _tools(request: Request, counter: Counter) -> Iterator[Block]:
    return (_block(tool, counter.tools([tool]), tool_life(tool)) for tool in request.tools)


def _system(request: Request, counter: Counter) -> Iterator[Block]:
    system = request.system if isinstance(request.system, list) else [request.system] if request.system else []
    for block in system:
        value = block if isinstance(block, dict) else {"type": "text", "text": block}
        yield _block(value, counter.system([block]), life(block))


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
