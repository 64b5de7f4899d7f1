"""Bodies as they travelled, made readable for the record: compression undone, JSON parsed, events told apart."""

from __future__ import annotations

import zlib

import zstandard

from clew import jsonio
from clew.jsonio import Json
from clew.wire.sse import EventParser

_LARGEST = 256 << 20  # of what a compressed body may become


def decoded(raw: bytes, encoding: str) -> tuple[bytes, str]:
    """The bytes without their content encoding, and a note where it can't be undone."""
    try:
        match encoding.strip().lower():
            case "" | "identity":
                return raw, ""
            case "gzip" | "x-gzip":
                return zlib.decompressobj(31).decompress(raw, _LARGEST), ""
            case "deflate":
                return zlib.decompressobj().decompress(raw, _LARGEST), ""
            case "zstd":
                return zstandard.ZstdDecompressor().stream_reader(raw).read(_LARGEST), ""
    except (zlib.error, zstandard.ZstdError) as e:
        return b"", f"a body in {encoding} could not be read: {e}"
    return b"", f"a body in {encoding} was not read: {len(raw)} bytes"


def readable(raw: bytes) -> Json:
    """JSON where it is JSON, else its text."""
    if not raw:
        return None
    try:
        return jsonio.loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")


def events(chunks: list[tuple[float, bytes]]) -> tuple[tuple[float, str, Json], ...]:
    """The events of a stream, each with the time at which its last byte came."""
    parser = EventParser()
    out = [(at, e.type, readable(e.data)) for at, chunk in chunks for e in parser.feed(chunk)]
    last = chunks[-1][0] if chunks else 0.0
    return (*out, *((last, e.type, readable(e.data)) for e in parser.close()))
