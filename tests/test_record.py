"""`clew record`: bytes pass as they are, keys don't reach the file, and what happened on the way is told."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
import socket
import socketserver
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
import zstandard

from clew.errors import InputError
from clew.record import Exchange, clean, elided, payload, read, write
from clew.record.changes import changes
from clew.record.relay import Relay, is_loopback
from clew.testing.upstream import Cut, Errand, Refuse, Reply, Say, Slow, Think, Upstream, running, script
from tests.testing.asking import HEADERS, PATHS, ask, body, send, shell, user

FULL = Reply((Think("hm"), Say("so it is: é漢\n" * 5)))


@contextmanager
def between(policy, tmp_path):
    with running(Upstream(policy)) as up, running(Relay(up.url, tmp_path / "t.jsonl")) as relay:
        yield up, relay


def recorded(tmp_path):
    return list(read(tmp_path / "t.jsonl"))


@contextmanager
def raw_server(answer: bytes):
    """A server that sends these bytes and closes; `asked` collects what it was sent."""
    asked = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            data = b""
            while b"\r\n\r\n" not in data:
                data += self.request.recv(65536)
            head, _, rest = data.partition(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            while len(rest) < length:
                rest += self.request.recv(65536)
            asked.append((head, rest))
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize("stream", [False, True])
def test_the_client_gets_the_bytes_of_the_upstream(wire, stream, tmp_path):
    with running(Upstream(script(FULL), seed=3)) as up:
        direct = ask(up.url, wire, [user(wire)], stream=stream)
    with running(Upstream(script(FULL), seed=3)) as up, running(Relay(up.url, tmp_path / "t.jsonl")) as relay:
        relayed = ask(relay.url, wire, [user(wire)], stream=stream)
        (got,) = up.records
    assert relayed.raw == direct.raw
    assert relayed.status == direct.status
    assert {k: v for k, v in relayed.headers.items() if k != "date"} == {
        k: v for k, v in direct.headers.items() if k != "date"
    }
    assert json.loads(got.raw) == body(wire, [user(wire)], stream=stream)
    (e,) = recorded(tmp_path)
    assert (e.wire, e.path, e.status, e.cut) == (wire, PATHS[wire], 200, "")
    assert bool(e.events) == stream
    assert e.body == json.loads(got.raw)


def test_odd_bytes_and_headers_pass_untouched(tmp_path):
    odd = b'{ "model":"x",\n\t"messages" : [], "a":1.0, "u":"\\u00e9\xc3\xa9" }'
    answer = b"HTTP/1.1 299 Odd\r\nX-Case-Kept: Yes\r\nX-Twice: 1\r\nX-Twice: 2\r\nContent-Length: 3\r\n\r\n\xff\x00z"
    with raw_server(answer) as (url, asked), running(Relay(url, tmp_path / "t.jsonl")) as relay:
        got = send(relay.url, "POST", "/v1/messages?beta=true&q=%2F%20x", odd, {"X-Odd": "v", "User-Agent": "me"})
    (head, sent) = asked[0]
    assert sent == odd
    assert head.split(b"\r\n")[0] == b"POST /v1/messages?beta=true&q=%2F%20x HTTP/1.1"
    names = [line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:]]
    assert sorted(names) == [b"accept-encoding", b"content-length", b"host", b"user-agent", b"x-odd"]
    assert b"Accept-Encoding: identity" in head  # the client's own
    assert got.status == 299
    assert got.raw == b"\xff\x00z"
    assert got.headers["x-case-kept"] == "Yes"
    assert not {"server", "date", "content-type"} & got.headers.keys()


def test_events_pass_when_they_come(tmp_path):
    slow = Slow(Reply((Say("x" * 200),)), between=0.05)
    with between(script(slow), tmp_path) as (_, relay):
        host = relay.url.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=10)
        raw = json.dumps(body("openai-chat", [user("")], stream=True)).encode()
        connection.request("POST", PATHS["openai-chat"], raw, HEADERS)
        response = connection.getresponse()
        first = response.read1(65536)
        assert b"[DONE]" not in first
        assert b"[DONE]" in response.read()
        connection.close()
    times = [at for at, _, _ in recorded(tmp_path)[0].events]
    assert times == sorted(times)
    assert times[-1] - times[0] > 0.1


def test_encoded_bodies_pass_encoded_and_are_recorded_readable(tmp_path):
    raw = json.dumps({"model": "m", "messages": [user("", "hällo")]}).encode()
    packed, answer = zstandard.ZstdCompressor().compress(raw), gzip.compress(b'{"ok":true}')
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
        % len(answer)
    )
    with raw_server(head + answer) as (url, asked), running(Relay(url, tmp_path / "t.jsonl")) as relay:
        got = send(relay.url, "POST", "/v1/chat/completions", packed, {"Content-Encoding": "zstd"})
    assert asked[0][1] == packed
    assert got.raw == answer
    (e,) = recorded(tmp_path)
    assert e.body == json.loads(raw)
    assert e.answer == {"ok": True}


def test_keys_and_secrets_stay_out_of_the_file(tmp_path):
    key, token = "sk-ant-api03-" + "Ab1" * 30, "ghp" + "_" + "Zz9" * 12
    headers = {
        **HEADERS,
        "authorization": f"Bearer {key}",
        "x-api-key": key,
        "cookie": f"sid={key}",
        "x-session-id": "ses_1",
    }
    messages = [user("", f"my token is {token}, GITHUB_TOKEN={token}")]
    with between(script("ok"), tmp_path) as (up, relay):
        ask(relay.url, "openai-chat", messages, headers=headers, metadata={"session_id": "a-1", "api_key": key})
        send(relay.url, "GET", f"/v1/models?key={key}&page=2", headers=headers)
        assert token.encode() in up.records[0].raw
    text = (tmp_path / "t.jsonl").read_text()
    assert key not in text
    assert token not in text
    first, second = recorded(tmp_path)
    assert first.header("authorization") == first.header("x-api-key") == first.header("cookie") == clean.REMOVED
    assert first.header("x-session-id") == "ses_1"
    assert first.body["metadata"] == {"session_id": "a-1", "api_key": clean.REMOVED}
    assert second.path == f"/v1/models?key={clean.REMOVED}&page=2"
    assert stat.S_IMODE((tmp_path / "t.jsonl").stat().st_mode) == 0o600


def test_identity_is_no_secret():
    identity = {
        "prompt_cache_key": "01a1f0c0-26e9-7c30-8c25-6a77c4fc91ec",
        "user_id": '{"device_id":"785b6eb6a2c9b409eee637f39ea3ddf5ebaee7984875560821145b6378855e80","session_id":"3f7415a0"}',
        "client_metadata": {"session_id": "01a1f0c0-26e9", "thread_id": "01a1f0c0", "turn_id": "01a1f0c0-26fc-7090"},
        "previous_response_id": "resp_0ILChVoThXqor8NQn1SAySkresp",
        "call_id": "toolu_01A9f7bed9ca3666A9f7bed9ca3666",
        "max_tokens": 100,
    }
    assert clean.body(identity) == identity


def test_faults_of_the_upstream_are_the_clients_too_and_are_recorded(tmp_path):
    with between(script(Refuse(429, retry_after=2), Cut(FULL, 3, extra=5)), tmp_path) as (_, relay):
        limited = ask(relay.url, "anthropic", [user("")], stream=True)
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            ask(relay.url, "anthropic", [user("")], stream=True)
    assert (limited.status, limited.headers["retry-after"]) == (429, "2")
    refused, cut = recorded(tmp_path)
    assert refused.answer["error"]["type"] == "rate_limit_error"
    assert cut.cut == "upstream"
    assert len(cut.events) == 3


def test_an_upstream_that_is_not_there(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with running(Relay(f"http://127.0.0.1:{port}", tmp_path / "t.jsonl")) as relay:
        got = ask(relay.url, "anthropic", [user("")])
    assert got.status == 502
    assert "could not reach" in got.words
    assert recorded(tmp_path)[0].cut == "upstream"


def test_a_client_that_goes_away_is_recorded_and_the_relay_lives_on(tmp_path):
    slow = Slow(Reply((Say("x" * 2000),)), between=0.02)
    with between(script(slow, "ok"), tmp_path) as (_, relay):
        host, port = relay.url.removeprefix("http://").split(":")
        raw = json.dumps(body("openai-chat", [user("")], stream=True)).encode()
        head = "".join(f"{k}: {v}\r\n" for k, v in {**HEADERS, "content-length": len(raw)}.items())
        with socket.create_connection((host, int(port))) as s:
            s.sendall(f"POST {PATHS['openai-chat']} HTTP/1.1\r\nhost: x\r\n{head}\r\n".encode() + raw)
            s.recv(200)
        deadline = time.monotonic() + 10
        while not (tmp_path / "t.jsonl").read_bytes() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert ask(relay.url, "openai-chat", [user("")]).status == 200
    first, second = recorded(tmp_path)
    assert (first.cut, second.cut) == ("client", "")


def test_a_client_that_hangs_up_on_the_last_event_cut_nothing_off(tmp_path):
    with between(script(FULL), tmp_path) as (_, relay):
        host, port = relay.url.removeprefix("http://").split(":")
        raw = json.dumps(body("openai-responses", [user("")], stream=True)).encode()
        head = "".join(f"{k}: {v}\r\n" for k, v in {**HEADERS, "content-length": len(raw)}.items())
        with socket.create_connection((host, int(port))) as s:
            s.sendall(f"POST {PATHS['openai-responses']} HTTP/1.1\r\nhost: x\r\n{head}\r\n".encode() + raw)
            got = b""
            while b"event: response.completed" not in got:
                got += s.recv(65536)
    assert recorded(tmp_path)[0].cut == ""


def test_a_websocket_is_refused_in_words(tmp_path):
    with between(script("ok"), tmp_path) as (_, relay):
        got = send(relay.url, "GET", "/v1/responses", headers={"Connection": "Upgrade", "Upgrade": "websocket"})
    assert got.status == 426
    assert "WebSocket" in recorded(tmp_path)[0].notes[0]


def test_many_at_once_are_whole_lines_in_order_of_arrival(tmp_path):
    with between(script(otherwise=FULL), tmp_path) as (_, relay):
        threads = [
            threading.Thread(target=ask, args=(relay.url, w, [user(w, str(n))])) for n in range(8) for w in PATHS
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    es = recorded(tmp_path)
    assert [e.n for e in es] == list(range(24))
    assert [e.at for e in es] == sorted(e.at for e in es)


def test_a_full_disk_keeps_no_client_from_its_answer(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with between(script(otherwise=FULL), tmp_path) as (_, relay):
        monkeypatch.setattr(relay.tape, "add", full)
        assert ask(relay.url, "openai-chat", [user("")]).status == 200
        deadline = time.monotonic() + 10
        while not relay.lost and time.monotonic() < deadline:
            time.sleep(0.01)
        monkeypatch.undo()
        assert ask(relay.url, "openai-chat", [user("")]).status == 200
    assert relay.lost == ["exchange 0: No space left on device"]
    assert [e.n for e in recorded(tmp_path)] == [1]


@pytest.mark.parametrize("url", ["", "api.example.com", "ftp://x", "http://", "http://x/?key=1"])
def test_what_is_no_base_url_is_refused(url, tmp_path):
    with pytest.raises(InputError):
        Relay(url, tmp_path / "t.jsonl")


def test_a_taken_port_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = f"""
import asyncio
from pathlib import Path
from clew.errors import InputError
from clew.record.relay import Relay
try:
    asyncio.run(Relay("http://127.0.0.1:1", Path({str(tmp_path / "t.jsonl")!r})).start(port={port}))
except InputError as e:
    print(e.message)
"""
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"can't listen on 127.0.0.1:{port}" in out.stdout


def test_loopback():
    assert all(is_loopback(h) for h in ("127.0.0.1", "127.1.2.3", "::1", "localhost"))
    assert not any(is_loopback(h) for h in ("0.0.0.0", "::", "10.0.0.1", "example.com", ""))


CLI = "import typer; from clew.cli.record import record; app = typer.Typer(); app.command()(record); app()"


def test_the_command_prints_what_to_export_and_stops_when_told(tmp_path):
    with running(Upstream(Errand())) as up:
        command = [sys.executable, "-c", CLI, "--upstream", f"{up.url}/v1", "--out", str(tmp_path)]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            lines = [process.stdout.readline() for _ in range(6)]
            (url,) = {line.split("ANTHROPIC_BASE_URL=")[1].strip() for line in lines if "ANTHROPIC_BASE_URL=" in line}
            assert url.startswith("http://127.0.0.1:")
            got = ask(url, "anthropic", [user("", "errand:alpha steps=1")], tools=[shell("anthropic")])
            assert got.value["stop_reason"] == "tool_use"
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert "1 exchange in" in out
    assert err == ""
    (file,) = tmp_path.glob("*.jsonl")
    assert next(read(file)).status == 200


def test_the_command_warns_where_the_network_can_reach_it(tmp_path):
    command = [
        sys.executable,
        "-c",
        CLI,
        "--upstream",
        "http://127.0.0.1:1",
        "--out",
        str(tmp_path),
        "--host",
        "192.0.2.1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "192.0.2.1 is reachable from outside" in done.stderr
    assert "can't listen on 192.0.2.1" in done.stderr


# --- files


def exchange(**more):
    base = {
        "n": 0,
        "at": 0.0,
        "method": "POST",
        "path": "/v1/messages",
        "wire": "anthropic",
        "headers": (),
        "body": {},
        "status": 200,
    }
    return Exchange(**{**base, **more})


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.zst"])
def test_a_file_reads_back_as_it_was_written(name, tmp_path):
    events = ((0.1, "message_start", {"a": 1}), (0.2, "", "[DONE]"))
    given = [
        exchange(n=1, events=events, cut="client", notes=("x",)),
        exchange(headers=(("A", "b"),), answer={"ok": 1}),
    ]
    write(tmp_path / name, given)
    assert list(read(tmp_path / name)) == given[::-1]


@pytest.mark.parametrize("line", ["{", "[]", '{"n": 1}', "null"])
def test_a_broken_file_names_its_line(line, tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(exchange().value()) + "\n" + line + "\n")
    with pytest.raises(InputError, match=r"a\.jsonl, line 2"):
        list(read(tmp_path / "a.jsonl"))


def test_eliding_keeps_differences_and_seals():
    a, b = "x" * 500 + "1" + "y" * 500, "x" * 500 + "2" + "y" * 500
    e = exchange(body={"a": a, "b": b, "again": a, "short": "s", "signature": "z" * 900}, events=((0.0, "", {"t": a}),))
    small = elided(e)
    assert small.body["a"] == small.body["again"] != small.body["b"]
    assert len(small.body["a"]) < 400
    assert small.body["short"] == "s"
    assert small.body["signature"] == "z" * 900
    assert small.events[0][2]["t"] == small.body["a"]
    assert elided(e, keep=("xx1yy",)).body["a"] == a
    assert elided(small) == small


def test_what_cannot_be_decoded_is_noted():
    assert payload.decoded(b"abc", "br") == (b"", "a body in br was not read: 3 bytes")
    assert "could not be read" in payload.decoded(b"abc", "gzip")[1]
    assert "could not be read" in payload.decoded(b"abc", "zstd")[1]
    assert payload.readable(b"\xff{") == "\ufffd{"


def test_changes_match_by_content_not_by_place():
    def request(*texts, mark=None):
        messages = [{"role": "user", "content": [{"type": "text", "text": t}]} for t in texts]
        if mark is not None:
            messages[mark]["content"][0]["cache_control"] = {"type": "ephemeral"}
        return exchange(body={"messages": messages})

    assert changes(request("a", "b"), request("a", "b", "c")) == []
    moved = changes(request("a", "b", mark=0), request("a", "b", "c", mark=1))
    assert [(c.path, c.what) for c in moved] == [
        ("messages[0].content[0]", "mark removed"),
        ("messages[1].content[0]", "mark added"),
    ]
    assert [(c.path, c.what) for c in changes(request("a", "b"), request("a", "x", "b", "c"))] == [
        ("messages[1]", "inserted")
    ]
    assert [(c.path, c.what) for c in changes(request("a", "b", "c"), request("a", "c"))] == [
        ("messages[1]", "removed")
    ]
    (one,) = changes(request("a", "b"), request("a", "B"))
    assert (one.path, one.what, one.before, one.after) == ("messages[1].content[0].text", "changed", "b", "B")
    spelled = exchange(body={"messages": [{"role": "user", "content": "a"}]})
    assert [(c.path, c.what) for c in changes(request("a"), spelled)] == [("messages[0].content", "changed")]
