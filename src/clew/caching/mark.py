"""`system_and_3`: a mark on the system prompt and a rolling window of three at the end, one of which stands on the
handoff's last page once there is one. The client's own marks are kept and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from clew.caching import spots
from clew.caching.pages import paged
from clew.caching.route import route
from clew.caching.spots import MESSAGES, SYSTEM, TOOLS, WHOLE, Spot
from clew.catalog import Model
from clew.economics import Ttl
from clew.jsonio import Json, dumps
from clew.tokens import Counter
from clew.transcript import Image, Span, ToolCall
from clew.wire import Request

_ROLLING = 3
_IMAGE = 1_000  # tokens, about; only to tell whether a prefix reaches the least size

Marks = Sequence[tuple[Spot, Ttl]]


def mark(request: Request, model: Model, *, ttl: Ttl = "5m", base: Span | None = None, upstream: str = "") -> Request:
    """The request with cache marks, or itself where none is wanted: no words change, nothing given is touched.

    `base` are the messages of the handoff (`Base.handoff`). A client that marks messages rolls its own window, and only
    what survives Clew's next epoch is added to it: the system prompt and the last page. A life of an hour never comes
    after one of five minutes, whoever set it.
    """
    if route(request.wire, model, upstream) not in ("anthropic", "openrouter"):
        return request
    there = spots.found(request)
    room = model.cache.max_breakpoints - len(there)
    least = _reached(request, model)
    if room <= 0 or least is None:
        return request
    pages = paged(request, base) if base is not None else None
    chosen = _chosen(pages.request, pages.last, model, least) if pages is not None else []
    if pages is not None and pages.last in chosen:
        request = pages.request
    else:
        chosen = _chosen(request, None, model, least)
    there = spots.found(request)
    life: Ttl = ttl if model.cache.long_ttl else "5m"
    for spot in chosen:
        request = spots.put(request, spot, _life(spot, there, life))
    return request


def _chosen(request: Request, page: Spot | None, model: Model, least: int) -> list[Spot]:
    """As many new places as the provider takes beside what is there, the best first."""
    there = [s for s, _ in spots.found(request)]
    wanted = dict.fromkeys(_wanted(request, there, page, model.cache.lookback))
    return [s for s in wanted if s not in there and _place(s) >= least][: model.cache.max_breakpoints - len(there)]


def _wanted(request: Request, there: Sequence[Spot], page: Spot | None, lookback: int) -> Iterator[Spot]:
    own = any(s.section in (MESSAGES, WHOLE) for s in there)
    rolling = [] if own else _window(request, _ROLLING - (page is not None), lookback)
    yield from rolling[:1]
    if page is not None:
        yield page
    if not any(s.section in (TOOLS, SYSTEM) for s in there):
        yield from _system(request)
    yield from rolling[1:]


def _window(request: Request, most: int, lookback: int) -> list[Spot]:
    """The newest places. A provider looks back from a mark over so many blocks only, and a turn of many calls may have more:
    then the oldest of them stands where the request before ended.
    """
    newest = list(islice(_rolling(request), most))
    before = next((s for s in _rolling(request) if s.index < _turn(request)), None)
    if before is not None and lookback and not any(0 <= _blocks(request, before, s) < lookback for s in newest):
        newest[-1] = before
    return newest


def _turn(request: Request) -> int:
    """Where the model's last turn begins: the request before ended there."""
    end = len(request.messages)
    while end and request.messages[end - 1].role != "assistant":
        end -= 1
    while end and request.messages[end - 1].role == "assistant":
        end -= 1
    return end


def _blocks(request: Request, start: Spot, end: Spot) -> int:
    """How many blocks lie between, at the most; below nothing where the end comes first."""
    if end < start:
        return -1
    return sum(max(1, len(m.parts)) for m in request.messages[start.index + 1 : end.index + 1])


def _rolling(request: Request) -> Iterator[Spot]:
    """From the end, the messages that can carry a mark; system messages aside, wherever they stand."""
    for i in range(len(request.messages) - 1, -1, -1):
        m = request.messages[i]
        if not spots.is_system(m) and (block := spots.last_block(m)) >= 0:
            yield Spot(MESSAGES, i, block)


def _system(request: Request) -> Iterator[Spot]:
    if request.wire == "anthropic":
        if (block := spots.last_system_block(request.system)) >= 0:
            yield Spot(SYSTEM, block)
            return
    else:
        for i in range(spots.leading(request) - 1, -1, -1):
            if (block := spots.last_block(request.messages[i])) >= 0:
                yield Spot(SYSTEM, i, block)
                return
    if (tool := spots.last_tool(request)) >= 0:
        yield Spot(TOOLS, tool)


def _life(spot: Spot, there: Marks, wanted: Ttl) -> Ttl:
    """The life that keeps long before short: what the client asked for before and after this place decides."""
    if any(t == "5m" for s, t in there if s < spot):
        return "5m"
    return "1h" if any(t == "1h" for s, t in there if s > spot) else wanted


# --- the least size


def _place(spot: Spot) -> int:
    """Where a place lies in the order that `_reached` counts in: tools, system, and the messages by number."""
    return {TOOLS: -2, SYSTEM: -1}.get(spot.section, spot.index)


def _reached(request: Request, model: Model) -> int | None:
    """From where on the prefix has the tokens that the model stores at the least; None where all of it has fewer.

    An estimate, on the careful side, that looks no further than it must.
    """
    counter, total = Counter.of(model), 0
    for place, text, more in _parts(request):
        total += counter.rough(text) + more
        if total >= model.cache.minimum:
            return place
    return None


def _parts(request: Request) -> Iterator[tuple[int, str, int]]:
    yield -2, _words(list(request.tools)) if request.tools else "", 0
    yield -1, request.system if isinstance(request.system, str) else _words(request.system), 0
    first = spots.leading(request)
    for i, m in enumerate(request.messages):
        text = "\n".join([m.text, *(p.arguments for p in m.parts if isinstance(p, ToolCall))])
        yield (-1 if i < first else i), text, _IMAGE * sum(isinstance(p, Image) for p in m.parts)


def _words(value: Json) -> str:
    return dumps(value).decode("utf-8", "replace") if value else ""
