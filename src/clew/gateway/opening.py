"""How a streamed answer begins: with something said, or with a refusal that came as an event.

OpenAI answers a request that is too long with 200, tells that a response was created and is in progress, and only then
that it failed. Until something is said nothing of a client's is lost by asking again.
"""

from __future__ import annotations

import zlib

from clew import jsonio
from clew.gateway import overflow
from clew.gateway.overflow import Overflow
from clew.jsonio import Json
from clew.wire.sse import Event, EventParser

_BEFORE = frozenset({"response.created", "response.queued", "response.in_progress", "keepalive", "ping"})
_MOST = 4 << 20  # bytes; an event that says nothing yet repeats the request's instructions and tools


class Opening:
    """Fed with what comes. `decided` once it is known which of the two it is; `told` where it is a refusal for length."""

    def __init__(self, encoding: str) -> None:
        self.decided = encoding not in ("", "identity", "gzip")
        self.told: Overflow | None = None
        self._unpacker = zlib.decompressobj(31) if encoding == "gzip" else None
        self._parser = EventParser(max_event=_MOST)
        self._left = _MOST

    def feed(self, piece: bytes) -> None:
        """Never raises, whatever it is."""
        if self.decided:
            return
        try:
            plain = self._unpacker.decompress(piece, _MOST) if self._unpacker is not None else piece
        except zlib.error:
            self.decided = True
            return
        self._left -= len(plain)
        self.decided = any(self._decides(e) for e in self._parser.feed(plain)) or self._left < 0

    def _decides(self, event: Event) -> bool:
        try:
            value = jsonio.loads(event.data)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            return True
        if (value.get("type") or event.type) in _BEFORE:
            return False
        if (error := _error(value)) is not None:
            self.told = overflow.read(400, jsonio.dumps(error))
        return True


def _error(value: dict[str, Json]) -> Json:
    """What an event says went wrong; None where it says something else."""
    response = value.get("response")
    error = value.get("error") or (response.get("error") if isinstance(response, dict) else None)
    return error or (value if value.get("type") == "error" else None)
