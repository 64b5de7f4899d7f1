"""`clew demo`: see it work, with no key and no network."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from clew import demo as show
from clew import jsonio
from clew.cli.serve import serve
from clew.cli.sessionfile import progress
from clew.errors import ConfigError
from clew.report import Look, look_of, page, write
from clew.report.of_replay import as_json as figures
from clew.summarise.spec import PROVIDERS
from clew.testing.session import generate

_SHOWN = 12  # requests in the live table
_EVERY = 15  # requests between two lines where it is piped


def demo(
    seed: int = typer.Option(1, "--seed", help="Another session."),
    turns: int = typer.Option(40, "--turns", min=8, max=60, help="User turns; twenty are about 100,000 tokens."),
    provider: str = typer.Option(
        "openai", "--provider", help="Whose rules the scripted upstream has: openai, anthropic."
    ),
    handoff: bool = typer.Option(False, "--handoff", help="Print the last handoff too."),
    html: Path | None = typer.Option(None, "--html", help="Write one self-contained page here."),
    as_json: bool = typer.Option(False, "--json", help="JSON on standard output."),
    color: bool | None = typer.Option(None, "--color/--no-color", help="Default: on a terminal."),
    serve_with_key: bool = typer.Option(
        False, "--serve-with-key", help="Where a provider's key is in the environment, serve for real instead."
    ),
) -> None:
    """A long session, made here, through the gateway: what it costs, what stays, what a handoff looks like."""
    if serve_with_key and (named := _keys()):
        typer.echo(f"{', '.join(named)} is set: serving for real. `clew demo` shows the scripted session.\n")
        _serve()
        return
    if provider not in show.WAYS:
        raise ConfigError(f"--provider {provider}: none of {', '.join(show.WAYS)}")
    look = look_of(sys.stdout, color=color)
    played = _played(seed, turns, provider, look, silent=as_json)
    with progress("looking at what stayed") as drawn:
        done = show.run(seed, turns, drawn)
    report = show.report(done, played)
    if as_json:
        value = {
            "gateway": show.as_json(played) if played is not None else None,
            "policies": figures(done.replays),
            "kept": len(done.kept),
            "by_search": len(done.found),
            "lost": len(done.lost),
            "secrets_in_handoff": done.secrets_in_handoff,
            "receipt": list(done.receipt),
        }
        sys.stdout.write(jsonio.dumps(value).decode() + "\n")
    else:
        sys.stdout.write("\n" if played is not None else "")
        write(report, sys.stdout, look)
        if handoff:
            sys.stdout.write(f"\n{done.handoff}\n")
    if html is not None:
        html.write_text(page([report], "Clew demo"), encoding="utf-8")


def _played(seed: int, turns: int, provider: str, look: Look, *, silent: bool) -> show.Played | None:
    """The session through the gateway, shown while it goes on; None where the gateway isn't installed."""
    try:
        from clew.demo.gateway import play
    except ModuleNotFoundError as e:
        sys.stderr.write(f"clew: without {e.name} there is no gateway to show: pip install 'clew[gateway]'\n")
        return None
    session, way = generate(seed, turns=turns), show.WAYS[provider]
    if silent:
        return play(session, way)
    total = sum(m["role"] == "assistant" for m in session.messages)
    sys.stdout.write(
        f"An agent plays {total} requests of a generated session over HTTP: agent → gateway → scripted {provider}.\n"
        "Nothing leaves this machine.\n\n"
    )
    with _live() if look.color and sys.stdout.isatty() else _lines(total) as shown:
        return play(session, way, shown)


@contextmanager
def _lines(total: int) -> Iterator[Callable[[show.Row], None]]:
    """A line now and then, as it comes."""

    def shown(row: show.Row) -> None:
        if row.request % _EVERY == 1 or row.request == total:
            sys.stdout.write(show.line(row) + "\n")
            sys.stdout.flush()

    sys.stdout.write(show.HEAD + "\n")
    yield shown


@contextmanager
def _live() -> Iterator[Callable[[show.Row], None]]:
    """The last requests as a table that is drawn in place; a request that an epoch preceded stands out."""
    from rich.console import Console  # only a terminal pays for it
    from rich.live import Live
    from rich.text import Text

    last: tuple[tuple[show.Row, bool], ...] = ()  # replaced and never changed: another thread draws it

    def drawn() -> Text:
        text = Text(show.HEAD, style="bold", no_wrap=True, overflow="crop")
        for row, epoch in last:
            text.append("\n" + show.line(row), style="not bold green" if epoch else "not bold")
        return text

    with Live(console=Console(file=sys.stdout, highlight=False), refresh_per_second=12, get_renderable=drawn) as live:

        def shown(row: show.Row) -> None:
            nonlocal last
            last = (*last, (row, bool(last) and row.epochs > last[-1][0].epochs))[-_SHOWN:]

        yield shown
        live.refresh()


def _keys() -> list[str]:
    """Variables of the environment that hold a provider's key."""
    return [name for p in PROVIDERS.values() for name in p.keys if os.environ.get(name)]


def _serve() -> None:
    serve(host=None, port=None, upstream=[], store=None, workers=None, observe=False)
