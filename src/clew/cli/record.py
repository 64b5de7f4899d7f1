"""`clew record`: a relay that changes nothing and writes what passed."""

from __future__ import annotations

import asyncio
import signal
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from clew.errors import ConfigError

if TYPE_CHECKING:
    from clew.record.relay import Relay

_BASES = """  Claude Code   export ANTHROPIC_BASE_URL={url}
  Codex         base_url = "{url}/v1" of a provider in config.toml, wire_api = "responses"
  OpenCode      "baseURL": "{url}/v1" in a provider's options in opencode.json
  pi            "baseUrl": "{url}" (anthropic) or "{url}/v1" (openai) in models.json
  OpenAI SDK    export OPENAI_BASE_URL={url}/v1"""


def record(
    upstream: str = typer.Option(..., "--upstream", help="The provider's base URL, without /v1."),
    out: Path = typer.Option(Path("clew-traffic"), "--out", help="The folder for the recordings."),
    host: str = typer.Option(
        "127.0.0.1", "--host", help="Where to listen. Anything but loopback is open to the network."
    ),
    port: int = typer.Option(0, "--port", min=0, max=65535, help="0 takes a free one."),
) -> None:
    """Relay a client's requests to its provider, byte for byte, and record them with keys removed.

    Stop with Ctrl-C. Exit code: 0, 1 where something could not be written, 2 where it can't listen or
    the address is none.
    """
    try:
        from clew.record.relay import Relay, is_loopback
    except ModuleNotFoundError as e:
        raise ConfigError(f"recording needs {e.name}", hint="pip install 'clew[gateway]'") from e
    # Local time, because people look for "the one from this morning".
    file = out / f"{datetime.now().astimezone():%Y%m%d-%H%M%S}.jsonl"
    if not is_loopback(host):
        typer.echo(f"clew: {host} is reachable from outside; whoever reaches it can use your provider", err=True)
    relay = Relay(upstream.removesuffix("/v1"), file)
    asyncio.run(_run(relay, host, port, upstream))
    typer.echo(f"\n{_written(file)} in {file}")
    if relay.lost:
        typer.echo(f"clew: {len(relay.lost)} could not be written, first {relay.lost[0]}", err=True)
        raise typer.Exit(1)


async def _run(relay: Relay, host: str, port: int, upstream: str) -> None:
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    url = await relay.start(host, port)
    typer.echo(f"Relaying {url} to {upstream}, recording into {relay.tape.path}\n{_BASES.format(url=url)}")
    try:
        await over.wait()
    finally:
        await relay.stop()


def _written(file: Path) -> str:
    count = sum(1 for _ in file.open("rb"))
    return f"{count} exchange{'' if count == 1 else 's'}"
