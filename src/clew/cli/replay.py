"""`clew replay FILE…`: what a session would have cost and forgotten under a policy; a gate for a team's own sessions."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from clew import jsonio
from clew.cli.sessionfile import opened, progress
from clew.errors import ClewError, ConfigError, InputError
from clew.inspect import Unreadable, expand
from clew.replay import Replay, make
from clew.replay import replay as play
from clew.replay.policies import Setting
from clew.report import look_of, page, write
from clew.report.model import Report
from clew.report.of_replay import as_json as figures
from clew.report.of_replay import of_replays
from clew.wire.files import SessionFile

_GATES = ("recall", "far", "ready", "price", "over", "invalid")
FAILED, UNREADABLE = 1, 2


def replay(
    files: list[Path] = typer.Argument(..., help="Session files."),
    policy: list[str] = typer.Option(
        ["clew", "none", "sliding", "mask"], "--policy", "-p", help="clew, none, sliding or mask; may be repeated."
    ),
    window: int = typer.Option(64_000, "--window", "-w", min=1000, help="The window in tokens."),
    threshold: float = typer.Option(0.5, "--threshold", min=0.01, max=1.0, help="Share of it that triggers."),
    prefix: int = typer.Option(0, "--prefix", min=0, help="Tokens of system and tools that every request carries."),
    model: str | None = typer.Option(None, "--model", "-m", help="The model to count and price for."),
    explain: bool = typer.Option(False, "--explain", help="Each decision with its figures."),
    fail_under: str = typer.Option("", "--fail-under", help="A gate: recall=0.95,far=0.9,ready=0.9,price=0.6,over=0."),
    html: Path | None = typer.Option(None, "--html", help="Write one self-contained page here."),
    as_json: bool = typer.Option(False, "--json", help="JSON on standard output."),
    color: bool | None = typer.Option(None, "--color/--no-color", help="Default: on a terminal."),
) -> None:
    """Replay sessions step by step; folders are searched. Exit code: 0, 1 where a gate failed, 2 where a file could not be
    read (the others are replayed all the same).
    """
    gates = _gates(fail_under)
    for name in policy:
        make(name, Setting())  # a wrong name is told before any work is done
    reports, values, broken, unread = [], [], [], False
    for file in expand(files):
        session = _session(file)
        if session is None:
            unread = True
            continue
        name = Path(session.path).name
        runs = _runs(session, policy, Setting(window, threshold, prefix, session.wire, model))
        reports.append(of_replays(name, runs, explain=explain))
        values.append({"file": session.path, "policies": figures(runs)})
        broken += [f"{name}: {text}" for text in _failed(runs[0], gates)]
    if as_json:
        sys.stdout.write(jsonio.dumps(values).decode() + "\n")
    else:
        for report in reports:
            write(report, sys.stdout, look_of(sys.stdout, color=color))
    if html is not None:
        _write_page(html, reports)
    for text in broken:
        sys.stderr.write(f"gate failed: {text}\n")
    if broken or unread:
        raise typer.Exit(FAILED if broken else UNREADABLE)


def _session(file: Path | Unreadable) -> SessionFile | None:
    """The file's session; None, with a word on stderr, where there is none."""
    said = file
    if isinstance(file, Path):
        try:
            return opened(file)
        except ClewError as e:
            said = Unreadable(str(file), e.message, e.hint)
    assert isinstance(said, Unreadable)
    sys.stderr.write(f"clew: {said.sentence}\n" + (f"      {said.hint}\n" if said.hint else ""))
    return None


def _runs(session: SessionFile, policies: Sequence[str], setting: Setting) -> list[Replay]:
    runs: list[Replay] = []
    for name in policies:
        with progress(f"{Path(session.path).name}: {name}") as show:
            runs.append(
                play(
                    session.messages,
                    make(name, setting),
                    name,
                    window=setting.window,
                    overhead=setting.overhead,
                    model=setting.model,
                    progress=show,
                )
            )
    return runs


def _write_page(html: Path, reports: Sequence[Report]) -> None:
    try:
        html.write_text(page(reports, "Clew replay"), encoding="utf-8")
    except OSError as e:
        raise InputError(f"{html} can't be written: {e.strerror}", hint="name another place with --html") from e


def _gates(text: str) -> dict[str, float]:
    out = {}
    for item in (x.strip() for x in text.split(",") if x.strip()):
        name, _, value = item.partition("=")
        try:
            out[name.strip()] = float(value)
        except ValueError:
            out[name.strip()] = math.nan
        if math.isnan(out[name.strip()]):
            raise ConfigError(f"--fail-under {item!r} is no NAME=NUMBER", hint="write it as recall=0.95,price=0.6")
        if name.strip() not in _GATES:
            raise ConfigError(f"--fail-under knows no {name!r}", hint=f"there are {', '.join(_GATES)}")
    return out


def _failed(run: Replay, gates: dict[str, float]) -> list[str]:
    """Gates on what is remembered are lower bounds; on price and breaches they are upper bounds."""
    need = run.need
    figures = {"recall": need.recall, "far": need.far_recall, "ready": need.readiness}
    most = {"price": run.share, "over": float(run.over), "invalid": float(run.invalid)}
    low = [f"{k} is {figures[k]:.3f}, under {v:g}" for k, v in gates.items() if k in figures and figures[k] < v]
    return low + [f"{k} is {most[k]:.3f}, over {v:g}" for k, v in gates.items() if k in most and most[k] > v]
