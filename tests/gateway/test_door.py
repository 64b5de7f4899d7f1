"""Who is let in, and what never gets through: foreign pages, missing tokens, smuggled requests, other hosts."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import time
import zlib

import pytest
import zstandard

from clew.config.loader import from_mapping
from clew.errors import ConfigError, InputError
from clew.gateway import app, asgi, protocol
from clew.gateway.asgi import Call
from clew.gateway.auth import Door, is_loopback, tenant
from clew.gateway.routes import Routes
from clew.gateway.serving import listen
from clew.testing.upstream import running
from tests.gateway.agent import eventually, post
from tests.gateway.raw import RawUpstream, answer, ok, raw_request

BODY = b'{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}'


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "[::2]", "localhost.evil"])
def test_a_foreign_host_is_refused(passing, host):
    """A page whose name was made to resolve to this machine sends its own name."""
    up, gateway = passing
    up.plays(ok())
    status, _, raw = post(gateway.url, "/v1/chat/completions", BODY, {"host": host, "authorization": "k"})
    assert status == 403
    assert "Host" in json.loads(raw)["error"]["message"]
    assert up.came == []


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://10.1.2.3:80"])
def test_a_foreign_origin_is_refused(passing, origin):
    up, gateway = passing
    up.plays(ok())
    assert post(gateway.url, "/v1/models", b"", {"origin": origin})[0] == 403
    assert up.came == []


@pytest.mark.parametrize("host", ["localhost:80", "127.0.0.1", "[::1]:48800", "clew.localhost"])
def test_this_machines_names_are_let_in(host):
    Door("127.0.0.1").check(Call("GET", "/", (("host", host), ("origin", "http://localhost:3000"))))


def test_a_public_address_needs_a_token():
    for host in ("0.0.0.0", "::", "10.0.0.1", "gateway.example"):
        with pytest.raises(ConfigError, match="token"):
            from_mapping({"serve": {"host": host, "port": 0}})
        with pytest.raises(ConfigError, match="token"):
            Door(host)
        Door(host, "secret-token")


def test_the_token_is_checked_and_stays_here(serve):
    with running(RawUpstream(ok())) as up:
        gateway = serve(up.url, serve={"port": 0, "upstreams": {"up": up.url}, "token": "let-me-in-please"})
        key = {"authorization": "Bearer k"}
        assert post(gateway.url, "/v1/x", b"{}", key)[0] == 401
        assert post(gateway.url, "/v1/x", b"{}", key | {"x-clew-token": "wrong"})[0] == 401
        assert up.came == []
        assert post(gateway.url, "/v1/x", b"{}", key | {"x-clew-token": "let-me-in-please"})[0] == 200
        assert up.came[0].header("x-clew-token") == []
        assert "let-me-in-please" not in str(up.came[0])


@pytest.mark.parametrize(
    "head",
    [
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\nabcdGET /evil HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\rX-Evil: 1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A : b\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n",
        "POST http://evil.example/v1/x HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n",
        "POST //evil.example/v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
        "POST /v1/../../etc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/%2e%2e/%2E%2e/etc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/..%2f..%5cetc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\r\n X-Evil: folded\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\0c\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: +0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0x4\r\n\r\nabcd",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Clew-Upstream: http://evil.example\r\nContent-Length: 0\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_smuggling_and_proxying_are_refused(passing, head):
    """Nothing of it goes out, and the next request is answered as ever."""
    up, gateway = passing
    up.plays(ok())
    said = raw_request(gateway.url, head.encode("latin-1"))
    assert said.split(b" ")[1][:1] == b"4", said
    assert up.came == []
    assert post(gateway.url, "/v1/x", b"{}", {})[0] == 200


def test_a_body_over_the_limit_is_refused_at_once(serve):
    with running(RawUpstream(ok())) as up:
        gateway = serve(up.url, serve={"port": 0, "upstreams": {"up": up.url}, "max_body_mb": 1})
        said = raw_request(
            gateway.url, b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2000000\r\n\r\n", most=1
        )
        assert said
        chunks = b"".join(b"10000\r\n" + b"x" * 65536 + b"\r\n" for _ in range(20))
        head = b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert raw_request(gateway.url, head + chunks).startswith(b"HTTP/1.1 413")
        assert up.came == []
        eventually(lambda: gateway.gateway.counts.all().get("refused: TooLarge") == 2)


def test_routes_lead_only_to_configured_upstreams():
    routes = Routes({"local": "http://127.0.0.1:8080/v1", "azure": "https://x.openai.azure.com/openai/v1"})

    def url(target: str, **headers: str) -> str:
        return routes.route(Call("POST", target, tuple((k.replace("_", "-"), v) for k, v in headers.items()))).url

    assert url("/local/v1/chat/completions") == "http://127.0.0.1:8080/v1/chat/completions"
    assert url("/azure/responses?api-version=1") == "https://x.openai.azure.com/openai/v1/responses?api-version=1"
    assert url("/v1/messages", x_api_key="sk-ant-1") == "https://api.anthropic.com/v1/messages"
    assert url("/v1/chat/completions", authorization="Bearer sk-1") == "https://api.openai.com/v1/chat/completions"
    assert url("/v1/messages", authorization="Bearer sk-or-1") == "https://openrouter.ai/api/v1/messages"
    assert url("/v1/models", anthropic_version="2023-06-01") == "https://api.anthropic.com/v1/models"
    assert url("/v1/x", x_clew_upstream="local") == "http://127.0.0.1:8080/v1/x"
    with pytest.raises(InputError, match="no upstream"):
        url("/v1/x", x_clew_upstream="http://evil.example")
    for wrong in ("ftp://x", "https://user:pw@host", "https://", "https://h/?q=1"):
        with pytest.raises(ConfigError):
            Routes({"a": wrong})


def test_a_tenant_is_a_hash_of_the_key():
    one, two = (tenant({"authorization": f"Bearer sk-{n}"}) for n in (1, 2))
    assert one != two
    assert one == tenant({"authorization": "Bearer sk-1"})
    assert "sk-1" not in one
    assert tenant({}) == ""
    assert tenant({"x-api-key": "sk-1"}) != tenant({"authorization": "sk-1", "x-api-key": "sk-1"})


def test_loopback():
    assert all(map(is_loopback, ["127.0.0.1", "127.8.8.8", "::1", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.0.0.1", "example.org", ""]))


@pytest.mark.parametrize(
    "head",
    [
        # One line feed alone ends a header too: a header of its own, and no part of another one's value.
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\nX-Evil: 1\r\nContent-Length: 0\r\n\r\n",
        "POST http://evil.example/v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-Host: evil.example\r\nX-Original-URL: /evil\r\nContent-Length: 0\r\n\r\n",
        "POST /http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        "POST /@evil.example/v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_wherever_a_request_points_it_goes_to_the_configured_upstream(passing, head):
    up, gateway = passing
    up.plays(ok())
    said = raw_request(gateway.url, head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").encode("latin-1"))
    assert said.split(b" ")[1] in (b"200", b"400"), said
    for came in up.came:
        assert came.header("host") == [up.url.removeprefix("http://")]
        assert "\n" not in "".join(v for _, v in came.headers)


def test_a_redirect_is_the_clients_to_follow(passing):
    up, gateway = passing
    up.plays(answer("302 Found", ["location: http://169.254.169.254/", "content-length: 0"], b""))
    status, headers, _ = post(gateway.url, "/v1/chat/completions", BODY, {"authorization": "k"})
    assert (status, headers["location"]) == (302, "http://169.254.169.254/")
    assert len(up.came) == 1


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_bombs_of_every_encoding_are_refused(passing, encoding):
    up, gateway = passing
    up.plays(ok())
    piece = b" " * (1 << 20)
    if encoding == "zstd":
        bomb = zstandard.ZstdCompressor().compress(piece * 80)
    else:
        packer = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
        bomb = b"".join(packer.compress(piece) for _ in range(80)) + packer.flush()
    assert len(bomb) < 100_000
    headers = {"content-encoding": encoding, "authorization": "k"}
    assert post(gateway.url, "/v1/chat/completions", bomb, headers)[0] == 413
    assert up.came == []


def test_a_bomb_of_an_upstreams_is_its_own_affair(passing):
    """An error that unpacks to far more than anyone reads passes as it came."""
    up, gateway = passing
    bomb = gzip.compress(b" " * (32 << 20))
    up.plays(answer("400 Bad", ["content-encoding: gzip", f"content-length: {len(bomb)}"], bomb))
    status, _, raw = post(gateway.url, "/v1/chat/completions", BODY, {"authorization": "k", "accept-encoding": "gzip"})
    assert (status, raw) == (400, bomb)


def test_a_large_error_passes_whole(passing):
    up, gateway = passing
    body = bytes(range(256)) * (3 << 12)
    up.plays(answer("500 Bad", [f"content-length: {len(body)}"], body))
    assert post(gateway.url, "/v1/chat/completions", BODY, {"authorization": "k"})[::2] == (500, body)


def test_too_many_at_once_are_refused(passing, monkeypatch):
    up, gateway = passing
    up.plays(ok())
    monkeypatch.setattr(app, "MOST", 0)
    status, _, raw = post(gateway.url, "/v1/chat/completions", BODY, {"authorization": "k"})
    assert status == 429
    assert "at once" in json.loads(raw)["error"]["message"]
    assert up.came == []


def test_a_body_that_stops_coming_is_refused(passing, monkeypatch):
    up, gateway = passing
    up.plays(ok())
    monkeypatch.setattr(asgi, "READ_TIMEOUT", 0.2)
    said = raw_request(gateway.url, b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\nabc")
    assert said.startswith(b"HTTP/1.1 408")
    assert up.came == []


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"POST /v1/x HT", b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "])
def test_a_head_that_stops_coming_is_refused(passing, monkeypatch, sent):
    up, gateway = passing
    up.plays(ok())
    monkeypatch.setattr(protocol, "HEAD_TIME", 0.3)
    start = time.monotonic()
    said = raw_request(gateway.url, sent)
    assert said.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - start < 1.5
    assert up.came == []


def test_a_head_without_end_is_refused(passing):
    up, gateway = passing
    up.plays(ok())
    many = b"".join(b"X-%d: %s\r\n" % (n, b"a" * 1000) for n in range(400))
    said = raw_request(gateway.url, b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\n" + many)
    assert said.startswith(b"HTTP/1.1 431")
    long = raw_request(gateway.url, b"POST /v1/" + b"a" * (300 << 10) + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert long.split(b" ")[1] in (b"431", b"400")
    assert up.came == []
    assert post(gateway.url, "/v1/x", b"{}", {})[0] == 200


def test_keys_are_in_no_log_no_error_and_no_status(passing, caplog, monkeypatch):
    """Neither the client's nor the gateway's token, whatever goes wrong."""
    up, gateway = passing
    key = "sk-veryprivate-1234567890abcdef"
    told = []
    headers = {"authorization": f"Bearer {key}", "x-api-key": key, "x-clew-session": "s"}
    with caplog.at_level(0):
        for play in (
            ok(),
            answer("401 No", ["content-length: 2"], b"{}"),
            answer("200 OK", ["content-length: 9"], b"half"),
        ):
            up.plays(play)
            with contextlib.suppress(http.client.HTTPException, ConnectionError):
                told.append(post(gateway.url, "/v1/chat/completions", BODY, headers)[2])
        with monkeypatch.context() as broken:
            broken.setattr(gateway.gateway._turns, "_turn", lambda *_: 1 / 0)
            up.plays(ok())
            assert post(gateway.url, "/v1/chat/completions", BODY, headers)[0] == 200
        for odd in ({"x-clew-upstream": "none"}, {"host": "evil.example"}, {"origin": "https://evil.example"}):
            told.append(post(gateway.url, "/v1/chat/completions", BODY, headers | odd)[2])
        for path in ("/clew/status", "/health", "/ready", "/clew/openapi.json"):
            told.append(
                raw_request(
                    gateway.url, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
                )
            )
    gateway.gateway.counts._counts.pop("faults", None)
    assert "veryprivate" not in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert b"veryprivate" not in b"".join(told)
    assert len(told) >= 9


def test_several_workers_need_a_store_on_disk():
    given = {"serve": {"port": 0, "workers": 2}, "store": {"url": "memory:"}}
    with pytest.raises(ConfigError, match="store in memory"):
        listen(from_mapping(given).settings)
