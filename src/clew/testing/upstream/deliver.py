"""How an answer goes out: whole or as a stream, in time or late, to its end or not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from aiohttp import web

from clew import jsonio
from clew.jsonio import Json
from clew.testing.upstream import refusal, speak
from clew.testing.upstream.refusal import Refusal
from clew.testing.upstream.speak import Turn
from clew.testing.upstream.speak.responses import failed
from clew.testing.upstream.speak.turn import bare, named
from clew.testing.upstream.values import Answer, Cut, HangUp, MidError, Nonsense, Slow


async def deliver(request: web.Request, turn: Turn, answer: Answer) -> web.StreamResponse:
    """Sends the answer; faults happen here."""
    match answer:
        case HangUp():
            _reset(request)
            return web.Response()
        case Nonsense(body, content_type):
            return web.Response(body=body, headers={"content-type": content_type})
        case Slow(_, before, _):
            await asyncio.sleep(before)
    if not turn.ask.body.get("stream"):
        return await _whole(request, turn, answer)
    return await _stream(request, turn, answer)


async def _whole(request: web.Request, turn: Turn, answer: Answer) -> web.StreamResponse:
    body = jsonio.dumps(speak.body(turn))
    if not isinstance(answer, Cut):
        return web.Response(body=body, headers=_headers(turn), content_type="application/json")
    response = web.StreamResponse(headers={**_headers(turn), "content-type": "application/json"})
    if answer.reset:
        response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    return await _end_early(request, response, answer)


async def _stream(request: web.Request, turn: Turn, answer: Answer) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={**_headers(turn), "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    )
    await response.prepare(request)
    events: Sequence[bytes] = speak.events(turn)
    if isinstance(answer, Cut):
        part = events[answer.events][: answer.extra] if answer.extra and answer.events < len(events) else b""
        events = [*events[: answer.events], part]
    elif isinstance(answer, MidError):
        events = [*events[: answer.events], _error(turn, answer.message)]
    between = answer.between if isinstance(answer, Slow) else 0.0
    try:
        for event in events:
            if event:
                await response.write(event)
            if between:
                await asyncio.sleep(between)
    except ConnectionError:  # the client has gone
        return response
    if isinstance(answer, Cut):
        return await _end_early(request, response, answer)
    await response.write_eof()
    return response


async def _end_early(request: web.Request, response: web.StreamResponse, cut: Cut) -> web.StreamResponse:
    if cut.reset:
        await asyncio.sleep(0.02)  # what was written must reach the client before the reset throws it away
        _reset(request)
    else:
        await response.write_eof()
    return response


def _reset(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _error(turn: Turn, message: str) -> bytes:
    """An error as this provider sends it in a stream that had begun."""
    if turn.ask.wire == "anthropic":
        value: Json = {"type": "error", "error": {"type": "overloaded_error", "message": message}}
        return named("error", value)
    if turn.ask.wire == "openai-responses":
        shell = {"id": turn.id("resp_"), "object": "response", "model": turn.ask.body["model"]}
        return failed(shell, "server_error", message)
    return bare(refusal.body(turn.ask.wire, Refusal(message, status=500), ""))


def _headers(turn: Turn) -> dict[str, str]:
    key = "request-id" if turn.ask.wire == "anthropic" else "x-request-id"
    return {key: f"req_{turn.name}"}
