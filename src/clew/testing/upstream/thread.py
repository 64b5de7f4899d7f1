"""An asynchronous server beside synchronous code: it runs in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar


class Server(Protocol):
    async def start(self) -> object: ...
    async def stop(self) -> None: ...


S = TypeVar("S", bound=Server)


@contextmanager
def running(server: S) -> Iterator[S]:
    """The server, started; it is stopped at the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="server", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(30)
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()
