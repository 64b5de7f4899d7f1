"""What the gateway needs of ASGI, raw: a request taken in with its limits, a response given out."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import zstandard

from clew import jsonio
from clew.errors import ClewError, InputError, TooLarge

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers: TypeAlias = tuple[tuple[str, str], ...]

READ_TIMEOUT = 60.0  # seconds without a byte of a request's body
HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)


class TooSlow(InputError):
    """The client stopped sending in the middle of its request."""

    status = 408


class Gone(Exception):
    """The client hung up; nobody waits for an answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it came. `target` is its path with the query, percent-encoded as sent; header names are lower."""

    method: str
    target: str
    headers: Headers
    body: bytes = field(repr=False, default=b"")

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def header(self, name: str) -> str:
        """A header's value, "" without one."""
        return next((v for k, v in self.headers if k == name), "")

    @property
    def encoding(self) -> str:
        return self.header("content-encoding").strip().lower()


def call_of(scope: Scope) -> Call:
    """The request line and headers; InputError where they can't be passed on as they are."""
    raw = scope.get("raw_path") or scope["path"].encode()
    query = scope.get("query_string", b"")
    try:
        target = (raw + (b"?" + query if query else b"")).decode("ascii")
        headers = tuple((k.decode("ascii").lower(), v.decode()) for k, v in scope["headers"])
    except UnicodeDecodeError as e:
        raise InputError("the request line or a header holds bytes that are no text", hint="use UTF-8") from e
    if not target.startswith("/") or target.startswith("//"):
        raise InputError("the request's target is no path", hint="this is no forward proxy")
    return Call(scope["method"], target, headers)


async def read_body(call: Call, receive: Receive, limit: int) -> bytes:
    """The whole body. TooLarge over `limit` bytes, TooSlow where it stops coming, Gone where the client has gone."""
    length = call.header("content-length")
    if length.isdigit() and int(length) > limit:
        raise TooLarge(f"the request has {int(length):,} bytes, over the limit of {limit:,}", hint="serve.max_body_mb")
    pieces: list[bytes] = []
    total = 0
    while True:
        try:
            async with asyncio.timeout(READ_TIMEOUT):
                message = await receive()
        except TimeoutError:
            raise TooSlow("the request's body stopped coming", hint="send it again") from None
        if message["type"] == "http.disconnect":
            raise Gone
        piece = message.get("body", b"")
        total += len(piece)
        if total > limit:
            raise TooLarge(f"the request is over the limit of {limit:,} bytes", hint="serve.max_body_mb")
        pieces.append(piece)
        if not message.get("more_body"):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def decoded(body: bytes, encoding: str, limit: int) -> bytes | None:
    """The body without its content encoding; None where it isn't one we know or it is damaged. TooLarge over `limit`."""
    try:
        match encoding:
            case "" | "identity":
                return body
            case "gzip" | "x-gzip" | "deflate":
                unpacker = zlib.decompressobj(47)  # finds out by itself which of the two it is
                out = unpacker.decompress(body, limit + 1)
                whole = unpacker.eof
            case "zstd":
                reader = zstandard.ZstdDecompressor().stream_reader(body)
                out, whole = reader.read(limit + 1), True
            case _:
                return None
    except (zlib.error, zstandard.ZstdError):
        return None
    if len(out) > limit:
        raise TooLarge(f"the request unpacks to more than {limit:,} bytes", hint="serve.max_body_mb")
    return out if whole else None


def passed_on(headers: Iterable[tuple[str, str]], *, without: Iterable[str] = ()) -> list[tuple[str, str]]:
    """The headers that belong to the message, not to the connection it came over; `x-clew-` ones are for us alone."""
    given = list(headers)
    named = {n.strip().lower() for k, v in given if k.lower() == "connection" for n in v.split(",")}
    dropped = HOP | named | set(without)
    return [(k, v) for k, v in given if k.lower() not in dropped and not k.lower().startswith("x-clew")]


async def start(send: Send, status: int, headers: Iterable[tuple[str, str]]) -> None:
    raw = [(k.encode("latin-1"), v.encode("utf-8", "surrogateescape")) for k, v in headers]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def answer(send: Send, status: int, value: Mapping[str, Any], headers: Iterable[tuple[str, str]] = ()) -> None:
    """A JSON answer of the gateway's own."""
    body = jsonio.dumps(value)
    named = [("content-type", "application/json"), ("content-length", str(len(body))), *headers]
    await start(send, status, named)
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, error: ClewError, status: int = 0) -> None:
    """An error of the gateway's own, in a form that the SDKs of all three formats read."""
    kind = "invalid_request_error" if (status or error.status) < 500 else "api_error"
    told = {"type": kind, "message": f"clew: {error}", "code": "clew", "param": None}
    await answer(send, status or error.status, {"type": "error", "error": told}, [("connection", "close")])
