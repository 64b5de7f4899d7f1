"""Something that listens on loopback and says one thing."""

from __future__ import annotations

import contextlib
import socket
import threading


@contextlib.contextmanager
def listening(reply: bytes):
    """Answers every connection with `reply`, at the URL it gives."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.1)
    over = threading.Event()

    def serve():
        while not over.is_set():
            try:
                connection, _ = server.accept()
            except TimeoutError:
                continue
            with connection, contextlib.suppress(OSError):
                connection.settimeout(2)
                if reply:
                    connection.recv(4096)
                    connection.sendall(reply)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    finally:
        over.set()
        thread.join()
        server.close()


def http(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


CLEW = http(b'{"status":"ok","version":"9.9"}')
