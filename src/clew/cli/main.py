"""`clew`: the commands, and how an error is shown."""

from __future__ import annotations

import sys
from importlib import import_module

import typer

from clew import __version__
from clew.errors import ClewError

app = typer.Typer(
    name="clew",
    help="Keeps LLM agents working past the end of their context window, and loses nothing.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"clew {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main() -> None:
    """The console script. Errors of Clew's own are one line with a hint; anything else is a bug and shows itself."""
    for name in ("config",):
        app.add_typer(import_module(f"clew.cli.{name}").app, name=name)
    try:
        app()
    except ClewError as e:
        sys.stderr.write(f"clew: {e.message}\n" + (f"      {e.hint}\n" if e.hint else ""))
        raise SystemExit(e.exit_code) from None
