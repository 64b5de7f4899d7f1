"""What the gateway adds to a request: latency on bodies whose beginning it knows, first byte of a stream, throughput.

    python bench/gateway.py [--rounds 200] [--relay] [--litellm PATH/bin/litellm] [--streams SECONDS]

An upstream that answers at once runs in a process of its own, the gateway in another, the client here. Every figure is
taken in turn: one request straight to the upstream, one through the gateway. The conversation grows by a call and a
result of 1 KB with every request, as an agent's does; the store is SQLite on disk. `--relay` also measures a bare aiohttp
relay without any of Clew's work, in the same run; `--litellm` the proxy of that name, passing on through one worker
(`pip install 'litellm[proxy]'` into an environment of its own). `--streams` holds 200 slow streams open at once and looks
at what arrives and at the gateway's memory.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPLY = json.dumps(
    {"id": "c", "object": "chat.completion", "model": "gpt-5", "choices": [{"index": 0, "message": {"role": "assistant",
     "content": "ok"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 50_000, "completion_tokens": 2, "total_tokens": 50_002}}
).encode()  # fmt: skip
SLOW, PAUSE = re.compile(rb'"slow":(\d+)}$'), 0.5  # an event every half second
STREAMS = 200
PATH, PASSED = "/v1/chat/completions", "/passed"
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'


def upstream(ready: Any) -> None:
    """Reads a request, answers at once; a stream where the body asks for one."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                at = head.lower().index(b"content-length:") + 15
                body = await reader.readexactly(int(head[at : head.index(b"\r\n", at)]))
                slow = SLOW.search(body, len(body) - 40)
                if slow:
                    writer.write(
                        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                    )
                    for _ in range(int(slow[1])):
                        writer.write(b"%x\r\n%b\r\n" % (len(EVENT), EVENT))
                        await writer.drain()
                        await asyncio.sleep(PAUSE)
                    writer.write(b"0\r\n\r\n")
                elif body.endswith(b'"stream":true}'):
                    writer.write(
                        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                    )
                    for _ in range(20):
                        writer.write(b"%x\r\n%b\r\n" % (len(EVENT), EVENT))
                    writer.write(b"0\r\n\r\n")
                else:
                    writer.write(
                        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
                        % (len(REPLY), REPLY)
                    )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 26)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def gateway(ready: Any, port: int, folder: str) -> None:
    from clew.config import from_mapping
    from clew.gateway import serving

    changes = {
        "serve": {"port": 0, "upstreams": {"up": f"http://127.0.0.1:{port}"}},
        "store": {"url": f"sqlite:///{folder}/bench.db"},
    }
    settings = from_mapping(changes | {"models": {"gpt-5": {"window": 4_000_000}}}).settings
    listening = serving.listen(settings)
    ready.send(listening.getsockname()[1])
    serving.work(settings, listening)


def relay(ready: Any, port: int) -> None:
    """The same server and client, and nothing in between."""
    import aiohttp
    import uvicorn

    async def run() -> None:
        async with aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0)) as session:

            async def app(scope: Any, receive: Any, send: Any) -> None:
                pieces = []
                while True:
                    message = await receive()
                    pieces.append(message.get("body", b""))
                    if not message.get("more_body"):
                        break
                async with session.post(f"http://127.0.0.1:{port}{scope['path']}", data=b"".join(pieces)) as got:
                    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"x")]})
                    async for piece in got.content.iter_any():
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
                    await send({"type": "http.response.body", "body": b""})

            # Of this protocol by name: asyncio sets TCP_NODELAY on no other, and small pieces would wait 40 ms.
            listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            listening.bind(("127.0.0.1", 0))
            ready.send(listening.getsockname()[1])
            config = uvicorn.Config(app, lifespan="off", log_level="critical", access_log=False)
            await uvicorn.Server(config).serve(sockets=[listening])

    asyncio.run(run())


def litellm(program: str, port: int, folder: str) -> tuple[subprocess.Popen[bytes], int]:
    """The proxy with one worker, passing everything under a path on to the upstream. It takes a while to start."""
    config = Path(folder) / "litellm.yaml"
    target = f"http://127.0.0.1:{port}/v1/chat/completions"
    config.write_text(
        f"general_settings:\n  pass_through_endpoints:\n    - path: {PASSED}\n      target: {target}\n"
        "      forward_headers: true\n      auth: false\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        own = free.getsockname()[1]
    command = [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(own), "--num_workers", "1"]
    said = Path(folder, "litellm.log")
    with said.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"LITELLM_MASTER_KEY": "sk-bench"})
    while process.poll() is None:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", own)).close()
            return process, own
        time.sleep(0.2)
    raise SystemExit(said.read_text()[-2000:])


def head(path: str, session: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer bench\r\nx-clew-session: {session}\r\n"
        f"content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    ).encode()


class Line:
    """One kept-open connection. `ask` gives seconds to the first byte of the answer and to its end."""

    def __init__(self, port: int, path: str = PATH) -> None:
        self.path = path
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, body: bytes, session: str) -> tuple[float, float]:
        began = time.perf_counter()
        self.socket.sendall(head(self.path, session, len(body)) + body)
        got = self.socket.recv(1 << 20)
        first = time.perf_counter() - began
        while not (got.endswith(b"0\r\n\r\n") or (b"content-length" in got and got.endswith(REPLY))):
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise ConnectionError(got[:500])
            got += piece
        assert got.startswith(b"HTTP/1.1 200"), got[:500]
        return first, time.perf_counter() - began


class Talk:
    """A conversation of about `size` bytes that grows by 1 KB a request."""

    def __init__(self, size: int, *, stream: bool = False) -> None:
        self.messages: list[bytes] = [json.dumps({"role": "system", "content": "You work."}).encode()]
        self.tail = b',"stream":true}' if stream else b"}"
        self.n = 0
        self.messages.append(json.dumps({"role": "user", "content": "Work on it until it is done."}).encode())
        while sum(map(len, self.messages)) < size:
            self.grow(4_000)

    def grow(self, size: int = 900) -> None:
        self.n += 1
        call = {
            "id": f"call_{self.n}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": f"step {self.n}"})},
        }
        words = " ".join(f"line{self.n}.{i}" for i in range(size // 10))
        self.messages.append(json.dumps({"role": "assistant", "content": None, "tool_calls": [call]}).encode())
        self.messages.append(json.dumps({"role": "tool", "tool_call_id": f"call_{self.n}", "content": words}).encode())

    def body(self) -> bytes:
        return b'{"model":"gpt-5","messages":[' + b",".join(self.messages) + b"]" + self.tail


def shown(name: str, direct: list[float], through: list[float]) -> str:
    """Both, and what is added: of the medians, and of the 99th percentiles."""

    def at(values: list[float], share: float) -> float:
        return sorted(values)[min(len(values) - 1, int(share * len(values)))] * 1e3

    d, t = (statistics.median(v) * 1e3 for v in (direct, through))
    return (
        f"{name:34} direct {d:7.2f} ms   through {t:7.2f} ms   added p50 {t - d:6.2f} ms   "
        f"p99 {at(through, 0.99) - at(direct, 0.99):6.2f} ms"
    )


def latency(name: str, ports: tuple[int, int], talk: Talk, rounds: int, *, first: bool = False) -> str:
    straight, via = (Line(p) for p in ports)
    session = f"{name}-{time.time()}"
    via.ask(talk.body(), session)  # the first meeting, where everything is read and stored
    direct, through = [], []
    for _ in range(rounds):
        talk.grow()
        body = talk.body()
        direct.append(straight.ask(body, session)[0 if first else 1])
        through.append(via.ask(body, session)[0 if first else 1])
    return shown(name, direct, through)


@dataclass
class Rate:
    """`second` are requests a second; `each` are the milliseconds of processor time that the server took for one, which
    stay about the same when something else runs on the machine.
    """

    second: float
    each: float

    def line(self, name: str, than: Rate | None = None) -> str:
        line = f"{name:34} {self.second:7.0f} requests/s   {self.each:6.2f} ms of processor time each"
        if than is None:
            return line
        return f"{line}   the gateway: {than.second / self.second:.2f} of the rate, {self.each / than.each:.2f} by time"


def throughput(server: Any, port: int, rounds: int, lanes: int = 16, path: str = PATH) -> Rate:
    """Over 16 connections, each with conversations of 20 KB that grow by 1 KB; their first requests are not counted."""
    talks = [[Talk(16_000) for _ in range(max(1, rounds // 20))] for _ in range(lanes)]

    def lane(k: int, times: int) -> None:
        line = Line(port, path)
        for n, talk in enumerate(talks[k]):
            for _ in range(times):
                talk.grow()
                line.ask(talk.body(), f"lane-{k}-{n}-{port}")

    with ThreadPoolExecutor(lanes) as pool:
        list(pool.map(lane, range(lanes), [1] * lanes))
        before, began = spent(server.pid), time.perf_counter()
        list(pool.map(lane, range(lanes), [20] * lanes))
    asked = lanes * len(talks[0]) * 20
    return Rate(asked / (time.perf_counter() - began), (spent(server.pid) - before) * 1e3 / asked)


def streams(server: Any, port: int, seconds: int) -> str:
    """So many slow streams at once: what arrived of them, how late the latest piece was, and the server's memory."""
    events = int(seconds / PAUSE)
    whole, late, sizes = [0] * STREAMS, [0.0] * STREAMS, []

    async def one(n: int) -> None:
        await asyncio.sleep(n * 0.01)
        body = Talk(4_000).body()[:-1] + b',"stream":true,"slow":%d}' % events
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head(PATH, f"slow-{n}", len(body)) + body)
        await reader.readuntil(b"\r\n\r\n")
        last = time.perf_counter()
        while (size := int(await reader.readline(), 16)) > 0:
            whole[n] += (await reader.readexactly(size + 2)).count(EVENT)
            late[n] = max(late[n], time.perf_counter() - last - PAUSE)
            last = time.perf_counter()
        writer.close()

    async def run() -> None:
        doing = asyncio.gather(*(one(n) for n in range(STREAMS)))
        while not doing.done():
            await asyncio.sleep(seconds / 20)
            sizes.append(memory(server.pid))
        await doing

    asyncio.run(run())
    lost = sum(events - n for n in whole)
    settled = sizes[len(sizes) // 4 :]
    return (
        f"{f'{STREAMS} streams, {seconds} s':34} {sum(whole)} events, {lost} lost; the latest {max(late) * 1e3:.0f} ms late; "
        f"memory {settled[0]:.1f} to {settled[-1]:.1f} MB, at most {max(settled):.1f}"
    )


def memory(pid: int) -> float:
    """Megabytes that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def spent(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(target: Callable[..., None], *given: Any) -> tuple[Any, int]:
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=target, args=(theirs, *given), daemon=True)
    process.start()
    port = ours.recv()
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
    time.sleep(0.5)
    return process, port


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--rounds", type=int, default=200)
    given.add_argument("--relay", action="store_true")
    given.add_argument("--streams", type=int, default=0, metavar="SECONDS")
    given.add_argument("--litellm", default="", metavar="PROGRAM")
    args = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        up, port = started(upstream)
        processes = [up]
        served, gate = started(gateway, port, str(Path(folder)))
        processes.append(served)
        try:
            ports = (port, gate)
            if args.streams:
                print(streams(served, gate, args.streams))
                return
            print(latency("20 KB", ports, Talk(20_000), args.rounds))
            print(latency("200 KB, known prefix", ports, Talk(200_000), args.rounds))
            print(latency("2 MB, known prefix", ports, Talk(2_000_000), max(20, args.rounds // 4)))
            print(latency("20 KB stream, first byte", ports, Talk(20_000, stream=True), args.rounds, first=True))
            rate = throughput(served, gate, args.rounds)
            print(rate.line("20 KB, 16 connections"))
            if args.relay:
                bare, bare_port = started(relay, port)
                processes.append(bare)
                print(throughput(bare, bare_port, args.rounds).line("the same, a bare relay", rate))
            if args.litellm:
                proxy, proxy_port = litellm(args.litellm, port, folder)
                processes.append(proxy)
                throughput(proxy, proxy_port, 20, 4, PASSED)  # warm
                print(throughput(proxy, proxy_port, 40, path=PASSED).line("the same, litellm[proxy]", rate))
        finally:
            for process in processes:
                process.terminate()


if __name__ == "__main__":
    main()
