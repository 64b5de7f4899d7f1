"""The one pooled HTTP client: requests out, answers back piece by piece, nothing added and nothing taken away."""

from __future__ import annotations

import io
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from clew.errors import ClewError
from clew.gateway.auth import is_loopback

CONNECT_TIMEOUT = 30.0
SILENCE = 900.0  # seconds without a byte from an upstream; models think for minutes
_IDLE = 20.0  # an unused connection is closed before the provider does it
# A kept connection that the upstream closed meanwhile says so within a round trip; later, the upstream was at work.
_STALE = 2.0
_AUTOMATIC = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")  # what the library would add
_IN_ONE = 1 << 20


class Unreachable(ClewError):
    """The upstream could not be reached or broke off before it answered."""

    status = 502


class Broken(ClewError):
    """The upstream's answer ended in the middle."""

    status = 502


@dataclass(slots=True)
class Answer:
    """An answer whose head has come."""

    status: int
    headers: tuple[tuple[str, str], ...]
    _got: aiohttp.ClientResponse

    def header(self, name: str) -> str:
        return next((v for k, v in self.headers if k.lower() == name), "")

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises Broken where it ends too early."""
        try:
            async for piece in self._got.content.iter_any():
                yield piece
        except (aiohttp.ClientError, TimeoutError) as e:
            raise Broken(f"the upstream broke off: {type(e).__name__}") from e

    async def read(self, limit: int) -> bytes:
        """The body's beginning: whole pieces, until there are `limit` bytes. The rest is still to come."""
        out = bytearray()
        async for piece in self.pieces():
            out += piece
            if len(out) >= limit:
                break
        return bytes(out)

    def close(self) -> None:
        """Hangs up where the body wasn't read to its end, else gives the connection back."""
        if self._got.content.at_eof():
            self._got.release()
        else:
            self._got.close()


class Client:
    """Open it inside the event loop that uses it."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[bool, bool], aiohttp.ClientSession] = {}

    async def send(self, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes) -> Answer:
        """Sends a request and waits for the head of its answer. Raises Unreachable.

        Where it went into a kept connection that the upstream had closed, it is sent again over a new one.
        """
        named: CIMultiDict[str] = CIMultiDict(headers)
        named.popall("host", None)
        if body or "content-length" in named:
            named["content-length"] = str(len(body))
        try:
            try:
                started, way = time.monotonic(), SimpleNamespace(kept=False)
                got = await self._asked(method, url, named, body, way)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not way.kept or time.monotonic() - started > _STALE:
                    raise
                got = await self._asked(method, url, named, body, way, fresh=True)
        except (aiohttp.ClientError, OSError, TimeoutError) as e:
            where = urlsplit(url)
            raise Unreachable(
                f"{where.scheme}://{where.netloc} could not be reached: {type(e).__name__}", hint="send it again"
            ) from e
        except ValueError as e:
            raise Unreachable(f"the upstream's answer is no HTTP: {type(e).__name__}") from e
        raw = tuple((k.decode("latin-1"), v.decode("utf-8", "surrogateescape")) for k, v in got.raw_headers)
        return Answer(got.status, raw, got)

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    async def _asked(
        self,
        method: str,
        url: str,
        headers: CIMultiDict[str],
        body: bytes,
        way: SimpleNamespace,
        *,
        fresh: bool = False,
    ) -> aiohttp.ClientResponse:
        """`way.kept` says afterwards whether the connection was one that had been used before."""
        return await self._session(url, fresh=fresh).request(
            method,
            URL(url, encoded=True),
            headers=headers,
            data=(io.BytesIO(body) if len(body) > _IN_ONE else body) if body else None,
            allow_redirects=False,
            skip_auto_headers=_AUTOMATIC,
            trace_request_ctx=way,
        )

    def _session(self, url: str, *, fresh: bool) -> aiohttp.ClientSession:
        # A proxy of the environment is for what lies outside, never for this machine.
        outside = not is_loopback(urlsplit(url).hostname or "")
        if (outside, fresh) not in self._sessions:
            keeping = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE)
            self._sessions[outside, fresh] = aiohttp.ClientSession(
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT, sock_read=SILENCE),
                connector=aiohttp.TCPConnector(limit=0, force_close=True) if fresh else keeping,
                trust_env=outside,
                trace_configs=[_noting_reuse()],
            )
        return self._sessions[outside, fresh]


def _noting_reuse() -> aiohttp.TraceConfig:
    async def reused(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.kept = True

    noting = aiohttp.TraceConfig()
    noting.on_connection_reuseconn.append(reused)
    return noting
