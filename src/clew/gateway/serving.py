"""The gateway as a server: one process or several on one socket."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess

import uvicorn

from clew.config import Settings, store_url
from clew.errors import ConfigError
from clew.gateway.app import Gateway
from clew.gateway.auth import Door
from clew.gateway.protocol import Bounded
from clew.gateway.routes import Routes
from clew.gateway.spare import Spare
from clew.redact import engine_name
from clew.store import Store, open_store
from clew.tokens.encodings import O200K, encoding

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_KEEP_ALIVE = 75  # seconds an unused connection of a client stays open
_GRACE = 10  # seconds that running answers are given at the end
_AGAIN = 0.5  # seconds before a worker that died is started anew
_TURN = 0.001  # seconds that a thread may go on while another waits: streams pass beside requests that are being read


def listen(settings: Settings) -> socket.socket:
    """The socket to serve on. Raises ConfigError where it can't be had, or where the settings would be open to all."""
    serve = settings.serve
    Door(serve.host, serve.token.text if serve.token is not None else "")
    Routes(serve.upstreams)
    if serve.workers > 1 and store_url(settings).startswith("memory:"):
        raise ConfigError("several workers can't share a store in memory", hint="give --store sqlite:///PATH")
    family = socket.AF_INET6 if ":" in serve.host else socket.AF_INET
    # Named, as asyncio switches Nagle off only where the protocol is: without it small pieces wait for 40 ms.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((serve.host, serve.port))
    except OSError as e:
        made.close()
        hint = "is a gateway running already? --port 0 takes a free one"
        raise ConfigError(f"can't listen on {serve.host}:{serve.port}: {e.strerror}", hint=hint) from e
    made.listen(2048)
    made.set_inheritable(True)
    return made


def url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Quiet(uvicorn.Server):
    """Ends on a signal and leaves it at that, so that what stands after it is still done."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {n: signal.signal(n, self.handle_exit) for n in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def server(
    settings: Settings, store: Store, *, clock: Callable[[], float] = time.time, spare: Spare | None = None
) -> uvicorn.Server:
    """An ASGI server of one gateway, to be given a socket."""
    app = Gateway(settings, store, clock=clock, spare=spare)
    return Quiet(
        uvicorn.Config(
            app,
            http=Bounded,
            ws="none",
            lifespan="on",
            interface="asgi3",
            log_config=None,
            log_level="critical",  # an answer cut off on purpose is an error to it
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_GRACE,
            backlog=2048,
        )
    )


def _warm() -> None:
    """What the first request and the first handoff would wait for."""
    encoding(O200K)
    engine_name()


def work(settings: Settings, listening: socket.socket) -> None:
    """Serve in this process until it is told to stop."""
    sys.setswitchinterval(_TURN)
    threading.Thread(target=_warm, name="clew-warm", daemon=True).start()
    spare = Spare()
    store = open_store(store_url(settings), synchronous=settings.store.synchronous, later=spare.later)
    try:
        server(settings, store, spare=spare).run(sockets=[listening])
    finally:
        store.close()


def serve(settings: Settings, listening: socket.socket) -> None:
    """Serve with `serve.workers` processes until told to stop; one that dies is replaced."""
    if settings.serve.workers == 1:
        work(settings, listening)
        return
    spawn = multiprocessing.get_context("spawn")

    def begin() -> BaseProcess:
        process = spawn.Process(target=work, args=(settings, listening), daemon=False)
        process.start()
        return process

    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True

    before = [signal.signal(n, stop) for n in _SIGNALS]
    workers = [begin() for _ in range(settings.serve.workers)]
    try:
        while not stopping:
            time.sleep(_AGAIN)
            for i, worker in enumerate(workers):
                if not worker.is_alive() and not stopping:
                    workers[i] = begin()
    finally:
        for worker in workers:
            if worker.is_alive() and worker.pid is not None:
                os.kill(worker.pid, signal.SIGTERM)
        for worker in workers:
            worker.join(_GRACE + 5)
        for number, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(number, handler)


class Serving:
    """A gateway inside another program's event loop, for tests and `make run`: `await start()`, then `url`."""

    def __init__(self, settings: Settings, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self.url = ""
        self.server = server(settings, store, clock=clock)
        self._settings = settings
        self._task: asyncio.Task[None] | None = None

    @property
    def gateway(self) -> Gateway:
        app = self.server.config.app
        assert isinstance(app, Gateway)
        return app

    async def start(self) -> str:
        """Its base URL, without `/v1`."""
        listening = listen(self._settings)
        self.url = url_of(listening)
        self._task = asyncio.create_task(self.server.serve(sockets=[listening]))
        while not self.server.started and not self._task.done():  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        return self.url

    async def stop(self) -> None:
        self.server.should_exit = True
        if self._task is not None:
            await self._task
