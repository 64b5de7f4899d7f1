"""uvicorn's HTTP, with bounds on a request's head: how long it may take, how large it may be."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_TIME = 30.0  # seconds until a request's last header has come
HEAD_SIZE = 256 << 10  # bytes of its line and headers
_WORDS = {
    408: b"HTTP/1.1 408 Request Timeout\r\n",
    431: b"HTTP/1.1 431 Request Header Fields Too Large\r\n",
}


class HeadTooLarge(Exception):
    """Ends the parsing; the parser's caller answers."""


class Bounded(HttpToolsProtocol):
    """One connection of a client. What stands between requests is bounded by uvicorn's own timeout."""

    _late: asyncio.TimerHandle | None = None
    _size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._came()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._late is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._size = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._grow(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._grow(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._came()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if self._size > HEAD_SIZE:
            self._refuse(431)
        else:
            super().send_400_response(msg)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > HEAD_SIZE:
            raise HeadTooLarge

    def _wait(self) -> None:
        self._late = self.loop.call_later(HEAD_TIME, self._refuse, 408)

    def _came(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _refuse(self, status: int) -> None:
        self._came()
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(_WORDS[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()
