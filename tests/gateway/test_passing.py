"""What Clew has nothing to do with passes as it came: paths, headers, bodies, streams, errors, breaks."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest
import zstandard

from clew.gateway import serving
from clew.testing.upstream import running
from tests.gateway.agent import eventually, post
from tests.gateway.conftest import settings
from tests.gateway.raw import Came, RawUpstream, answer, ok, raw_request

ODD = b'{ "model":"gpt-5" ,\n "x":[1.0,1e3,"\\u00e9\xc3\xa9"],\t"messages":[ {"role":"user","content":"hi"} ] }'


def request(url: str, method: str, path: str, body: bytes | None = None, **headers: str):
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    return connection, connection.getresponse()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/models?limit=2&after=a%2Fb", None),
        ("DELETE", "/v1/responses/resp_1", None),
        ("POST", "/v1/embeddings", b'{"input": "x"}'),
        ("POST", "/v1/audio/transcriptions", bytes(range(256)) * 50),
        ("PUT", "/v1/files/a%20b/content?x=%F0%9F%A7%B6", b"\x00\xff"),
        ("PATCH", "/anything/at/all;p=1", b""),
        ("POST", "/v1/responses/compact", b'{"model":"gpt-5","input":[]}'),
        ("POST", "/v1/chat/completions", ODD),
        ("POST", "/v1/chat/completions", b"not json \xff\xfe"),
        ("POST", "/v1/messages", b'{"model":"m","messages":"no list"}'),
        ("POST", "/v1/responses", b'{"model":"m","input":"one text"}'),
        ("POST", "/v1/chat/completions", b'{"messages":[{"role":"user","content":"hi","_own":1}],"_x":[ ]}'),
        ("POST", "/v1/messages", b'{"system":[{"type":["text"]}],"messages":[{"role":"user","content":"hi"}]}'),
        (
            "POST",
            "/v1/messages",
            b'{"messages":[{"role":"user","content":[{"type":"image","source":{"data":"\\ud800"}}]}]}',
        ),
    ],
)
def test_every_path_passes_byte_for_byte(passing, method, path, body):
    up, gateway = passing
    said = b'{"odd" :  "spacing"}\n'
    up.plays(answer("207 Fine By Me", ["x-one: a", "x-two: b", "X-Two: c", f"content-length: {len(said)}"], said))
    connection, got = request(gateway.url, method, path, body, authorization="Bearer k", x_own="1", accept="*/*")
    assert (got.status, got.read()) == (207, said)
    assert [v for k, v in got.getheaders() if k.lower() == "x-two"] == ["b", "c"]
    assert {k.lower() for k, _ in got.getheaders()} == {"x-one", "x-two", "content-length"}
    connection.close()
    (came,) = up.came
    assert came.line == f"{method} {path} HTTP/1.1"
    assert came.body == (body or b"")
    assert came.header("x-own") == ["1"]
    assert came.header("authorization") == ["Bearer k"]
    assert came.header("host") == [urlsplit(up.url).netloc]


def test_headers_of_the_connection_and_of_clew_stay_behind(serve):
    with running(RawUpstream(ok(b"{}", "connection: x-hop", "x-hop: 1", "keep-alive: timeout=5"))) as up:
        connection, got = request(
            serve(up.url).url, "POST", "/v1/x", b"{}",
            connection="x-secret-hop", x_secret_hop="1", x_clew_session="s", x_clew="off", te="trailers",
        )  # fmt: skip
        got.read()
        connection.close()
    sent = {k.lower() for k, _ in up.came[0].headers}
    assert not sent & {"x-secret-hop", "x-clew-session", "x-clew", "te"}
    assert not {k.lower() for k, _ in got.getheaders()} & {"x-hop", "keep-alive"}


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "br"])
def test_an_encoded_body_that_needs_nothing_passes_encoded(passing, encoding):
    up, gateway = passing
    up.plays(ok())
    pack = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, "br": lambda b: b"\x0b" + b}[encoding]
    packed = pack(ODD)
    before = gateway.gateway.counts.all().get("turns", 0)
    headers = {"content-encoding": encoding, "authorization": "k"}
    assert post(gateway.url, "/v1/chat/completions", packed, headers)[0] == 200
    assert up.came[0].body == packed
    assert up.came[0].header("content-encoding") == [encoding]
    assert gateway.gateway.counts.all().get("turns", 0) - before == (encoding != "br")


def test_the_first_byte_is_not_held_back(serve):
    """The upstream says its second word only after the client has heard the first."""
    heard = threading.Event()

    async def play(_: Came, writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {"one":1}\n\n')
        await writer.drain()
        await asyncio.to_thread(heard.wait, 10)
        writer.write(b"data: [DONE]\n\n")

    with running(RawUpstream(play)) as up:
        body = b'{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"hi"}]}'
        connection, got = request(serve(up.url).url, "POST", "/v1/chat/completions", body, authorization="k")
        assert got.readline() == b'data: {"one":1}\n'
        heard.set()
        assert got.read() == b"\ndata: [DONE]\n\n"
        connection.close()


def test_a_client_that_leaves_ends_the_upstreams_work(serve):
    gone = threading.Event()

    async def play(came: Came, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n")
        await writer.drain()
        await asyncio.wait_for(came.left.wait(), 10)
        gone.set()

    with running(RawUpstream(play)) as up:
        gateway = serve(up.url)
        connection, got = request(gateway.url, "POST", "/v1/chat/completions", ODD, authorization="k")
        assert got.readline() == b"data: {}\n"
        connection.sock.shutdown(socket.SHUT_RDWR)
        got.close()
        connection.close()
        assert gone.wait(5)
        eventually(lambda: gateway.gateway.counts.all().get("clients gone") == 1)


def test_a_slow_reader_slows_the_upstream_down(serve):
    """Nothing piles up: the upstream gets rid of a few buffers, not of everything."""
    written = 0

    async def play(_: Came, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.transport.set_write_buffer_limits(high=1 << 16)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        for _ in range(1024):
            writer.write(b"x" * (1 << 16))
            await writer.drain()
            written += 1 << 16

    with running(RawUpstream(play)) as up:
        connection, got = request(serve(up.url).url, "POST", "/v1/slow", b"{}", authorization="k")
        before = -1
        while before != written:  # until nothing moves any more
            before = written
            time.sleep(0.3)
        assert 0 < written < 40 << 20
        assert len(got.read()) == 1024 << 16
        connection.close()


def test_an_upstream_that_breaks_off_is_seen_to_break_off(serve):
    async def play(_: Came, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf")
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.abort()

    with running(RawUpstream(play)) as up:
        gateway = serve(up.url)
        connection, got = request(gateway.url, "POST", "/v1/x", b"{}", authorization="k")
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            got.read()
        connection.close()
        eventually(lambda: gateway.gateway.counts.all().get("upstream broke off") == 1)


def test_an_upstream_that_is_not_there(serve):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    status, _, raw = post(serve(f"http://127.0.0.1:{free}").url, "/v1/chat/completions", ODD, {"authorization": "k"})
    assert status == 502
    told = json.loads(raw)["error"]
    assert told["type"] == "api_error"
    assert "could not be reached" in told["message"]


def test_no_answer_at_all_is_a_502(serve):
    async def play(_: Came, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    with running(RawUpstream(play)) as up:
        assert post(serve(up.url).url, "/v1/chat/completions", ODD, {"authorization": "k"})[0] == 502


def test_health_and_readiness(serve):
    gateway = serve("http://127.0.0.1:9")
    for path, told in (("/health", "ok"), ("/ready", "ready")):
        connection, got = request(gateway.url, "GET", path)
        assert got.status == 200
        assert json.loads(got.read())["status"] == told
        connection.close()
    connection, got = request(gateway.url, "GET", "/clew/status")
    assert json.loads(got.read())["mode"] == "compress"
    connection.close()


def test_a_websocket_is_refused(serve):
    said = raw_request(
        serve("http://127.0.0.1:9").url,
        b"GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    )
    assert said.startswith(b"HTTP/1.1 426")


def test_small_pieces_are_not_held_back_by_the_kernel():
    """A loop of asyncio's own asks for no delay only where the socket names its protocol."""
    with serving.listen(settings("http://127.0.0.1:9")) as listening:
        assert listening.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("body", [b"{}", ODD, b'{"x":"' + b"y" * (2 << 20) + b'"}'], ids=["small", "a turn", "large"])
def test_a_kept_connection_that_the_upstream_closed_is_no_error(serve, body):
    """Upstreams close connections that nobody used for a while; a request that crosses that on its way goes again."""
    came = []

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the first request of a connection, and hangs up at the second one."""
        for n in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            came.append(n)
            if n == 1:
                writer.transport.abort()
                return
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

    class Closing(RawUpstream):
        async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._tasks.add(asyncio.current_task())
            try:
                await serve_one(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()

    with running(Closing(ok())) as up:
        gateway = serve(up.url)
        for _ in range(3):
            assert post(gateway.url, "/v1/chat/completions", body, {"authorization": "k"})[0] == 200
    assert came == [0, 1, 0, 0]
