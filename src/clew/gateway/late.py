"""Requests that passed while the store was down: the newest of each conversation, to be stored when it is back."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from clew.gateway.asgi import Call
from clew.gateway.identity import Identity
from clew.gateway.routes import Route
from clew.wire import Request

_MOST = 64  # conversations
_BYTES = 128 << 20  # of their requests


@dataclass(frozen=True, slots=True)
class Passed:
    """A turn that was not stored. Its messages are the whole conversation, so an earlier one has nothing more."""

    who: Identity
    call: Call
    route: Route
    request: Request
    size: int


class Late:
    """One worker's. Usable from several threads. What is too much is let go, the oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Passed] = OrderedDict()
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._kept)

    def add(self, passed: Passed) -> None:
        self.drop(passed.who)
        with self._lock:
            self._kept[passed.who.tenant, passed.who.name] = passed
            self._bytes += passed.size
            while len(self._kept) > _MOST or self._bytes > _BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].size

    def drop(self, who: Identity) -> None:
        """It has been stored, or a later one is."""
        with self._lock:
            old = self._kept.pop((who.tenant, who.name), None)
            self._bytes -= old.size if old is not None else 0

    def take(self) -> Passed | None:
        """One of them, the oldest; it is no longer kept."""
        with self._lock:
            if not self._kept:
                return None
            found = self._kept.popitem(last=False)[1]
            self._bytes -= found.size
            return found
