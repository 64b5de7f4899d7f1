"""The handoff's pages on the wire. A page stays byte for byte until a rebuild, the closing after it is written anew at
every epoch; so the cache should hold what ends with the last page. Where the pieces were merged into one message, as the
Messages API likes it, they become blocks of their own again: a provider only stores what ends with a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from clew.caching.spots import MESSAGES, Spot, replaced
from clew.handoff.template import ACTIONS, TASK
from clew.jsonio import Json
from clew.ledger.foreign import BANNER
from clew.transcript import Span
from clew.wire import Request

_PAGE = f"\n\n## {ACTIONS} (continued)\n"
_CLOSING = f"\n\n## {TASK}\n"


@dataclass(frozen=True, slots=True)
class Paged:
    """A request whose pages are blocks, and the place where the last page ends."""

    request: Request
    last: Spot


def paged(request: Request, base: Span) -> Paged | None:
    """None where no page stands before the closing: a model's handoff is one piece and written anew as a whole."""
    end = min(base.end, len(request.messages))
    first = next((i for i in range(end - 1, -1, -1) if _holds(request, i)), None)
    if first is None:
        return None
    last: Spot | None = None
    for i in range(first, end):
        value = request.messages[i].value
        blocks = _blocks(value.get("content"))
        if i == first:
            blocks = [piece for b in blocks for piece in _split(b)]
        if len(blocks) > 1 and blocks != value.get("content"):
            request = replaced(request, i, {**value, "content": blocks})
        for k, block in enumerate(blocks):
            text = _text(block)
            if text.lstrip("\n").startswith(_CLOSING.lstrip("\n")):
                return Paged(request, last) if last is not None else None
            if f"## {ACTIONS}" in text:
                last = Spot(MESSAGES, i, k)
    return None


def _holds(request: Request, i: int) -> bool:
    return request.messages[i].role == "user" and BANNER.encode() in request.messages[i].raw


def _blocks(content: Json) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []


def _text(block: Json) -> str:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else ""
    return text if isinstance(text, str) else ""


def _split(block: Json) -> list[Json]:
    """A text with the pages and the closing in it, as blocks that are the same text one after the other."""
    text = _text(block)
    start = text.find(BANNER)
    closing = text.rfind(_CLOSING) if start >= 0 else -1
    if closing <= start:
        return [block]
    cuts, at = [], text.find(_PAGE, start, closing)
    while at >= 0:
        cuts.append(at)
        at = text.find(_PAGE, at + 1, closing)
    edges = [0, *cuts, closing, len(text)]
    pieces = [{**block, "text": text[a:b]} for a, b in pairwise(edges)]
    if "cache_control" in block:  # the client's mark stays at the end of its block
        pieces = [{k: v for k, v in p.items() if k != "cache_control"} for p in pieces[:-1]] + pieces[-1:]
    return pieces
