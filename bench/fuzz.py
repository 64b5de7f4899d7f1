"""Mutated requests through a real gateway on loopback: does anything of Clew's break, hang, or change what it doesn't know?

    python bench/fuzz.py [--count 20000] [--seed 1] [--endpoint /v1/messages] [--recall tool] [--schemathesis PROGRAM [--examples N]]

For each endpoint `count` valid bodies and header lists are changed in one to four ways (`clew.testing.mutate`) and sent
over kept connections, as the turns of a few conversations. Behind the gateway stands an upstream that answers 200 to
everything and notes the body. Counted are answers of 5xx, requests without an answer after ten seconds, requests refused
with 4xx (by the gateway, as its answer says), and bodies that reached the upstream otherwise than they came and are no
view of Clew's. With
`--schemathesis` that program is run on the gateway's OpenAPI description as well.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import time
from collections import Counter

from clew.config.loader import from_mapping
from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing import mutate

PATIENCE = 10.0
AT_ONCE = 4
SESSIONS = 12
# What stands in a body that the gateway changed on purpose: a handoff, a repeated result, its tools.
OURS = (b"compacted by Clew", b"Same output as", b"clew_recall")


class Upstream:
    """Answers `{}` to everything, on kept connections; what came stands under the request's number."""

    def __init__(self):
        self.bodies = {}

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, limit=1 << 24)
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:] if b":" in line)
                if b"transfer-encoding" in fields:
                    body = await chunked(reader)
                else:
                    body = await reader.readexactly(int(fields.get(b"content-length", b"0")))
                self.bodies[fields.get(b"x-fuzz", b"").strip()] = body
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def chunked(reader):
    out = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        out += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return out


class Client:
    """One kept connection; a new one where the other side closed it."""

    def __init__(self, port):
        self.port = port
        self.streams = None

    async def ask(self, data):
        """(status, body), or None where nothing came in time."""
        for _ in range(2):
            if self.streams is None:
                self.streams = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
            try:
                return await asyncio.wait_for(self.exchange(data), PATIENCE)
            except TimeoutError:
                self.close()
                return None
            except (asyncio.IncompleteReadError, ConnectionError):
                self.close()  # closed after the answer before; a second time it is none
        return 0, b""

    async def exchange(self, data):
        reader, writer = self.streams
        writer.write(data)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ")[1])
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:] if b":" in line)
        if b"transfer-encoding" in fields:
            body = await chunked(reader)
        elif b"content-length" in fields:
            body = await reader.readexactly(int(fields[b"content-length"]))
        else:
            body = await reader.read()
            self.close()
        if fields.get(b"connection", b"").strip() == b"close":
            self.close()
        return status, body

    def close(self):
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def fuzz(endpoint, count, seed, up, port, found):
    """Every number of the range once, by a few clients at a time."""
    numbers = iter(range(count))

    async def work():
        client = Client(port)
        for n in numbers:
            dice = random.Random(f"{seed} {endpoint} {n}")
            raw = mutate.body(mutate.ENDPOINTS[endpoint], dice)
            more, raw = mutate.headers(raw, dice)
            name = f"{endpoint} {n}".encode()
            own = [(b"host", b"127.0.0.1"), (b"x-fuzz", name), (b"content-length", str(len(raw)).encode())]
            if dice.random() < 0.8:
                own += [(b"authorization", b"Bearer k"), (b"x-clew-session", b"fuzz %d" % dice.randrange(SESSIONS))]
            lines = b"".join(k + b": " + v + b"\r\n" for k, v in [*own, *more])
            answer = await client.ask(b"POST " + endpoint.encode() + b" HTTP/1.1\r\n" + lines + b"\r\n" + raw)
            judge(found, name, raw, answer, up.bodies.pop(name, None))
        client.close()

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


def judge(found, name, raw, answer, came):
    found["requests"] += 1
    if answer is None:
        note(found, "no answer in time", name)
    elif answer[0] == 0:
        note(found, "connections cut without an answer", name)
    elif answer[0] >= 500:
        note(found, "5xx", name)
    elif answer[0] >= 400:
        found["refused with 4xx"] += 1
        if came is not None:
            note(found, "refused and yet sent on", name)
    elif came != raw and not any(w in (came or b"") for w in OURS):
        note(found, "bodies changed on their way", name)


def note(found, what, name):
    found[what] += 1
    print(f"{what}: {name.decode()}", file=sys.stderr)


async def run(args):
    up = Upstream()
    url = await up.start()
    given = {"serve": {"port": 0, "upstreams": {"up": url}, "recall": args.recall}}
    gateway = Serving(from_mapping(given).settings, open_store("memory:"))
    port = int((await gateway.start()).rsplit(":", 1)[1])
    bad = Counter()
    try:
        for endpoint in args.endpoint or mutate.ENDPOINTS:
            found = Counter()
            start = time.perf_counter()
            await fuzz(endpoint, args.count, args.seed, up, port, found)
            took = time.perf_counter() - start
            told = ", ".join(f"{v:,} {k}" for k, v in found.items())
            print(f"{endpoint}: {told}; {1000 * took / args.count:.1f} ms each", flush=True)
            bad.update({k: v for k, v in found.items() if k not in ("requests", "refused with 4xx")})
        if args.schemathesis:
            bad["schemathesis"] = await schemathesis(args, gateway.url)
        faults = gateway.gateway.counts.all().get("faults", 0)
        print(
            f"faults counted by the gateway: {faults}; turns among the requests: {gateway.gateway.counts.all().get('turns', 0):,}"
        )
        return bool(faults or +bad)
    finally:
        await gateway.stop()
        up.server.close()


async def schemathesis(args, url):
    """Its own generators on the description; the checks that speak of faults."""
    command = [
        args.schemathesis, "run", f"{url}/clew/openapi.json", f"--url={url}", "--checks=not_a_server_error",
        f"--max-examples={args.examples}", f"--seed={args.seed}", "--phases=examples,fuzzing", "--mode=all", "--request-timeout=10",
        "--suppress-health-check=all", "--no-color", "--header=authorization: Bearer k",
    ]  # fmt: skip
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    print("\n".join(line for line in done.stdout.splitlines()[-25:] if line.strip()))
    return done.returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--endpoint", action="append")
    parser.add_argument("--recall", choices=("command", "tool"), default="command")
    parser.add_argument("--schemathesis", default="", help="its program; pip install schemathesis")
    parser.add_argument("--examples", type=int, default=1_000, help="of schemathesis, for each operation")
    sys.exit(asyncio.run(run(parser.parse_args())))
