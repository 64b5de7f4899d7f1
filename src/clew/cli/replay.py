"""`clew replay FILE…`: what a session would have cost and forgotten under a policy; a gate for a team's own sessions."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from clew import jsonio
from clew.cli.sessionfile import opened, progress
from clew.errors import ConfigError, InputError
from clew.replay import Replay, make
from clew.replay import replay as play
from clew.replay.policies import Setting
from clew.report import look_of, page, write
from clew.report.of_replay import as_json as figures
from clew.report.of_replay import of_replays

_GATES = ("recall", "far", "ready", "price", "over", "invalid")
FAILED = 1


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
    """Replay sessions step by step. Exit code: 0, 1 where a gate failed, 2 where a file could not be read."""
    gates = _gates(fail_under)
    reports, values, broken = [], [], []
    for file in files:
        session = opened(file)
        setting = Setting(window, threshold, prefix, session.wire, model)
        runs: list[Replay] = []
        for name in policy:
            with progress(f"{file.name}: {name}") as show:
                runs.append(
                    play(
                        session.messages,
                        make(name, setting),
                        name,
                        window=window,
                        overhead=prefix,
                        model=model,
                        progress=show,
                    )
                )
        reports.append(of_replays(file.name, runs, explain=explain))
        values.append({"file": str(file), "policies": figures(runs)})
        broken += [f"{file.name}: {text}" for text in _failed(runs[0], gates)]
    if as_json:
        sys.stdout.write(jsonio.dumps(values).decode() + "\n")
    else:
        for report in reports:
            write(report, sys.stdout, look_of(sys.stdout, color=color))
    if html is not None:
        try:
            html.write_text(page(reports, "Clew replay"), encoding="utf-8")
        except OSError as e:
            raise InputError(f"{html} can't be written: {e.strerror}") from e
    for text in broken:
        sys.stderr.write(f"gate failed: {text}\n")
    if broken:
        raise typer.Exit(FAILED)


def _gates(text: str) -> dict[str, float]:
    out = {}
    for item in (x.strip() for x in text.split(",") if x.strip()):
        name, _, value = item.partition("=")
        try:
            out[name.strip()] = float(value)
        except ValueError:
            raise ConfigError(f"--fail-under {item!r} is no NAME=NUMBER") from None
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
