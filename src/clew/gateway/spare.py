"""Work that no request waits for, done in small pieces while none is being made ready."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Piece: TypeAlias = Callable[[], bool]  # a few milliseconds of it; whether there is more

logger = logging.getLogger("clew.gateway")
_QUIET = 0.02  # seconds since a request was made ready
_PATIENCE = 5.0  # seconds after which a piece is done among requests
_PAUSE = 0.01  # seconds between two pieces that are
_LEFT = 2.0  # seconds for all that is left, at the end


class Spare:
    """One worker's. Usable from several threads; its own begins with the first work."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, tuple[float, Piece]] = {}  # since when, and what
        self._busy = 0
        self._last = 0.0  # when a request was made ready
        self._closed = False
        self._thread: threading.Thread | None = None

    def later(self, key: Hashable, piece: Piece) -> None:
        """Do this when nobody waits; once for each key, however often it is asked for meanwhile."""
        with self._changed:
            if self._closed or key in self._waiting:
                return
            self._waiting[key] = time.monotonic(), piece
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="clew-spare", daemon=True)
                self._thread.start()
            self._changed.notify()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Somebody waits for what is done inside. Only to be called in the event loop."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            self._last = time.monotonic()

    def close(self) -> None:
        """Does what is left, as far as there is time for it."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(2 * _LEFT)

    def _work(self) -> None:
        while (found := self._next()) is not None:
            key, since, piece = found
            try:
                more = piece()
            except Exception:
                logger.exception("work in spare time failed")
                more = False
            if more:
                with self._changed:
                    self._waiting.setdefault(key, (since, piece))

    def _next(self) -> tuple[Hashable, float, Piece] | None:
        """What has waited longest, when it is time for it; None at the end."""
        until = 0.0
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                now = time.monotonic()
                until = until or now + _LEFT if self._closed else 0.0
                if not self._waiting or (self._closed and now > until):
                    return None
                key, (since, piece) = next(iter(self._waiting.items()))
                quiet = not self._busy and now - self._last >= _QUIET
                if self._closed or quiet or now - since >= _PATIENCE:
                    del self._waiting[key]
                    break
            time.sleep(_PAUSE)
        if not (quiet or self._closed):
            time.sleep(_PAUSE)
        return key, since, piece
