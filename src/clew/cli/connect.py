"""`clew connect`: a client's own setting file pointed at Clew, and back."""

from __future__ import annotations

import difflib
import os
from urllib.parse import urlsplit

import typer

from clew.config import load
from clew.connect import CLIENTS, Done, Plan, plan
from clew.connect import connect as write
from clew.connect import undo as restore
from clew.connect.reach import reach
from clew.doctor import gateway_url
from clew.errors import InputError


def connect(
    client: str = typer.Argument(..., help=f"One of {', '.join(sorted(CLIENTS))}.", show_default=False),
    url: str | None = typer.Option(None, "--url", help="The gateway's address; default: serve.host and serve.port."),
    undo: bool = typer.Option(False, "--undo", help="Restore the client's file byte for byte."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would change; write nothing."),
) -> None:
    """Point a client at Clew by its own settings; what they were is kept beside them.

    Exit code: 0, or 2 where the client isn't known or its file can't be edited.
    """
    known = CLIENTS.get(client)
    if known is None:
        raise InputError(
            f"no client is called {client!r}",
            hint=f"known are {', '.join(sorted(CLIENTS))}; others: clew run -- PROGRAM",
        )
    if undo:
        if dry_run or url:
            raise InputError("--undo takes no other option", hint=f"clew connect {client} --undo")
        _tell(restore(known, os.environ))
        return
    base = _checked(url) if url else gateway_url(load().settings)
    if dry_run:
        _show(plan(known, base, os.environ))
        return
    _tell(write(known, base, os.environ))
    if reach(base).kind != "clew":
        typer.echo(f"note: no gateway answers at {base} yet; start it with `clew serve`", err=True)


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        right = False
    if not right or parts.query or parts.fragment:
        raise InputError(f"{url!r} is no base URL", hint="http://HOST:PORT, without /v1")
    return url.rstrip("/").removesuffix("/v1")


def _tell(done: Done) -> None:
    typer.echo(done.says)
    for note in done.notes:
        typer.echo(f"note: {note}", err=True)


def _show(p: Plan) -> None:
    if not p.changes:
        typer.echo(f"{p.path} would stay as it is")
        return
    before = (p.before or b"").decode().splitlines()
    lines = difflib.unified_diff(
        before, p.after.decode().splitlines(), str(p.path), f"{p.path} (connected)", lineterm=""
    )
    typer.echo("\n".join(lines))
    for note in p.notes:
        typer.echo(f"note: {note}", err=True)
