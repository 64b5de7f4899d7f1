"""Where did the tokens go? Session files looked through: a pure reading, nothing is written."""

from __future__ import annotations

from clew.inspect.file import inspect_file
from clew.inspect.many import cores, expand, inspect_files
from clew.inspect.shape import as_json
from clew.inspect.totals import Totals, totals
from clew.inspect.values import KIND_NAMES, KINDS, Inspection, Options, Outcome, Unreadable

__all__ = [
    "KINDS",
    "KIND_NAMES",
    "Inspection",
    "Options",
    "Outcome",
    "Totals",
    "Unreadable",
    "as_json",
    "cores",
    "expand",
    "inspect_file",
    "inspect_files",
    "totals",
]
