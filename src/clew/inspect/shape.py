"""The JSON of inspections. Its shape is a promise: keys are added, never renamed or removed, within a version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from clew.inspect.totals import Totals, totals
from clew.inspect.values import KINDS, Inspection, Outcome, Unreadable

VERSION = 1


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Everything found, with totals and what could not be read."""
    return {
        "version": VERSION,
        "files": [_file(o) for o in outcomes if isinstance(o, Inspection)],
        "unreadable": [asdict(o) for o in outcomes if isinstance(o, Unreadable)],
        "totals": _totals(totals(outcomes)),
    }


def _file(i: Inspection) -> dict[str, Any]:
    out = asdict(i)
    out["growth"] = {
        "kinds": list(KINDS),
        "points": [{"request": p.request, "prompt": p.prompt, "parts": list(p.parts)} for p in i.growth],
    }
    out["problem_counts"] = dict(i.problem_counts)
    return out


def _totals(found: Totals) -> dict[str, Any]:
    return asdict(found)
