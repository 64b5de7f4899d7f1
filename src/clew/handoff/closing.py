"""The part of a handoff that says how things stand: every section but the record of actions, drawn from the ledger.

It is written anew at each epoch, so it is short; what was done and seen stands in the record's pages before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clew.handoff import template as t
from clew.handoff.filelist import also_changed
from clew.handoff.focus import NO_FOCUS, Focus
from clew.ledger.facts import Constraint, Decision, FileFact, Ledger, Request, Value
from clew.ledger.tools import one_line
from clew.redact import redact
from clew.transcript import reference, text_address

_QUOTE = 600  # characters of a request quoted where it stands verbatim elsewhere in the view
_NAMED = 120  # characters of a request that there is no room for
_LISTED = 6  # open requests that are listed whatever they cost
_LONG = 4_000  # characters of a request that is quoted whole where it stands nowhere else
_DECIDED = 240  # characters of a decision
_TRIED = 24  # lines of a section that are measured
_ALSO = 0.3  # of the budget, for the names of changed files that have no line of their own
_POINTS_BACK = re.compile(r"(?:\w+ )?(?:it|this|that|they|them|these|those)\b", re.IGNORECASE)
_SPEAKS = frozenset({"", "url", "path"})  # kinds whose values say themselves what they are


@dataclass(frozen=True, slots=True)
class Closing:
    """The sections, and the facts they only name the number of: one reference stands for that page."""

    sections: t.Sections
    page: str = ""
    numbered: tuple[str, ...] = ()  # open requests that only their number stands for


def sections(
    ledger: Ledger,
    shown: frozenset[int],
    budget: int,
    measure: Callable[[str], int],
    *,
    recall: bool = False,
    focus: Focus = NO_FOCUS,
    record: str = "",
) -> Closing:
    """The closing's sections from the ledger, within about `budget` tokens: what must be kept is kept whatever it
    costs; files, decisions, values and answers share what is left, those of a given focus first. `shown` are the user
    messages that the view holds verbatim besides, `record` the pages that stand before.
    """
    pending, numbered = _pending(ledger, shown, 2 * budget, measure)
    must = {
        t.TASK: _task(ledger, shown),
        t.CONSTRAINTS: _lines(c.text for c in _binding(ledger, shown)),
        t.BLOCKED: _lines(e.text for e in ledger.open_errors),
        t.PENDING: pending,
        t.STATE: _state(ledger),
        t.REMAINING: _lines(x.text for x in ledger.tasks if not x.done),
        t.GOAL: _goal(ledger),
        t.PROGRESS: _progress(ledger),
    }
    left = max(budget - sum(measure(v) for v in must.values()), budget // 3)
    may: dict[str, list[str]] = {}
    over: dict[str, list[str]] = {}
    above: dict[str, int] = {}
    for heading, share, lines in _optional(ledger, shown):  # by line: the words of the fact itself
        ordered = focus.first(list(lines))
        may[heading], used = _fitting(ordered, int(left * share), measure)
        if heading == t.FILES:
            changed = {f.path for f in ledger.files if f.changed}
            rest = [path for line, path in lines.items() if path in changed and line not in may[heading]]
            grouped, named = also_changed(rest, int(budget * _ALSO), measure)
            ordered = [x for x in ordered if lines[x] not in named]
            may[heading] += grouped
        over[heading] = [x for x in ordered if x not in may[heading]]
        above[heading] = sum(lines[x] in record for x in over[heading])
        left -= used
    page = "\n\n".join(f"## {h}\n{_lines(lines)}" for h, lines in over.items() if lines)
    more = f", {reference(text_address(redact(page, force=True)))}" if page and recall else ""
    texts = {h: _lines([*lines, *_left_out(len(over[h]), above[h], more, first=not lines)]) for h, lines in may.items()}
    done = t.Sections({h: text for h, text in (must | texts).items() if text})
    return Closing(done, redact(page, force=True) if more else "", numbered)


def _optional(ledger: Ledger, shown: frozenset[int]) -> Iterable[tuple[str, float, dict[str, str]]]:
    """Sections that hold as much as there is room for: heading, share of the room, and each line with the words of its fact."""
    yield t.FILES, 0.4, {_file(f): f.path for f in _ranked(ledger.files)}
    yield t.DECISIONS, 0.3, {one_line(_why(d), _DECIDED): d.text for d in reversed(ledger.decisions)}
    gone = _replaced(ledger)
    yield t.CONTEXT, 0.2, {_named(v): v.text for v in reversed(ledger.values) if not gone(v)}
    answered = [r for r in reversed(ledger.requests) if r.status != "open"]
    yield t.RESOLVED, 0.3, {_answered(r, shown): r.text for r in answered}


def _replaced(ledger: Ledger) -> Callable[[Value], bool]:
    """Whether a value was set by a rule that doesn't hold any more."""
    old: dict[int, list[str]] = {}
    now: dict[int, list[str]] = {}
    for c in ledger.constraints:
        (now if c.current else old).setdefault(c.source, []).append(c.text)

    def replaced(v: Value) -> bool:
        whole = re.compile(rf"(?<![\w.]){re.escape(v.text)}(?!\w|\.\d)")
        held = [any(whole.search(x) for x in rules.get(v.source, ())) for rules in (old, now)]
        return held == [True, False]

    return replaced


def _left_out(count: int, above: int, more: str, *, first: bool) -> list[str]:
    """What became of the lines there was no room for."""
    if not count:
        return []
    told = f"{count}" if first else f"{count} more"
    if above == count:
        return [f"({told} in the record above{more})"]
    where = f", {above} of them in the record above" if above else ""
    return [f"({told} not listed{where}{more})"]


def _why(d: Decision) -> str:
    return d.text + (f" — {d.reason}" if d.reason and d.reason not in d.text else "")


def _task(ledger: Ledger, shown: frozenset[int]) -> str:
    if not ledger.open_requests:
        return ""
    newest = ledger.open_requests[-1]
    return f"User asked: {_quoted(newest, shown)}{_held(newest, ledger)}"


def _pending(
    ledger: Ledger, shown: frozenset[int], room: int, measure: Callable[[str], int]
) -> tuple[str, tuple[str, ...]]:
    """The other open requests: the newest verbatim as far as the room goes, some more by their first words, the rest by
    their number. With it the texts of those.
    """
    lines: list[str] = []
    newest = list(reversed(ledger.open_requests[:-1]))
    for n, r in enumerate(newest):
        line = _quoted(r, shown) + _held(r, ledger)
        cost = measure(line)
        if cost > room and len(r.text) > _NAMED:
            line = f'"{one_line(r.text, _NAMED)}" ({len(r.text):,} characters)'
            cost = measure(line)
        if n >= _LISTED and cost > room:
            rest = tuple(r.text for r in newest[n:])
            return _lines([f"({len(rest)} older requests are not listed here)", *reversed(lines)]), rest
        room -= cost
        lines.append(line)
    return _lines(reversed(lines)), ()


def _binding(ledger: Ledger, shown: frozenset[int]) -> list[Constraint]:
    """What binds, without what can only be understood where it was said, is shown there word for word, and was asked for
    in a request that has been answered.
    """
    answered = {r.source for r in ledger.requests if r.status == "answered"} & shown
    return [c for c in ledger.current_constraints if not (c.source in answered and _POINTS_BACK.match(c.text))]


def _quoted(request: Request, shown: frozenset[int]) -> str:
    """Verbatim; its beginning where the view shows the whole of it elsewhere, or where it is very long."""
    if request.source in shown and len(request.text) > _QUOTE:
        return f'"{request.text[:_QUOTE]}…" (in full elsewhere in this view)'
    if len(request.text) > _LONG:
        return f'"{request.text[:_LONG]}…" ({len(request.text) - _LONG:,} more characters)'
    return f'"{request.text}"'


def _goal(ledger: Ledger) -> str:
    """What was asked first, without what no longer holds of it."""
    if not ledger.requests:
        return ""
    first = ledger.requests[0]
    text = first.text
    for old in _outdated(first, ledger):
        text = text.replace(old, "")
    return one_line(text, 200)


def _outdated(request: Request, ledger: Ledger) -> list[str]:
    """Rules of a request that others have replaced or ended since."""
    now = " ".join(c.text for c in ledger.current_constraints)
    old = [c.text for c in ledger.constraints if c.source == request.source and not c.current]
    return [x for x in old if x in request.text and x != request.text and x not in now]


def _held(request: Request, ledger: Ledger) -> str:
    """What is said behind a quote some of which no longer holds."""
    old = _outdated(request, ledger)
    return f" (no longer holds: {'; '.join(one_line(x, _DECIDED) for x in old)})" if old else ""


def _state(ledger: Ledger) -> str:
    w = ledger.workspace
    lines = []
    if w.directory or w.branch or w.commit:
        where = [f"directory {w.directory}" if w.directory else "", f"branch {w.branch}" if w.branch else ""]
        lines.append(", ".join(x for x in (*where, f"commit {w.commit}" if w.commit else "") if x))
    if ledger.tests:
        run = ledger.tests[-1]
        failing = f": {', '.join(run.failing[:8])}" if run.failing else ""
        state = "" if run.ok or run.failed else ", but the run failed"
        lines.append(f"tests: {run.passed} passed, {run.failed} failed{state} (`{one_line(run.command, 80)}`){failing}")
    lines += [f"running: {p}" for p in w.processes]
    changed = [f.path for f in ledger.files if f.changed]
    if changed:
        lines.append(f"{len(changed)} file{'s' if len(changed) != 1 else ''} changed so far")
    return _lines(lines)


def _progress(ledger: Ledger) -> str:
    last = ledger.commands[-1] if ledger.commands else None
    return f"last command: `{one_line(last.text, 120)}` — {one_line(last.outcome, 120)}" if last is not None else ""


def _ranked(files: Sequence[FileFact]) -> list[FileFact]:
    """Changed files first, then the most visited; the newest first among equals."""
    return sorted(files, key=lambda f: (f.changed, len(f.actions), f.source), reverse=True)


def _file(fact: FileFact) -> str:
    counts: dict[str, int] = {}
    for a in fact.actions:
        counts[a.verb] = counts.get(a.verb, 0) + 1
    what = ", ".join(f"{verb} {n}×" if n > 1 else verb for verb, n in counts.items())
    last = next((a.lines for a in reversed(fact.actions) if a.lines[1]), (0, 0))
    return f"{fact.path}: {what}" + (f", last l. {last[0]}-{last[1]}" if last[1] else "")


def _answered(request: Request, shown: frozenset[int]) -> str:
    asked = one_line(request.text, 120 if request.source in shown else 240)
    if request.status == "withdrawn":
        return f'"{asked}" — withdrawn'
    return f'"{asked}" — {one_line(request.answer, 160)}' if request.answer else f'"{asked}" — answered'


def _named(v: Value) -> str:
    name = v.name or ("" if v.kind in _SPEAKS else v.kind)
    return f"{name}: {v.text}" if name and name not in v.text else v.text


def _lines(items: Iterable[str]) -> str:
    return "\n".join(f"- {x}" for x in items if x)


def _fitting(lines: Sequence[str], room: int, measure: Callable[[str], int]) -> tuple[list[str], int]:
    """The lines that fit, the first ones first, and what they cost. One that is too long stands in no other's way."""
    out: list[str] = []
    used = 0
    for line in lines[:_TRIED]:
        cost = measure(line) + 2
        if used + cost > room:
            continue
        out.append(line)
        used += cost
    return out, used
