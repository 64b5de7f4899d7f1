"""What a rule hands back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Where a secret stands in the text it was found in."""

    start: int
    end: int
    family: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret, and the mark that stands in its place; marks are numbered within one text."""

    start: int
    end: int
    family: str
    mask: str


# A rule stops here on any one line, so that no input makes it slow.
REACH = 4096
# And a judgement of whether a value looks drawn by a machine needs no more than its beginning.
ENOUGH = 96


def line_start(text: str, position: int, reach: int = 300) -> int:
    """Where the line (or the last `reach` characters of it) begins; a line of text inside a JSON string is one too."""
    low = max(0, position - reach)
    start = max(low, text.rfind("\n", low, position) + 1)
    escaped = text.rfind("\\n", start, position)
    return start if escaped < 0 else escaped + 2
