"""`clew doctor`: what is wrong, and what to do."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict

import typer

from clew.connect.reach import reach
from clew.doctor import Finding, Probes, connects, findings, version

_SIGNS = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}


def doctor(as_json: bool = typer.Option(False, "--json", help="JSON on standard output.")) -> None:
    """Look at versions, settings, the port, clients' settings, the store and upstreams. Nothing is changed or sent.

    Exit code: 0, or 1 where a problem was found.
    """
    found = list(findings(os.environ, Probes(reach, connects, shutil.which, version)))
    if as_json:
        typer.echo(json.dumps({"version": 1, "findings": [asdict(f) for f in found]}, indent=2))
    else:
        for finding in found:
            typer.echo(_line(finding))
    if any(f.level == "problem" for f in found):
        raise typer.Exit(1)


def _line(f: Finding) -> str:
    line = f"{_SIGNS[f.level]}  {f.area}: {f.says}"
    return f"{line}\n           → {f.do}" if f.do else line
