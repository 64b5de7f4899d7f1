"""The usage an answer reports, read beside the bytes that pass."""

from __future__ import annotations

import zlib
from typing import Protocol

from clew import jsonio
from clew.wire import usage
from clew.wire.sse import Stream
from clew.wire.usage import Usage

_LARGEST = 16 << 20  # of an answer in one piece; a larger one's usage isn't read


class _Plain:
    """An answer without content encoding."""

    def decompress(self, piece: bytes) -> bytes:
        return piece


class _Unpacker(Protocol):
    def decompress(self, piece: bytes, /) -> bytes: ...


class Meter:
    """Reads along with one answer. Nothing an upstream sends makes it raise."""

    def __init__(self, wire: str, content_type: str, encoding: str) -> None:
        self._wire = wire
        self._unpacker: _Unpacker | None = None
        if encoding in ("", "identity"):
            self._unpacker = _Plain()
        elif encoding == "gzip":
            self._unpacker = zlib.decompressobj(31)
        # Only the end of a stream is read: what was said comes back with the client's next request.
        self._stream = Stream(wire, max_total=0) if content_type.startswith("text/event-stream") else None
        self._body = bytearray()

    def feed(self, piece: bytes) -> None:
        if self._unpacker is None:
            return
        try:
            plain = self._unpacker.decompress(piece)
        except zlib.error:
            self._unpacker = None
            return
        if self._stream is not None:
            self._stream.feed(plain)
        elif len(self._body) < _LARGEST:
            self._body += plain

    def usage(self) -> Usage | None:
        """Once the answer has ended; None where it told none, or none that can be."""
        if self._stream is not None:
            self._stream.close()
            return self._stream.usage
        if self._unpacker is None or len(self._body) >= _LARGEST:
            return None
        try:
            return usage.read(jsonio.loads(bytes(self._body)), self._wire)
        except ValueError:
            return None
