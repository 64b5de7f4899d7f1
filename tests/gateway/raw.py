"""An upstream of a few lines, byte by byte: what came is kept, and a function says what goes back."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Came:
    """A request as its bytes came."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes
    left: asyncio.Event = field(default_factory=asyncio.Event)  # set when the other side hangs up

    def header(self, name: str) -> list[str]:
        return [v for k, v in self.headers if k.lower() == name]


Play = Callable[[Came, asyncio.StreamWriter], Awaitable[None]]


class RawUpstream:
    """`play` writes the whole answer; the connection is closed after it."""

    def __init__(self, play: Play) -> None:
        self.came: list[Came] = []
        self.url = ""
        self._play = play
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def plays(self, play: Play) -> None:
        """Another answer from now on; what came so far is forgotten."""
        self._play = play
        self.came = []

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 26)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self.url

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        me = asyncio.current_task()
        assert me is not None
        self._tasks.add(me)
        watching: asyncio.Task[None] | None = None
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = [(k, v.strip()) for k, _, v in (h.partition(":") for h in head[1:] if h)]
            length = next((int(v) for k, v in headers if k.lower() == "content-length"), 0)
            came = Came(head[0], headers, await reader.readexactly(length))
            self.came.append(came)
            watching = asyncio.create_task(self._watch(reader, came))
            await self._play(came, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            if watching is not None:
                watching.cancel()
            writer.close()
            self._tasks.discard(me)

    async def _watch(self, reader: asyncio.StreamReader, came: Came) -> None:
        await reader.read()
        came.left.set()


def answer(status: str, headers: list[str], body: bytes) -> Play:
    """The same answer for every request."""

    async def play(_: Came, writer: asyncio.StreamWriter) -> None:
        writer.write("\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("latin-1") + body)

    return play


def ok(body: bytes = b"{}", *headers: str) -> Play:
    return answer("200 OK", [f"content-length: {len(body)}", "content-type: application/json", *headers], body)


def raw_request(url: str, data: bytes, *, most: int = 1 << 20) -> bytes:
    """What the other side says to these bytes, until it closes or says nothing for two seconds."""
    place = urlsplit(url)
    out = b""
    with socket.create_connection((place.hostname, place.port), timeout=2) as connection:
        connection.sendall(data)
        try:
            while len(out) < most and (piece := connection.recv(65536)):
                out += piece
        except (TimeoutError, ConnectionError):
            pass
    return out
