"""The ASGI application. Every byte that Clew has nothing to do with passes as it came, when it came."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from clew.config import Settings
from clew.errors import ClewError, TooLarge, WireError
from clew.gateway import asgi, overflow, status
from clew.gateway.asgi import Call, Gone, Receive, Scope, Send
from clew.gateway.auth import Door
from clew.gateway.counts import Counts
from clew.gateway.meter import Meter
from clew.gateway.opening import Opening
from clew.gateway.overflow import Learned
from clew.gateway.recall_tool import Join, Said
from clew.gateway.recall_tool.rounds import Rounds, join_of
from clew.gateway.routes import Route, Routes
from clew.gateway.spare import Spare
from clew.gateway.turns import Turn, Turns
from clew.gateway.upstream import Answer, Broken, Client
from clew.store import Store

logger = logging.getLogger("clew.gateway")
T = TypeVar("T")

TRIES = 3  # at a request that is refused as too long
MOST = 1_000  # requests at once
_THREADS = 32  # some of them may wait for a summary
_SWITCH = "x-clew"  # the header that switches Clew off for a request
_ERROR_SHOWN = 1 << 20  # of an error's body that is looked at
_NEAR = 0.4  # of the window: from there on a stream begins when it is known that it is an answer


class Busy(ClewError):
    """More requests at once than are let in."""

    status = 429


class Out:
    """Where an answer goes, and how far it got."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False
        self.ended = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        self.begun = True
        self.ended = message["type"] == "http.response.body" and not message.get("more_body")
        await self._send(message)


class Gateway:
    """One worker's gateway. `spare` is what its store leaves work for later to, where it does."""

    def __init__(
        self, settings: Settings, store: Store, *, clock: Callable[[], float] = time.time, spare: Spare | None = None
    ) -> None:
        serve = settings.serve
        self.counts = Counts()
        self.learned = Learned()
        self._settings = settings
        self._store = store
        self._door = Door(serve.host, serve.token.text if serve.token is not None else "")
        self._routes = Routes(serve.upstreams)
        self._limit = serve.max_body_mb << 20
        self._turns = Turns(store, settings, self.counts, self.learned, clock, spare)
        self._client = Client()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="clew-turn")
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:  # a WebSocket: clients fall back to HTTP
            await receive()
            await send({"type": "websocket.close", "code": 1008})

    async def close(self) -> None:
        await self._client.close()
        await self._apart(self._turns.close)
        self._threads.shutdown(wait=True)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        out = Out(send)
        self._running += 1
        try:
            await self._answered(scope, receive, out)
        except Gone:
            self.counts.add("clients gone")
        except Broken:
            # The answer had begun: ending without its end makes the server cut the connection, as the upstream did.
            self.counts.add("upstream broke off")
            if not out.begun:
                await asgi.refuse(out, Broken("the upstream broke off", hint="send it again"))
        except ClewError as e:
            self.counts.add(f"refused: {type(e).__name__}")
            if not out.begun:
                await asgi.refuse(out, e)
        except Exception:
            self.counts.add("faults")
            logger.exception("a fault in the gateway")
            if not out.begun:
                await asgi.refuse(out, ClewError("a fault in the gateway", hint="its log says more"), 500)
        finally:
            self._running -= 1

    async def _answered(self, scope: Scope, receive: Receive, send: Out) -> None:
        call = asgi.call_of(scope)
        if call.header("upgrade").lower() == "websocket":
            await asgi.refuse(
                send, ClewError("the gateway speaks HTTP only", hint="use the client's HTTP transport"), 426
            )
            return
        self._door.check(call)
        if call.path in status.PATHS and call.method in ("GET", "HEAD"):
            await self._status(call, send)
            return
        if self._running > MOST:
            raise Busy(f"over {MOST} requests at once", hint="send it again later")
        route = self._routes.route(call)
        body = await asgi.read_body(call, receive, self._limit)
        call = Call(call.method, call.target, call.headers, body)
        await _while_there(receive, send, self._passed(call, route, send))

    async def _status(self, call: Call, send: Send) -> None:
        code, value = await self._apart(
            lambda: status.answer(
                call.path, self._store, self.counts, self.learned, self._turns.prompt_cache, self._settings
            )
        )
        await asgi.answer(send, code, value)

    async def _passed(self, call: Call, route: Route, send: Send) -> None:
        turn = await self._turn(call, route) if route.wire and call.body else None
        if turn is None:
            self.counts.add("passed")
            answer = await self._client.send(call.method, route.url, asgi.passed_on(call.headers), call.body)
            await _relay(answer, send, None)
            return
        answer, first = await self._sent(call, turn)
        join = join_of(answer, route.wire) if turn.asked is not None and not route.counts else None
        if join is not None:
            asking = _Asking(turn, self._turns, lambda: self._sent(call, turn), self._apart)
            rounds = Rounds(asking, route.wire, send, lambda given, read: _relay(given, send, None, read))
            await rounds.run(join, answer, first)
            return
        meter = Meter(route.wire, answer.header("content-type"), answer.header("content-encoding"))
        metered = meter if answer.status == 200 and not route.counts else None
        await _relay(answer, send, metered, first)
        told = meter.usage() if metered is not None else None
        if told is not None:
            await self._apart(lambda: self._turns.report(turn, told))

    async def _turn(self, call: Call, route: Route) -> Turn | None:
        """The call as a turn of a conversation, ready to be sent; None where it passes as it is."""
        if call.header(_SWITCH).strip().lower() == "off":
            self.counts.add("passed: switched off")
            return None
        plain = asgi.decoded(call.body, call.encoding, self._limit)
        if plain is None:
            self.counts.add("passed: unknown encoding")
            return None
        try:
            with self._turns.spare.working():
                turn = await self._apart(lambda: self._turns.begin(call, route, plain))
        except WireError:
            self.counts.add("passed: not understood")
            return None
        except ClewError as e:
            self.counts.add(f"passed: {type(e).__name__}")
            return None
        except Exception:
            # An agent's request matters more than its view: it goes out as it came, and the fault is told.
            self.counts.add("faults")
            logger.exception("a turn could not be prepared; it passes as it is")
            return None
        if turn is not None:
            self.counts.add("turns")
            self.counts.add("turns shortened", turn.edited)
        return turn

    async def _sent(self, call: Call, turn: Turn) -> tuple[Answer, bytes]:
        """The upstream's answer, and what of its body was read already. One that says the request is too long is
        answered with a shorter request.
        """
        for tries in range(TRIES + 1):
            answer = await self._client.send(call.method, turn.route.url, _headers(call, turn), _body(call, turn))
            first, told = await _look(answer, turn)
            if told is None or tries == TRIES or turn.route.counts or self._settings.serve.mode == "observe":
                break
            self.counts.add("overflows")
            if not await self._shortened(turn, told):
                break
            answer.close()
        return answer, first

    async def _shortened(self, turn: Turn, told: overflow.Overflow) -> bool:
        """Whether there is something shorter to send; where there isn't, the client gets the upstream's own words."""
        try:
            return await self._apart(lambda: self._turns.harder(turn, told))
        except ClewError as e:
            self.counts.add(f"not shortened: {type(e).__name__}")
        except Exception:
            self.counts.add("faults")
            logger.exception("a refused turn could not be shortened")
        return False

    async def _apart(self, work: Callable[[], T]) -> T:
        """Done in a thread, so that the loop goes on."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


@dataclass(frozen=True, slots=True)
class _Asking:
    """What the rounds of a turn need done."""

    turn: Turn
    turns: Turns
    ask: Callable[[], Awaitable[tuple[Answer, bytes]]]
    apart: Callable[[Callable[[], None]], Awaitable[None]]

    async def took(self, said: Said) -> None:
        told = said.usage
        if told is not None:
            await self.apart(lambda: self.turns.report(self.turn, told))

    async def answer(self, said: Said, *, used_up: bool) -> None:
        await self.apart(lambda: self.turns.recalled(self.turn, said, used_up=used_up))

    async def settle(self, join: Join, said: Said) -> None:
        await self.apart(lambda: self.turns.settle(self.turn, join, said))


def _headers(call: Call, turn: Turn) -> list[tuple[str, str]]:
    """As the client sent them; of the encodings it takes, one whose usage can be read."""
    changed = ["content-encoding"] if turn.edited else []
    out = asgi.passed_on(call.headers, without=changed)
    taken = "gzip" if "gzip" in call.header("accept-encoding") and turn.asked is None else "identity"
    return [(k, taken if k == "accept-encoding" else v) for k, v in out]


def _body(call: Call, turn: Turn) -> bytes:
    return turn.body if turn.edited else call.body


async def _look(answer: Answer, turn: Turn) -> tuple[bytes, overflow.Overflow | None]:
    """Whether the answer says that the request is too long; with what had to be read of it to see that."""
    if answer.status >= 400:
        if answer.header("content-encoding") not in ("", "identity", "gzip"):
            return b"", None
        body = await answer.read(_ERROR_SHOWN)
        try:
            plain = asgi.decoded(body, answer.header("content-encoding"), 4 * _ERROR_SHOWN)
        except TooLarge:
            plain = None
        return body, overflow.read(answer.status, plain or b"")
    if not answer.header("content-type").startswith("text/event-stream"):
        return b"", None
    near = not turn.route.counts and turn.conversation.live.used >= _NEAR * turn.shape.window
    return await _opened(answer, near) if near or turn.route.wire == "openai-responses" else (b"", None)


async def _opened(answer: Answer, near: bool) -> tuple[bytes, overflow.Overflow | None]:
    """The same of a stream's beginning; of its first piece only, where the request can hardly be too long."""
    opening, held = Opening(answer.header("content-encoding")), bytearray()
    with contextlib.suppress(Broken):  # which is met again where the rest is passed on
        async for piece in answer.pieces():
            held += piece
            opening.feed(piece)
            if opening.decided or not near:
                break
    return bytes(held), opening.told


async def _relay(answer: Answer, send: Send, meter: Meter | None, first: bytes = b"") -> None:
    """The answer to the client, piece by piece as it comes."""
    try:
        await asgi.start(send, answer.status, asgi.passed_on(answer.headers))
        if first:
            await send({"type": "http.response.body", "body": first, "more_body": True})
            if meter is not None:
                meter.feed(first)
        async for piece in answer.pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            if meter is not None:
                meter.feed(piece)
        await send({"type": "http.response.body", "body": b""})
    finally:
        answer.close()


async def _while_there(receive: Receive, out: Out, work: Coroutine[Any, Any, None]) -> None:
    """Do the work for as long as the client waits for its answer. Raises Gone where it hung up before the end."""
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done() and not out.ended:
            doing.cancel()
            await asyncio.wait({doing})
            raise Gone
        await doing
    finally:
        leaving.cancel()
        if not doing.done():
            doing.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
