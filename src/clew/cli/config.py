"""`clew config`: what is set, from where, and whether a file is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from clew.config import Finding, Loaded, config_path, examine, load
from clew.config.assign import assign, find_key
from clew.config.keys import sections_of
from clew.config.schema import Settings
from clew.config.show import masked, nested, shown
from clew.errors import ConfigError

app = typer.Typer(
    help="Settings: `config.yaml` under CLEW_HOME, and CLEW_* variables over it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_FILE = typer.Option(None, "--file", "-f", help="Another file than the one `clew config path` names.")
_JSON = typer.Option(False, "--json", help="JSON on standard output.")


@app.command()
def show(
    file: Path | None = _FILE,
    changed: bool = typer.Option(False, "--changed", help="Only what isn't a default."),
    as_json: bool = _JSON,
) -> None:
    """Every setting with where it comes from; credentials are hidden."""
    loaded = load(file)
    values = {name: v for name, v in shown(loaded.settings).items() if not changed or name in loaded.origins}
    if as_json:
        _print_json(
            {
                "source": _text(loaded.source),
                "settings": nested(values),
                "origins": dict(loaded.origins),
                **_notes(loaded),
            }
        )
        return
    _tell(loaded.notes)
    width = max(map(len, values), default=0)
    for name, value in values.items():
        origin = loaded.origins.get(name)
        typer.echo(f"{name:<{width}}  {_plain(value)}" + (f"   # {origin}" if origin else ""))


@app.command()
def get(key: str, file: Path | None = _FILE, as_json: bool = _JSON) -> None:
    """One setting, or a section; a credential is hidden."""
    loaded = load(file)
    values = shown(loaded.settings)
    section = (
        {n: v for n, v in values.items() if n.startswith(key + ".")} if key in sections_of(Settings) - {""} else {}
    )
    name = key if section else find_key(key).name
    value = nested({n.removeprefix(key + "."): v for n, v in section.items()}) if section else values[name]
    if as_json:
        _print_json(
            {"key": name, "value": value, "origin": loaded.origins.get(name, "default" if not section else None)}
        )
        return
    typer.echo(_plain(value))


@app.command("set")
def set_(key: str, value: str, file: Path | None = _FILE) -> None:
    """Write one setting into the file; comments and everything else in it stay. Lists: a,b,c. Mappings: JSON."""
    done = assign(key, value, file)
    _tell(done.notes)
    typer.echo(f"{done.key} = {_plain(masked(done.value, done.key.rpartition('.')[2]))}   # {done.path}")


@app.command()
def path() -> None:
    """Where the settings file is, whether it exists or not."""
    typer.echo(str(config_path()))


@app.command()
def validate(file: Path | None = typer.Argument(None, help="Default: the user's own."), as_json: bool = _JSON) -> None:
    """Check a file, and the CLEW_* variables over it. Exit code: 0 right, 1 problems, 2 can't be read."""
    try:
        loaded = examine(file)
    except ConfigError as e:
        if not as_json:
            raise
        _print_json(
            {
                "source": _text(file),
                "readable": False,
                "problems": [{"text": e.message, "key": "", "where": ""}],
                "notes": [],
            }
        )
        raise typer.Exit(2) from None
    if as_json:
        problems = [_finding(problem) for problem in loaded.problems]
        _print_json({"source": _text(loaded.source), "readable": True, "problems": problems, **_notes(loaded)})
    else:
        _tell(loaded.notes)
        for problem in loaded.problems:
            typer.echo(str(problem))
        count = len(loaded.problems)
        where = loaded.source or "no file, defaults"
        typer.echo(f"{where}: {'no problems' if not count else f'{count} problem' + ('s' if count > 1 else '')}")
    if loaded.problems:
        raise typer.Exit(1)


def _tell(notes: tuple[Finding, ...]) -> None:
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def _notes(loaded: Loaded) -> dict[str, Any]:
    return {"notes": [_finding(note) for note in loaded.notes]}


def _finding(finding: Finding) -> dict[str, str]:
    return {"text": finding.text, "key": finding.key, "where": finding.where}


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
