"""`clew service`: the gateway started with the user's session."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from clew import service as services
from clew.service import Service, planned

app = typer.Typer(
    help="The gateway as a service of yours: a systemd user unit, or a launchd agent.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def install() -> None:
    """Write the service's file, start it, and have it started from now on. Its settings are `clew config`'s."""
    typer.echo(services.install(_service(), _run))


@app.command()
def uninstall() -> None:
    """Stop it and take its file away."""
    typer.echo(services.uninstall(_service(), _run))


@app.command()
def status() -> None:
    """Whether it runs. Exit code: 0 it does, 1 it doesn't."""
    runs, says = services.status(_service(), _run)
    typer.echo(says)
    if not runs:
        raise typer.Exit(1)


@app.command()
def show() -> None:
    """Print the file that `install` would write."""
    typer.echo(_service().text, nl=False)


def _service() -> Service:
    beside = Path(sys.executable).with_name("clew")
    program = str(beside) if beside.exists() else shutil.which("clew") or sys.argv[0]
    return planned(sys.platform, os.environ, [str(Path(program).absolute()), "serve"], os.getuid())


def _run(command: Sequence[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - fixed
    except FileNotFoundError:
        return 127, f"there is no {command[0]}"
    except subprocess.TimeoutExpired:
        return 124, "it didn't end within a minute"
    return done.returncode, done.stdout + done.stderr
