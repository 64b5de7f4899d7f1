"""One POST over the standard library, read as it comes, with a deadline and a way out. Loaded at the first call."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from clew.summarise.base import Cancel

_CHUNK = 1 << 16
_MAX = 64 << 20  # bytes of an answer that are read


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, until the answer's first byte, between two pieces of it, and for all of it."""

    connect: float = 10.0
    first_byte: float = 60.0
    between: float = 60.0
    total: float = 120.0

    @classmethod
    def within(cls, total: float) -> Timeouts:
        """Timeouts for a call that may take `total` seconds; a model may think for most of it before it answers."""
        return cls(min(10.0, total), total, min(60.0, total), total)


class Answer:
    """A response that is being read. `headers` have lower-case names."""

    def __init__(
        self, response: http.client.HTTPResponse, sock: socket.socket, deadline: float, between: float
    ) -> None:
        self._response, self._sock, self._deadline, self._between = response, sock, deadline, between
        self.status = response.status
        self.headers = {k.lower(): v for k, v in response.getheaders()}

    def chunks(self) -> Iterator[bytes]:
        """The body in pieces. TimeoutError past the deadline, IncompleteRead where it was cut off."""
        left = _MAX
        while left > 0 and not self._response.isclosed():  # which it is with its last byte, and its socket too
            self._sock.settimeout(_remaining(self._deadline, self._between))
            piece = self._response.read1(_CHUNK)
            if not piece:
                if self._response.length:  # fewer bytes than were announced
                    raise http.client.IncompleteRead(b"", self._response.length)
                return
            left -= len(piece)
            yield piece

    def body(self) -> bytes:
        return b"".join(self.chunks())


@contextlib.contextmanager
def post(url: str, headers: Mapping[str, str], body: bytes, timeouts: Timeouts, cancel: Cancel) -> Iterator[Answer]:
    """Send, and read the answer's head. What fails raises as the standard library does; `kinds` says what it means."""
    deadline = time.monotonic() + timeouts.total
    parts = urlsplit(url)
    connection, target = _connection(parts, _remaining(deadline, timeouts.connect))
    cancel.check()
    try:
        connection.connect()
        sock = connection.sock
        assert sock is not None
        with cancel.closing(lambda: _shut(sock)):
            cancel.check()
            sock.settimeout(_remaining(deadline, timeouts.first_byte))
            connection.request("POST", target, body, {"Connection": "close", **headers})
            with connection.getresponse() as response:
                yield Answer(response, sock, deadline, timeouts.between)
    finally:
        connection.close()


def _connection(parts: SplitResult, timeout: float) -> tuple[http.client.HTTPConnection, str]:
    """The connection, through a proxy where the environment names one, and what to ask it for."""
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    proxy = "" if _loopback(host) or proxy_bypass(f"{host}:{port}") else getproxies().get(parts.scheme, "")
    if not proxy:
        if secure:
            return _secure(host, port, timeout), target
        return http.client.HTTPConnection(host, port, timeout=timeout), target
    via = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if not secure:
        return http.client.HTTPConnection(via.hostname or "", via.port or 80, timeout=timeout), parts.geturl()
    tunnel = _secure(via.hostname or "", via.port or 80, timeout)
    login = b64encode(f"{via.username}:{via.password or ''}".encode()).decode() if via.username else ""
    tunnel.set_tunnel(host, port, {"Proxy-Authorization": f"Basic {login}"} if login else None)
    return tunnel, target


def _secure(host: str, port: int, timeout: float) -> http.client.HTTPSConnection:
    return http.client.HTTPSConnection(host, port, timeout=timeout, context=ssl.create_default_context())


def _loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _remaining(deadline: float, most: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the call's time is used up")
    return min(left, most)


def _shut(sock: socket.socket) -> None:
    """Wake whoever reads from the socket."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
