"""What a model is asked when it writes a handoff: one prompt, or several where the turns exceed its window. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from clew.handoff import closing
from clew.handoff import template as t
from clew.handoff import wording as w
from clew.handoff.language import NAMES, spoken
from clew.handoff.template import Sections
from clew.handoff.turns import clean, handed_on, labelled, packed
from clew.ledger.facts import Ledger
from clew.ledger.foreign import recognise
from clew.ledger.names import spoken as call_text
from clew.ledger.requests import spoken_by_user
from clew.ledger.tools import one_line, unwrap
from clew.transcript import Opaque, Span, Text, ToolCall, ToolResult, Transcript

PREVIOUS_ANSWER = "⟦clew: the previous answer goes here⟧"

_NONE = Sections()
_HEADROOM = 1.3  # of the budget: what the answer may take
_MARGIN = 0.9  # of the window: the summariser may count tokens otherwise than we do
_LEAST_ROOM = 300  # tokens of turns in a piece, however small the window
_BUDGET_SHARE = 0.15  # of a known window: in pieces it holds the record so far, the next one, and turns besides
_FACTS_SHARE = 0.20  # of a known window, for the ledger's facts
_FACTS_MOST = 3_000
_RECENT = 3  # user turns that make the focus where none is given


class Log(Protocol):
    """What a prompt needs of the conversation's log."""

    @property
    def transcript(self) -> Transcript: ...
    def measure(self, text: str) -> int: ...


class Draft(Protocol):
    """What a prompt needs of an epoch thought out."""

    @property
    def span(self) -> Span: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def budget(self) -> int: ...
    @property
    def focus(self) -> str: ...
    @property
    def now(self) -> str: ...


def prompts(log: Log, previous: Sections, draft: Draft, *, window: int = 0) -> tuple[str, ...]:
    """The prompts in order. Each after the first holds `PREVIOUS_ANSWER`, where the answer to the one before it goes.

    `window` is the summariser's, in tokens; 0 where it isn't known, which makes one prompt of everything.
    """
    budget = min(draft.budget, int(window * _BUDGET_SHARE)) if window else draft.budget
    earlier = _earlier(log, previous, draft)
    turns = [text.replace(PREVIOUS_ANSWER, "") for text in labelled(log.transcript, draft.span)]
    facts = _facts(log, draft, int(window * _FACTS_SHARE) if window else _FACTS_MOST)
    if not window:
        return (_prompt(log, draft, budget, earlier, facts, turns),)
    empty = _prompt(log, draft, budget, earlier, facts, (), piece=(1, 2))
    fits = int(window * _MARGIN) - int(budget * _HEADROOM)
    if log.measure(empty) + sum(log.measure(x) + 2 for x in turns) <= fits:
        return (_prompt(log, draft, budget, earlier, facts, turns),)
    answer = max(int(budget * _HEADROOM) - log.measure(earlier), 0)  # a piece's record may be longer than the first one
    groups = packed(turns, max(fits - log.measure(empty) - answer, _LEAST_ROOM), log.measure)
    count = len(groups)
    return tuple(
        _prompt(
            log,
            draft,
            budget,
            PREVIOUS_ANSWER if n else earlier,
            facts if n == count - 1 else "",
            group,
            piece=(n + 1, count),
            after=_last_number(earlier) if not n else -1,
        )
        for n, group in enumerate(groups)
    )


def source_text(log: Log, draft: Draft, previous: Sections = _NONE) -> str:
    """Everything that can support a statement of the record: all originals as they came, the ledger's facts, and the
    previous handoff, which was checked itself.
    """
    earlier = previous.by_heading.values()
    return "\n".join([draft.now, *_originals(log.transcript), *_ledger_lines(draft.ledger), *earlier])


def _prompt(
    log: Log,
    draft: Draft,
    budget: int,
    earlier: str,
    facts: str,
    turns: Sequence[str],
    *,
    piece: tuple[int, int] = (1, 1),
    after: int | None = None,
) -> str:
    number = _last_number(earlier) if after is None else after
    told = [w.PREAMBLE, _language(draft.ledger), w.MARKS]
    if draft.now:
        told.append(w.TIME.format(now=draft.now))
    told.append(w.LENGTH.format(budget=budget))
    if earlier:
        told.append(w.UPDATE.format(after=f" after {number}" if number > 0 else ""))
    told += [x for x in (_focus(log, draft),) if x]
    if piece[1] > 1:
        told.append(w.PIECE.format(n=piece[0], of=piece[1]))
    blocks = ["\n\n".join(told)]
    if earlier:
        blocks.append(f"THE RECORD SO FAR:\n{earlier}")
    if facts:
        blocks.append(f"FACTS FOUND IN THE TURNS BY A PROGRAM (exact, not complete):\n{facts}")
    blocks.append("THE TURNS:\n" + "\n\n".join(turns))
    blocks.append(w.form())
    return "\n\n----\n\n".join(blocks)


def _language(ledger: Ledger) -> str:
    found = spoken(r.text for r in ledger.requests[-8:])
    name = NAMES[next(iter(found))] if len(found) == 1 else ""
    return w.LANGUAGE.format(name=f" ({name})" if name else "")


def _focus(log: Log, draft: Draft) -> str:
    if draft.focus:
        return w.FOCUS.format(focus=one_line(clean(draft.focus), 600))
    recent: list[str] = []
    for i in range(len(log.transcript) - 1, -1, -1):
        message = log.transcript[i]
        if message.is_user_turn and (text := spoken_by_user(message)) and recognise(text) is None:
            recent.append(f"- {one_line(clean(text).replace(PREVIOUS_ANSWER, ''), 240)}")
        if len(recent) == _RECENT:
            break
    return w.RECENTLY.format(focus="\n".join(reversed(recent))) if recent else ""


def _earlier(log: Log, previous: Sections, draft: Draft) -> str:
    """The record so far: the state's, or, after a restart or another tool's compaction, the one found in the turns."""
    found = handed_on(log.transcript, draft.span)
    own = "" if previous.empty else "\n\n".join(f"## {h}\n{previous[h]}" for h in t.SECTIONS if previous[h])
    text = "\n\n".join(x for x in (own, found) if x)
    return clean(text).replace(PREVIOUS_ANSWER, "")


def _last_number(earlier: str) -> int:
    actions = t.parse_body(earlier)[t.ACTIONS]
    return max((int(n) for n in re.findall(r"^\s*(\d{1,6})\.\s", actions, re.MULTILINE)), default=0)


def _facts(log: Log, draft: Draft, room: int) -> str:
    """The ledger's draft, within about `room` tokens. What doesn't fit is checked and put back afterwards anyway."""
    found = closing.sections(draft.ledger, frozenset(), min(draft.budget, room) // 2, log.measure).sections
    lines = [f"{h}:\n{found[h]}" for h in t.SECTIONS if found[h]]
    tests = [
        f"- `{one_line(r.command, 120)}`: {r.passed} passed, {r.failed} failed"
        + (f" ({', '.join(r.failing[:8])})" if r.failing else "")
        for r in draft.ledger.tests[-5:]
    ]
    if tests:
        lines.append("Test runs, oldest first:\n" + "\n".join(tests))
    text = clean("\n\n".join(lines)).replace(PREVIOUS_ANSWER, "")
    return _within(text, room, log.measure)


def _within(text: str, room: int, measure: Callable[[str], int]) -> str:
    while text and (tokens := measure(text)) > room:
        text = text[: min(len(text) - 1, int(len(text) * room / tokens))].rpartition("\n")[0]
    return text


def _originals(log: Transcript) -> Iterable[str]:
    for message in log:
        for part in message.parts:
            if isinstance(part, ToolCall):
                yield call_text(part)
            elif isinstance(part, (Text, ToolResult, Opaque)):
                yield part.text
                if isinstance(part, ToolResult):
                    yield f"{unwrap(part).lines} lines"
                if "\\" in part.text:  # lines and quotes as JSON spells them
                    yield part.text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\/", "/")


def _ledger_lines(ledger: Ledger) -> Iterable[str]:
    at = ledger.workspace
    yield from (x for x in (at.directory, at.branch, at.commit, *at.processes) if x)
    yield from (f.path for f in ledger.files)
    for c in ledger.commands:
        code = f" exit {c.exit_code}" if c.exit_code is not None else ""
        yield f"{c.text}{code} {c.lines} lines {c.outcome}"
    for r in ledger.tests:
        yield f"{r.command} {r.passed} passed {r.failed} failed {r.skipped} skipped {' '.join(r.failing)}"
    yield from (f"{v.name} {v.text}" for v in ledger.values)
