"""A real model on loopback: llama.cpp's server in a process of its own, from the package `xllamacpp`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.errors import ClewError

_STARTED = "listening at "
_SERVE = """
import sys, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.n_ctx, p.n_parallel, p.port = sys.argv[1], int(sys.argv[2]), 1, 0
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = int(sys.argv[3])
p.n_batch = p.n_ubatch = 512
p.warmup = False
server = xllamacpp.Server(p)
print("listening at " + server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def llama_server(weights: Path, *, window: int, threads: int = 2, patience: float = 180.0) -> Iterator[str]:
    """The base URL of an OpenAI-compatible server with these weights; it ends with the context."""
    env = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # threads that spin would take both cores from everything else
    process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own script
        [sys.executable, "-c", _SERVE, str(weights), str(window), str(threads)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    heard: list[str] = []
    ready = threading.Event()

    def listen(name: str) -> None:
        for line in getattr(process, name):
            heard.append(line)
            if line.startswith(_STARTED):
                ready.set()
        ready.set()

    readers = [threading.Thread(target=listen, args=(name,), daemon=True) for name in ("stdout", "stderr")]
    for reader in readers:
        reader.start()
    try:
        ready.wait(patience)
        address = next((x.removeprefix(_STARTED).strip() for x in heard if x.startswith(_STARTED)), "")
        if not address:
            raise ClewError(f"the model's server did not start: {''.join(heard[-5:])}", hint="pip install xllamacpp")
        yield f"{address.rstrip('/')}/v1"
    finally:
        process.kill()
        process.wait()
        for reader in readers:
            reader.join(5)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
