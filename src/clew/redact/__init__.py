"""Secrets out, before anything is summarised, stored in a summary, or logged.

Patterns are compiled at the first use, not at import. With the extra `redact-fast` one automaton finds where to look;
without it plain Python does, with the same results.
"""

from __future__ import annotations

from clew.redact.engine import apply, default, findings
from clew.redact.families import FAMILIES
from clew.redact.found import Finding
from clew.redact.marks import Marks
from clew.redact.stream import Redactor

__all__ = ["FAMILIES", "Finding", "Redactor", "engine_name", "find", "redact"]


def redact(text: str, *, force: bool = False, code_file: bool = False, enabled: bool = True) -> str:
    """The text with marks where its secrets were; the same text again changes nothing more.

    `enabled` is the user's preference for logs. `force` ignores it: what leaves for a model or a store is never left to
    a preference. `code_file` leaves out the passes that are noisy in source code (assignments, fields, flags).
    """
    if not (enabled or force):
        return text
    return apply(text, find(text, code_file=code_file))


def find(text: str, *, code_file: bool = False) -> list[Finding]:
    """The secrets in a text in order of appearance, with the mark each would get."""
    return findings(text, default(), Marks(), code_file=code_file)


def engine_name() -> str:
    """`hyperscan` or `stdlib`: which engine looks."""
    return default().name
