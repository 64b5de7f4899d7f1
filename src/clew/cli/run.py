"""`clew run -- PROGRAM …`: one process pointed at Clew; no file of the client's is touched."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from clew.config import load
from clew.config.paths import home
from clew.connect import CLIENTS, Once, current, other
from clew.connect.files import write
from clew.connect.reach import reach
from clew.doctor import gateway_url
from clew.errors import ConfigError, InputError

_MODE = 0o600


def run(
    command: list[str] = typer.Argument(..., help="The program and its arguments, after `--`.", show_default=False),
    url: str | None = typer.Option(None, "--url", help="The gateway's address; default: serve.host and serve.port."),
) -> None:
    """Run a client through Clew, by its environment or its options, for this one process.

    Exit code: the program's own; 2 where no gateway answers or there is no such program.
    """
    base = (url or gateway_url(load().settings)).rstrip("/").removesuffix("/v1")
    if reach(base).kind != "clew":
        raise ConfigError(f"no gateway answers at {base}", hint="start it with `clew serve`, or name it with --url")
    once = _once(command, base)
    for name, text in once.files.items():
        write(Path(name), text.encode(), _MODE)
    try:
        # This process becomes the program, so signals, terminal and exit code are its own.
        os.execvpe(once.arguments[0], once.arguments, {**os.environ, **once.environment})  # noqa: S606 - as asked
    except FileNotFoundError:
        raise InputError(f"there is no program {once.arguments[0]!r}", hint="is it on the PATH?") from None
    except PermissionError:
        raise InputError(f"{once.arguments[0]!r} may not be run", hint="check its permissions") from None


def _once(command: list[str], base: str) -> Once:
    program = Path(command[0]).name
    client = next((c for c in CLIENTS.values() if c.program == program), None)
    if client is None:
        return other(command, base)
    return client.once(command, base, os.environ, current(client, os.environ), home() / "run")
