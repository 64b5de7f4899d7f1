"""The shortest handoff: what the user said that still holds, and what the ledger must keep, within a room that is given.

Used where thirteen sections and a record would take more than there is. What is worth most for its length comes first;
what stands in it stands in the order it was said, label by label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from clew.ledger.cues import binding
from clew.ledger.facts import Ledger
from clew.ledger.foreign import SHORT_BANNER
from clew.ledger.names import names_in
from clew.ledger.sentences import sentences
from clew.ledger.stated import Statement, current, read
from clew.ledger.tools import one_line
from clew.redact import redact

_WHOLE = 240  # characters of a message that is one statement; a longer one is taken apart
_WORTH = {"constraint": 3.0, "preference": 2.0, "labelled": 3.0, "change": 4.0, "value": 1.5, "plain": 0.4}
_LEAD_IN = re.compile(r"^(?:quick )?(?:update|note|reminder|fyi|btw)[:,]\s+", re.IGNORECASE)
_FILE, _COMMAND, _BINDS, _MUST = 1.2, 1.0, 3.0, 9.0


@dataclass(frozen=True, slots=True)
class Brief:
    """The text, the user messages it holds something of, and how many statements had no room."""

    text: str
    sources: frozenset[int]
    left: int


@dataclass(frozen=True, slots=True)
class _Line:
    at: int
    text: str
    label: str
    worth: float


def brief(
    said: Sequence[tuple[int, str]], ledger: Ledger, room: int, measure: Callable[[str], int], *, note: str = ""
) -> Brief:
    """The handoff in at most `room`, as `measure` counts. `said` are the users' messages with their places; `note` stands
    after the banner. Where not even what must be kept has room, the shortest of it comes first, so that as many as can
    stand there do.
    """
    stated = current(s for at, text in said for s in _statements(at, text))
    must = _pinned(ledger, stated)
    may = [x for x in _lines(stated, ledger) if not any(x.text == m.text for m in must)]
    lead = f"{SHORT_BANNER} {note}".strip()
    held: list[_Line] = []
    for line in sorted([*must, *may], key=lambda x: (-x.worth / (measure(x.text) + 2), -x.at)):
        for form in _forms(line):
            if measure(_text(lead, [*held, form])) <= room:
                held.append(form)
                break
    text = redact(_text(lead, held), force=True)
    return Brief(text, frozenset(x.at for x in held if x.at >= 0), len(must) + len(may) - len(held))


def _forms(line: _Line) -> Iterable[_Line]:
    """The line, and what of it binds, for where there is no room for the whole."""
    yield line
    if line.worth >= _BINDS:
        yield from (replace(line, text=x) for x in sentences(line.text) if binding(x))


def _pinned(ledger: Ledger, stated: Sequence[Statement]) -> list[_Line]:
    """What must be kept. A constraint stands in the statement it is part of; where a later statement took that one's
    place, it doesn't stand any more.
    """
    pinned = [_Line(r.source, r.text, "Asked", _MUST) for r in ledger.open_requests]
    pinned += [_Line(-1, e.text, "Open error", _MUST) for e in ledger.open_errors]
    for c in ledger.current_constraints:
        whole = next((s for s in stated if s.source == c.source and c.text in s.text), None)
        if whole is not None:
            pinned.append(_Line(c.source, whole.body, whole.label, max(_WORTH[c.kind], _WORTH[_sort(whole)])))
    return list(dict.fromkeys(pinned))


def _lines(stated: Sequence[Statement], ledger: Ledger) -> list[_Line]:
    out = [_Line(s.source, s.body, s.label, _WORTH[_sort(s)]) for s in stated]
    out += [_Line(f.source, f"changed {f.path}", "", _FILE) for f in ledger.files if f.changed]
    for c in ledger.commands[-3:]:
        out.append(_Line(c.source, f"`{one_line(c.text, 80)}` — {one_line(c.outcome, 80)}", "", _COMMAND))
    return out


def _statements(at: int, text: str) -> Iterable[Statement]:
    if len(text) <= _WHOLE and "\n" not in text.strip():
        yield read(at, _LEAD_IN.sub("", text.strip()))
        return
    for sentence in sentences(text):
        yield read(at, sentence)


def _sort(s: Statement) -> str:
    if s.changes:  # what it took the place of is gone, and the user thought it worth saying again
        return "change"
    if s.label:
        return "labelled"
    return binding(s.body) or ("value" if s.sorts or names_in(s.body) else "plain")


def _text(lead: str, lines: Iterable[_Line]) -> str:
    """In the order they were said; lines of one label share it, those without one come before them."""
    by_label: dict[str, list[_Line]] = {"": []}
    for line in sorted(lines, key=lambda x: x.at):
        by_label.setdefault(line.label, []).append(line)
    blocks = [lead]
    for label, group in by_label.items():
        if label:
            blocks.append(f"{label}:")
        blocks += [x.text for x in group]
    return "\n".join(blocks)
