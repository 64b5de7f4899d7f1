"""`clew`: the commands, and how an error is shown."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module

import typer

from clew import __version__
from clew.errors import ClewError

# In the order of the help page. A module is loaded when its command is asked for.
COMMANDS = {
    "serve": "serve",
    "connect": "connect",
    "run": "run",
    "doctor": "doctor",
    "compress": "compress",
    "replay": "replay",
    "why": "why",
    "inspect": "inspect",
    "validate": "inspect",
    "search": "search",
    "recall": "search",
    "record": "record",
    "demo": "demo",
}
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
GROUPS = {"sessions": "sessions", "store": "store", "config": "config", "service": "service"}


def _version(show: bool) -> None:
    if show:
        typer.echo(f"clew {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def build(wanted: str = "") -> typer.Typer:
    """The app: with the one command that is wanted, or with all of them where that is none of ours."""
    app = typer.Typer(
        name="clew",
        help="Keeps LLM agents working past the end of their context window, and loses nothing.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    everything = wanted not in COMMANDS and wanted not in GROUPS
    for name, module in COMMANDS.items():
        if everything or name == wanted:
            holds = import_module(f"clew.cli.{module}")
            app.command(name, cls=getattr(holds, "PARSERS", {}).get(name))(getattr(holds, name))
    for name, module in GROUPS.items():
        if everything or name == wanted:
            app.add_typer(import_module(f"clew.cli.{module}").app, name=name)
    return app


def main() -> None:
    """The console script. Errors of Clew's own are one line with a hint; anything else is a bug and shows itself."""
    wanted = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    try:
        try:
            build(wanted)()
        finally:
            sys.stdout.flush()  # what can't be written is told here, not by the interpreter at its exit
    except ClewError as e:
        sys.stderr.write(f"clew: {e.message}\n" + (f"      {e.hint}\n" if e.hint else ""))
        raise SystemExit(e.exit_code) from None
    except BrokenPipeError:
        # the reader (head, less) has seen enough; without this the interpreter complains once more at exit
        _let_go_of_stdout()
        raise SystemExit(0) from None
    except OSError as e:
        if e.errno not in _FULL:
            raise
        _let_go_of_stdout()
        sys.stderr.write(f"clew: what it found can't be written: {e.strerror}\n")
        raise SystemExit(2) from None


def _let_go_of_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
