"""`clew demo`: see it work, with no key and no network."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from clew import demo as show
from clew import jsonio
from clew.cli.sessionfile import progress
from clew.report import look_of, page, write
from clew.report.of_replay import as_json as figures


def demo(
    seed: int = typer.Option(1, "--seed", help="Another session."),
    turns: int = typer.Option(40, "--turns", min=8, max=60, help="User turns; twenty are about 100,000 tokens."),
    handoff: bool = typer.Option(False, "--handoff", help="Print the last handoff too."),
    html: Path | None = typer.Option(None, "--html", help="Write one self-contained page here."),
    as_json: bool = typer.Option(False, "--json", help="JSON on standard output."),
    color: bool | None = typer.Option(None, "--color/--no-color", help="Default: on a terminal."),
) -> None:
    """A long session, made here, through Clew: what it costs, what stays, what a handoff looks like."""
    with progress("playing the session") as drawn:
        done = show.run(seed, turns, drawn)
    report = show.report(done)
    if as_json:
        value = {
            "policies": figures(done.replays),
            "kept": len(done.kept),
            "by_search": len(done.found),
            "lost": len(done.lost),
            "secrets_in_handoff": done.secrets_in_handoff,
            "receipt": list(done.receipt),
        }
        sys.stdout.write(jsonio.dumps(value).decode() + "\n")
    else:
        write(report, sys.stdout, look_of(sys.stdout, color=color))
        if handoff:
            sys.stdout.write(f"\n{done.handoff}\n")
    if html is not None:
        html.write_text(page([report], "Clew demo"), encoding="utf-8")
