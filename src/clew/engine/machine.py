"""The state machine: one table of phases and events. `step(state, event) -> (state, effects)`; drivers do the effects.

An unlisted pair is a driver's bug and raises. Starting over is making a new `State`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from clew.engine import failures
from clew.engine.events import (
    Appended,
    Asked,
    CallModel,
    Cancelled,
    Closing,
    Commit,
    CommitRefused,
    Committed,
    CompactRequested,
    Effect,
    Event,
    Log,
    Refused,
    Reported,
    Say,
    SummaryArrived,
    SummaryFailed,
    Undone,
)
from clew.engine.plan import LEVELS, draft, finish, known, spoken
from clew.engine.pressure import estimate, judge, reason, rent
from clew.engine.values import EMPTY_BASE, Draft, Epoch, Phase, Prepared, Refusal, State, Trouble, Urgency, Written
from clew.errors import ProtocolBug
from clew.handoff import check, prompt
from clew.handoff.receipt import Receipt
from clew.handoff.record import Record
from clew.handoff.template import Sections

Step: TypeAlias = tuple[State, tuple[Effect, ...]]
Handler: TypeAlias = Callable[[State, Any], Step]

_REFUSED_SIZE = 0.8  # of a view that the provider refused as too long: what the next one may take at most


def step(state: State, event: Event) -> Step:
    """The next state and what is to be done. Raises ProtocolBug for a pair the table doesn't list."""
    handler = TRANSITIONS.get((state.phase, type(event)))
    if handler is None:
        raise ProtocolBug(f"{type(event).__name__} can't come while {state.phase.value}")
    return handler(state, event)


# --- the log grows, the provider reports ---------------------------------------------------------------------------


def _append(state: State, event: Appended) -> Step:
    recent = (*state.recent[-state.limits.least_tail :], event.tokens)  # the floor, and what a whole group adds
    return replace(state, length=state.length + 1, tail_tokens=state.tail_tokens + event.tokens, recent=recent), ()


def _report(state: State, event: Reported) -> Step:
    return replace(state, reported=event.prompt_tokens, reported_view=event.counted, last_request=event.now), ()


# --- a view is asked for -------------------------------------------------------------------------------------------


def _asked(state: State, event: Asked) -> Step:
    state = rent(state)
    urgency = judge(state, event.now)
    state = replace(state, last_request=event.now)
    if urgency is None:
        return _ahead(state, event)
    if urgency.may_wait and (state.refused_at == state.length or failures.holds_back(state, event.now)):
        return state, ()
    ready = _ready(state, event.log, urgency)
    if ready is not None:
        return _committing(replace(state, prepared=None), ready)
    if urgency.may_wait and _may_ask_model(state, event.now):
        return _ask_model(state, event.log, urgency, event.date, background=False)
    return _now(state, event.log, urgency, date=event.date)


def _asked_while_summarising(state: State, event: Asked) -> Step:
    """The old view stands until the summary is there, unless it can't be sent: then the ledger writes the handoff."""
    if judge(state, event.now) is not Urgency.MUST_FIT:
        return replace(rent(state), last_request=event.now), ()
    return _now(replace(state, phase=Phase.IDLE, pending=None), event.log, Urgency.MUST_FIT, date=event.date)


def _requested(state: State, event: CompactRequested) -> Step:
    if event.must_fit:
        most = min(_fits(state), int(_REFUSED_SIZE * state.view_tokens))
        return _now(state, event.log, Urgency.MUST_FIT, date=event.date, focus=event.focus, most=most)
    if not event.force:
        if not state.limits.enabled:
            return _refuse(state, Refusal("compression is switched off (compression.enabled: false)", "off"))
        if failures.holds_back(state, event.now):
            return _refuse(state, failures.paused(state))
    if state.limits.model and (event.force or _may_ask_model(state, event.now)):
        return _ask_model(state, event.log, Urgency.MANUAL, event.date, background=False, focus=event.focus)
    return _now(state, event.log, Urgency.MANUAL, date=event.date, focus=event.focus)


def _busy(state: State, event: CompactRequested) -> Step:
    """Nobody waits for a handoff that is prepared ahead, so it gives way; so does everything where the view must fit."""
    if event.must_fit or _pending(state).background:
        return _requested(replace(state, phase=Phase.IDLE, pending=None), event)
    return _refuse(state, Refusal("a compaction is already under way", "busy", "wait for it or cancel it"))


# --- with a model --------------------------------------------------------------------------------------------------


def _may_ask_model(state: State, now: float) -> bool:
    return state.limits.model and now >= state.trouble.until


def _ask_model(state: State, log: Log, urgency: Urgency, date: str, *, background: bool, focus: str = "") -> Step:
    thought = draft(log, state, urgency, level=state.level, focus=focus, date=date)
    if isinstance(thought, Refusal):
        return _refuse(state, thought)
    pieces = prompt.prompts(log, known(log, state), thought, window=state.limits.summary_window)
    return _calling(state, replace(thought, prompts=pieces, background=background))


def _calling(state: State, thought: Draft) -> Step:
    thought = replace(thought, ticket=state.calls + 1)
    most = int(thought.budget * state.limits.length.headroom)
    call = CallModel(thought.prompts, most, thought.attempt, thought.background, thought.ticket)
    return replace(state, phase=Phase.SUMMARISING, pending=thought, calls=thought.ticket), (call,)


def _ahead(state: State, event: Asked) -> Step:
    """Nothing is due. Near the threshold a model may write the handoff ahead, while the agent goes on."""
    share = state.limits.prepare_ahead
    if (
        not share
        or not state.limits.enabled
        or state.prepared is not None
        or state.refused_at == state.length
        or not _may_ask_model(state, event.now)
        or estimate(state) < share * state.limits.soft
    ):
        return state, ()
    after, effects = _ask_model(state, event.log, Urgency.THRESHOLD, event.date, background=True)
    if after.phase is Phase.SUMMARISING:
        return after, effects
    return replace(state, refused_at=after.refused_at), ()  # too little to compact yet: nobody asked, nobody is told


def _ready(state: State, log: Log, urgency: Urgency) -> Epoch | None:
    """The epoch of the handoff that was prepared ahead, where its prefix stands and it still does what is needed."""
    made = state.prepared
    if made is None or made.draft.number != state.number + 1:
        return None
    epoch = finish(log, state, replace(made.draft, urgency=urgency), made.written)
    if isinstance(epoch, Refusal) or epoch.receipt.saving < state.limits.min_saving:
        return None
    if urgency is Urgency.MUST_FIT and epoch.receipt.after > _fits(state):
        return None
    return replace(epoch, receipt=_checked(epoch.receipt, made.verdict))


def _arrived(state: State, event: SummaryArrived) -> Step:
    """A reply is checked against the ledger; one that fails the check is a failure with its own class."""
    thought = _pending(state)
    if event.ticket not in (0, thought.ticket):
        return _late(state, event)
    verdict = check.check(
        event.text, thought.ledger, prompt.source_text(event.log, thought), thought.budget, event.finish
    )
    if isinstance(verdict, check.Failure):
        failed = SummaryFailed(event.log, verdict.kind, verdict.reason, event.now)
        return _failed(state, failed)
    record, said = spoken(event.log, state, thought)
    written = Written((check.text(verdict.sections, state.limits.recall, said),), record, verdict.sections, "model")
    marks = Receipt(
        0,
        0,
        (),
        verdict.put_back,
        verdict.struck,
        verdict.flagged,
        verdict.redacted,
        corrected=verdict.corrected,
        summary_input=event.read,
        summary_output=event.wrote,
    )
    aux_failed = "" if thought.attempt == "aux" else state.trouble.aux_failed
    cleared = replace(state, trouble=Trouble(aux_failed=aux_failed, dropped=state.trouble.dropped))
    if thought.background:
        return replace(cleared, phase=Phase.IDLE, pending=None, prepared=Prepared(thought, written, marks)), ()
    made = finish(event.log, state, thought, written)
    if isinstance(made, Refusal):
        kind = "lost" if made.kind == "lost" else "longer"
        return _failed(state, SummaryFailed(event.log, kind, made.reason, event.now))
    return _committing(cleared, replace(made, receipt=_checked(made.receipt, marks)))


def _checked(paper: Receipt, marks: Receipt) -> Receipt:
    """A receipt with what the check did to the model's text."""
    return replace(
        paper,
        put_back=marks.put_back,
        struck=marks.struck,
        flagged=marks.flagged,
        redacted=marks.redacted,
        corrected=marks.corrected,
        summary_input=marks.summary_input,
        summary_output=marks.summary_output,
    )


def _failed(state: State, event: SummaryFailed) -> Step:
    """The chain: the main model after the auxiliary one, then the ledger, then a pause; or nothing at all is changed."""
    thought = _pending(state)
    if event.ticket not in (0, thought.ticket):
        return _late(state, event)
    after = failures.decide(state, thought, event)
    state = replace(state, trouble=after.trouble)
    if after.retry_on_main:
        return _calling(state, replace(thought, attempt="main"))
    state = replace(state, phase=Phase.IDLE, pending=None)
    if thought.background:
        return state, (Say(after.sentence, "warning"),)
    if after.abort:
        refusal = Refusal(after.sentence, "failed", after.advice)
        state, effects = _refuse(state, refusal)
        return state, (*effects, Say(f"{after.sentence}; {after.advice}", "warning"))
    state, effects = _now(state, event.log, thought.urgency, date=thought.now, focus=thought.focus)
    return state, (Say(after.sentence, "warning"), *effects)


def _cancelled(state: State, event: Cancelled) -> Step:
    if event.ticket not in (0, _pending(state).ticket):
        return _late(state, event)
    said = "the summary was cancelled; nothing changed"
    return replace(state, phase=Phase.IDLE, pending=None, said=said), (Refused(Refusal(said, "busy")), Say(said))


def _late(state: State, _: SummaryArrived | SummaryFailed | Cancelled) -> Step:
    """The answer to a call that was given up."""
    return state, ()


# --- without one ---------------------------------------------------------------------------------------------------


def _now(state: State, log: Log, urgency: Urgency, *, date: str, focus: str = "", most: int = 0) -> Step:
    """An epoch from the ledger, tightened level by level while it has to fit (`most` tokens) and doesn't."""
    most = most or _fits(state)
    last: Refusal | None = None
    best: Epoch | None = None
    for level in range(state.level, LEVELS):
        thought = draft(log, state, urgency, level=level, focus=focus, date=date)
        made = finish(log, state, thought, most=most) if isinstance(thought, Draft) else thought
        if isinstance(made, Refusal):
            last = made
        elif best is None or made.receipt.after < best.receipt.after:
            best = made
        if best is not None and best.receipt.after <= most:
            break
        if urgency is not Urgency.MUST_FIT:
            break
    if best is not None:
        return _committing(state, best)
    assert last is not None
    return _refuse(state, last)


def _fits(state: State) -> int:
    """Tokens by our count that the provider's window takes: its own count may differ."""
    ratio = state.view_tokens and estimate(state) / state.view_tokens
    return int(state.limits.hard / max(ratio, 0.5)) if ratio else state.limits.hard


def _refuse(state: State, refusal: Refusal) -> Step:
    said = refusal.reason + (f"; {refusal.advice}" if refusal.advice else "")
    return replace(state, refused_at=state.length, said=said), (Refused(refusal),)


# --- commit --------------------------------------------------------------------------------------------------------


def _committing(state: State, epoch: Epoch) -> Step:
    epoch = replace(epoch, receipt=replace(epoch.receipt, why=reason(state, epoch.urgency)))
    return replace(state, phase=Phase.COMMITTING, epoch=epoch, pending=None), (Commit(epoch),)


def _committed(state: State, _: Committed) -> Step:
    """The new base stands. A strike is judged by what the view really lost."""
    epoch = state.epoch
    assert epoch is not None
    paper = epoch.receipt
    strikes = state.strikes + 1 if paper.saving < state.limits.min_saving else 0
    struck = strikes >= state.limits.strikes
    level = min(state.level + 1, LEVELS - 1) if struck else (state.level if strikes else 0)
    said = f"epoch {epoch.number}: {paper.lines()[0]}, handoff by the {epoch.written_by}"
    if epoch.written_by == "ledger" and state.trouble.fallback:
        said += f"; {failures.instead(state)}"
    effects: tuple[Effect, ...] = ()
    if struck:
        why = failures.thrash(epoch)
        said += f"; {why}"
        effects = (Say(why, "warning"),)
    applied = apply(state, epoch)
    return replace(applied, strikes=strikes, level=level, said=said), effects


def apply(state: State, epoch: Epoch) -> State:
    """The state with an epoch's base in place: also how a stored epoch is put back after a restart."""
    dropped = state.trouble.dropped + (len(epoch.span) if state.trouble.fallback else 0)
    return replace(
        state,
        phase=Phase.IDLE,
        epoch=None,
        base=epoch.base,
        tail_tokens=epoch.receipt.after - epoch.base.tokens,
        number=epoch.number,
        previous=epoch.sections,
        record=epoch.record,
        rent=0.0,
        reported=0,
        reported_view=0,
        after_epoch=epoch.receipt.after,
        refused_at=-1,
        prepared=None,
        trouble=replace(state.trouble, dropped=dropped),
    )


def _commit_refused(state: State, event: CommitRefused) -> Step:
    refusal = Refusal(event.reason, "busy", "another process compacted this conversation first")
    state, effects = _refuse(replace(state, phase=Phase.IDLE, epoch=None), refusal)
    return state, effects


def _undone(state: State, event: Undone) -> Step:
    """Back to what stood before the last epoch."""
    total = sum(event.log.size(i) for i in range(len(event.log.transcript))) - event.saved
    fresh = replace(
        state,
        base=EMPTY_BASE,
        tail_tokens=total,
        number=0,
        previous=Sections(),
        record=Record(),
        rent=0.0,
        reported=0,
        reported_view=0,
        after_epoch=0,
        refused_at=state.length,
        prepared=None,
    )
    if event.previous is None:
        return replace(fresh, said="undone: the view is the whole transcript again"), ()
    back = apply(fresh, event.previous)
    grown = sum(event.log.size(i) for i in range(event.previous.at, len(event.log.transcript))) - event.saved
    said = f"undone: epoch {event.previous.number} stands again"
    return replace(back, tail_tokens=back.tail_tokens + grown, refused_at=state.length, said=said), ()


def _close(state: State, _: Closing) -> Step:
    return replace(state, phase=Phase.CLOSED, pending=None, epoch=None), ()


def _stay(state: State, _: Event) -> Step:
    return state, ()


def _pending(state: State) -> Draft:
    assert state.pending is not None
    return state.pending


_OPEN = (Phase.IDLE, Phase.SUMMARISING, Phase.COMMITTING)
_RUNNING = _OPEN  # where a compaction may lead: refused, with a model, without one
_CALLLESS = (Phase.IDLE, Phase.COMMITTING, Phase.CLOSED)  # no summary call is under way: an answer is a late one
_STAYS: tuple[Phase, ...] = ()

# Event, in which phases, what does it, and where that may lead.
_ROWS: tuple[tuple[type, tuple[Phase, ...], Handler, tuple[Phase, ...]], ...] = (
    (Appended, _OPEN, _append, _STAYS),
    (Reported, _OPEN, _report, _STAYS),
    (Asked, (Phase.IDLE,), _asked, _RUNNING),
    (Asked, (Phase.SUMMARISING,), _asked_while_summarising, _RUNNING),
    (Asked, (Phase.COMMITTING,), _stay, _STAYS),
    (CompactRequested, (Phase.IDLE,), _requested, _RUNNING),
    (CompactRequested, (Phase.SUMMARISING,), _busy, _RUNNING),
    (CompactRequested, (Phase.COMMITTING,), _stay, _STAYS),
    (SummaryArrived, (Phase.SUMMARISING,), _arrived, _RUNNING),
    (SummaryArrived, _CALLLESS, _late, _STAYS),
    (SummaryFailed, (Phase.SUMMARISING,), _failed, _RUNNING),
    (SummaryFailed, _CALLLESS, _late, _STAYS),
    (Cancelled, (Phase.SUMMARISING,), _cancelled, (Phase.SUMMARISING, Phase.IDLE)),
    (Cancelled, _CALLLESS, _late, _STAYS),
    (Committed, (Phase.COMMITTING,), _committed, (Phase.IDLE,)),
    (CommitRefused, (Phase.COMMITTING,), _commit_refused, (Phase.IDLE,)),
    (Undone, (Phase.IDLE,), _undone, _STAYS),
    (Closing, _OPEN, _close, (Phase.CLOSED,)),
    (Closing, (Phase.CLOSED,), _stay, _STAYS),
)
TRANSITIONS: dict[tuple[Phase, type], Handler] = {
    (phase, event): handler for event, phases, handler, _ in _ROWS for phase in phases
}
LEADS_TO: dict[tuple[Phase, type], tuple[Phase, ...]] = {
    (phase, event): leads or (phase,) for event, phases, _, leads in _ROWS for phase in phases
}
