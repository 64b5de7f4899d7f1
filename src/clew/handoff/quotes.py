"""Requests that a model's text puts into the user's mouth: a quote that no source holds is struck out."""

from __future__ import annotations

import re

from clew.handoff import template as t
from clew.handoff.slots import MARK
from clew.handoff.support import Source

_ASKS = (t.TASK, t.PENDING)
_QUOTE = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|「([^」\n]+)」")
_CUT = re.compile(r"…|\.{3}|\[[^\]\n]*\]")  # where a quote leaves something out
_LEAST = 2  # words that make a quote a request; a single one is a name
_LEAD = re.compile(r"^\W*(?:\d+[.)]\s*)?(?:(?:the\s+)?user\s+(?:has\s+)?\w+\s*(?:that|to|for)?\W*)?$", re.IGNORECASE)


def without_inventions(heading: str, text: str, source: Source) -> tuple[str, list[str]]:
    """The section with a mark in place of every quoted request that nobody made, and those quotes. A line that was
    nothing else goes.
    """
    if heading not in _ASKS:
        return text, []
    gone: list[str] = []

    def judged(match: re.Match[str]) -> str:
        said = next(g for g in match.groups() if g)
        if source.said(*_CUT.split(said), least=_LEAST):
            return match[0]
        gone.append(said)
        return MARK

    lines = [_QUOTE.sub(judged, line) for line in text.split("\n")]
    kept = [x for x in lines if MARK not in x or _LEAD.match(x.replace(MARK, "")) is None]
    return "\n".join(kept).strip() if gone else text, gone
