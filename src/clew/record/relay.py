"""A relay between a client and its provider: every byte passes as it came, when it came, and is written down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web
from yarl import URL

from clew import jsonio
from clew.errors import ClewError, InputError
from clew.record import clean, payload
from clew.record.exchange import Exchange
from clew.record.tape import Tape
from clew.wire import detect
from clew.wire.sse import Stream

_HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
_AUTOMATIC = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")  # what the HTTP library would add
_LARGEST = 256 << 20
_KEPT = 64 << 20  # of one response; more passes and is left out of the record


@dataclass(slots=True)
class _Passing:
    """An exchange while it passes."""

    n: int
    began: float
    request: web.Request
    raw: bytes
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    held: int = 0
    whole: bool = False
    cut: str = ""
    notes: list[str] = field(default_factory=list)


class _Passed(web.StreamResponse):
    """A response that remembers which headers the upstream sent."""

    came: frozenset[str] = frozenset()


class Relay:
    """Relays to `upstream` and records into the file `out`. `clock` gives seconds that only go forward."""

    def __init__(self, upstream: str, out: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        parts = urlsplit(upstream)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise InputError(f"not a base URL: {upstream!r}", hint="such as https://api.anthropic.com")
        self.url = ""
        self.tape = Tape(out)
        self.lost: list[str] = []  # what could not be written, and why
        self._upstream = upstream.rstrip("/")
        self._clock = clock
        self._began = clock()
        self._count = 0
        self._writing: set[asyncio.Task[None]] = set()
        self._runner: web.AppRunner | None = None
        self._session: aiohttp.ClientSession | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listens; its base URL, without `/v1`."""
        self._session = aiohttp.ClientSession(
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30),
            connector=aiohttp.TCPConnector(limit=0),
            trust_env=not is_loopback(urlsplit(self._upstream).hostname or ""),
        )
        app = web.Application(client_max_size=_LARGEST)
        app.on_response_prepare.append(_only_what_came)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            handle_signals=False,
            auto_decompress=False,
            shutdown_timeout=2,
            handler_cancellation=True,
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError as e:
            await self.stop()
            raise InputError(f"can't listen on {host}:{port}: {e.strerror}", hint="--port 0 takes a free one") from e
        address = self._runner.addresses[0]
        shown = f"[{address[0]}]" if ":" in address[0] else address[0]
        self.url = f"http://{shown}:{address[1]}"
        return self.url

    async def stop(self) -> None:
        """Closes every connection; what was passing is recorded as cut."""
        if self._runner is not None:
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()
        await asyncio.gather(*self._writing)
        self.tape.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        n, self._count = self._count, self._count + 1
        passing = _Passing(n, self._clock(), request, await request.read())
        if request.headers.get("upgrade", "").lower() == "websocket":
            passing.notes.append("a WebSocket was asked for and refused")
            response = web.Response(status=426, text="The relay speaks HTTP only.")
            passing.status = response.status
            await self._keep(passing)
            return response
        try:
            return await self._pass(passing)
        except asyncio.CancelledError:
            if not passing.whole:
                passing.cut = passing.cut or "client"
            raise
        finally:
            await self._keep(passing)

    async def _pass(self, passing: _Passing) -> web.StreamResponse:
        assert self._session is not None
        request = passing.request
        url = URL(self._upstream + request.raw_path, encoded=True)
        sent = [(k, v) for k, v in _text(request.raw_headers) if k.lower() not in _HOP | {"host", "content-length"}]
        try:
            got = await self._session.request(
                request.method,
                url,
                headers=sent,
                data=passing.raw or None,
                allow_redirects=False,
                skip_auto_headers=_AUTOMATIC,
            )
        except (aiohttp.ClientError, OSError) as e:
            passing.status, passing.cut = 502, "upstream"
            passing.notes.append(f"the upstream could not be reached: {type(e).__name__}")
            return web.Response(status=502, body=_unreachable(self._upstream), content_type="application/json")
        async with got:
            passing.status, passing.headers = got.status, tuple(_text(got.raw_headers))
            response = _Passed(status=got.status, reason=got.reason)
            response.came = frozenset(k.lower() for k, _ in passing.headers)
            for k, v in passing.headers:
                if k.lower() not in _HOP:
                    response.headers.add(k, v)
            try:
                await response.prepare(request)
                await self._body(passing, got, response)
            except ConnectionError:
                passing.cut = "" if passing.whole else "client"
            return response

    async def _body(self, passing: _Passing, got: aiohttp.ClientResponse, response: web.StreamResponse) -> None:
        while True:
            try:
                chunk = await got.content.readany()
            except aiohttp.ClientError:
                passing.cut = "upstream"
                if passing.request.transport is not None:
                    passing.request.transport.abort()  # the client sees the break that the upstream made
                return
            if not chunk:
                break
            passing.held += len(chunk)
            if passing.held <= _KEPT:
                passing.chunks.append((self._since(passing), chunk))
            await response.write(chunk)
        passing.whole = True
        await response.write_eof()

    def _since(self, passing: _Passing) -> float:
        return round(self._clock() - passing.began, 4)

    async def _keep(self, passing: _Passing) -> None:
        """Writes the exchange down, also if the client that it was for is gone by now."""
        task = asyncio.create_task(self._write(passing))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        await asyncio.shield(task)

    async def _write(self, passing: _Passing) -> None:
        began = round(passing.began - self._began, 4)
        exchange = await asyncio.to_thread(_exchange, passing, began)
        try:
            await asyncio.to_thread(self.tape.add, exchange)
        except OSError as e:  # a full disk is no reason to keep the client from its answer
            self.lost.append(f"exchange {exchange.n}: {e.strerror}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _exchange(passing: _Passing, at: float) -> Exchange:
    request, notes = passing.request, list(passing.notes)
    raw, note = payload.decoded(passing.raw, request.headers.get("content-encoding", ""))
    sent = payload.readable(raw)
    got = {k.lower(): v for k, v in passing.headers}
    whole, other = payload.decoded(b"".join(c for _, c in passing.chunks), got.get("content-encoding", ""))
    notes += [x for x in (note, other) if x]
    if passing.held > _KEPT:
        notes.append(f"the response's first {_KEPT} of {passing.held} bytes are recorded")
    streamed = got.get("content-type", "").startswith("text/event-stream")
    if streamed and "content-encoding" in got:
        passing.chunks[:] = [(passing.chunks[-1][0], whole)] if passing.chunks else []
    told = payload.events(passing.chunks) if streamed else ()
    return Exchange(
        n=passing.n,
        at=at,
        method=request.method,
        path=clean.path(request.raw_path),
        wire=_wire(request.path),
        headers=clean.headers(_text(request.raw_headers)),
        body=clean.body(sent),
        status=passing.status,
        response_headers=clean.headers(passing.headers),
        events=tuple((t, kind, clean.body(data)) for t, kind, data in told),
        answer=None if streamed else clean.body(payload.readable(whole)),
        # A client that hangs up on the last event, before the connection's end, has cut nothing off.
        cut="" if passing.cut == "client" and _finished(request.path, whole) else passing.cut,
        notes=tuple(notes),
    )


def _finished(path: str, raw: bytes) -> bool:
    """Whether these bytes of a stream hold the provider's last word."""
    name = _wire(path)
    if not name:
        return False
    stream = Stream(name)
    stream.feed(raw)
    return stream.finished


def _wire(path: str) -> str:
    try:
        return detect({}, path)
    except ClewError:
        return ""


def _text(raw: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(k.decode("latin-1"), v.decode("utf-8", "surrogateescape")) for k, v in raw]


def _unreachable(upstream: str) -> bytes:
    message = f"clew record could not reach {upstream}"
    return jsonio.dumps({"type": "error", "error": {"type": "api_error", "message": message}})


async def _only_what_came(_: web.Request, response: web.StreamResponse) -> None:
    """Takes away the headers that the HTTP library adds by itself."""
    if isinstance(response, _Passed):
        for name in ("Server", "Date", "Content-Type"):
            if name.lower() not in response.came:
                response.headers.popall(name, None)
