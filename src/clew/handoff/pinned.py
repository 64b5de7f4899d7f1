"""Facts of the ledger that a model's text must hold, put back word for word where it dropped them; and, as far as
there is room, what else the ledger knows and the text lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from clew.handoff import closing
from clew.handoff import template as t
from clew.handoff.template import Sections
from clew.ledger.facts import Ledger
from clew.ledger.foreign import BANNER
from clew.redact import redact

_REQUESTS = (t.TASK, t.PENDING, t.PROGRESS, t.REMAINING)
_RULES = (t.CONSTRAINTS, t.TASK, t.PENDING)
_ERRORS = (t.BLOCKED, t.STATE, t.PROGRESS)
_LOOSE = (t.STATE, t.FILES, t.DECISIONS, t.CONTEXT, t.REMAINING)
_QUOTE = 600  # characters of a long request that are quoted where the view shows the whole of it
_CHANGED = re.compile(r": .*\b(?:created|modified|deleted|renamed)\b")  # of a file: said, whatever else names it
_LINE_START = re.compile(r"\n(?=\s{0,3}#)")


def put_back(sections: Sections, ledger: Ledger, shown: frozenset[int]) -> tuple[Sections, int]:
    """The sections with every open request, current constraint and open error in them, and how many were missing.

    `shown` are user messages that the view holds verbatim besides: of a long one only its beginning is quoted.
    """
    bodies = dict(sections.by_heading)
    count = 0
    for n, request in enumerate(reversed(ledger.open_requests)):
        said = _quotable(request.text)
        if _holds(bodies, _REQUESTS, said):
            continue
        short = request.source in shown and len(said) > _QUOTE
        text = f'"{said[:_QUOTE]}…" (in full in the conversation)' if short else f'"{said}"'
        if short and _holds(bodies, _REQUESTS, said[:_QUOTE]):
            continue
        _add(bodies, t.TASK if n == 0 else t.PENDING, f"User asked: {text}" if n == 0 else f"- {text}", first=n == 0)
        count += 1
    for rule in ledger.current_constraints:
        if not _holds(bodies, _RULES, _quotable(rule.text)):
            _add(bodies, t.CONSTRAINTS, f"- {_quotable(rule.text)}")
            count += 1
    for error in ledger.open_errors:
        if not _holds(bodies, _ERRORS, _quotable(error.text)):
            _add(bodies, t.BLOCKED, f"- {_quotable(error.text)}")
            count += 1
    return Sections(bodies, sections.preamble), count


def fill(sections: Sections, ledger: Ledger, room: int, measure: Callable[[str], int]) -> tuple[Sections, int]:
    """The sections with the ledger's files, state, decisions and values that they lack, within `room` tokens."""
    if room <= 0:
        return sections, 0
    found = closing.sections(ledger, frozenset(), room, measure).sections
    bodies = dict(sections.by_heading)
    whole = "\n".join(bodies.values())
    count = 0
    for heading in _LOOSE:
        for line in found[heading].split("\n"):
            key = line.removeprefix("- ").split(": ")[0] if heading == t.FILES else line.removeprefix("- ")
            where = bodies.get(heading, "") if _CHANGED.search(line) and heading == t.FILES else whole
            if not key or key in where or line.startswith("- ("):
                continue
            cost = measure(line) + 1
            if cost > room:
                break
            room -= cost
            _add(bodies, heading, _quotable(line))
            count += 1
    return Sections(bodies, sections.preamble), count


def _quotable(text: str) -> str:
    """Redacted by itself, so that its marks don't depend on its neighbours; a line of it never opens a section."""
    text = redact(text, force=True).replace(BANNER, "").replace(t.END_MARKER, "").strip()
    return _LINE_START.sub("\n    ", text)


def _holds(bodies: Mapping[str, str], where: tuple[str, ...], fact: str) -> bool:
    flat = " ".join(fact.split())
    return any(flat in " ".join(bodies.get(h, "").split()) for h in where)


def _add(bodies: dict[str, str], heading: str, line: str, *, first: bool = False) -> None:
    held = bodies.get(heading, "")
    bodies[heading] = "\n".join(x for x in ((line, held) if first else (held, line)) if x)
