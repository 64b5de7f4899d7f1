"""An epoch thought out (`draft`) and made (`finish`): boundaries, record, closing, check, assembly, receipt. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from clew import strategies
from clew.assemble import Assembled, assemble, words
from clew.boundaries import choose, head_end, last_user_turn
from clew.engine.events import Log
from clew.engine.values import Base, Draft, Epoch, Refusal, State, Urgency
from clew.handoff import closing, receipt, template
from clew.handoff.record import Budget, Record, Source, extend
from clew.ledger.foreign import recognise
from clew.redact import redact
from clew.strategies.base import Edit, Scene
from clew.transcript import Message, Span, reference
from clew.wire.edit import render

LEVELS = 4  # 0 as set; 1 a smaller tail and record; 2 results in the tail as digests; 3 the largest parts clipped
_LEAST = 0.10  # of the view: what an epoch that may wait has to save
_TIGHTER = (1.0, 0.5, 0.35, 0.25)


def tail_target(state: State, level: int = 0) -> tuple[int, int]:
    """Tokens of tail that an epoch aims at, and those it may go up to for the sake of recent messages."""
    budget = int(state.limits.soft * state.limits.target_ratio * _TIGHTER[level])
    return int(0.4 * budget), budget


def draft(
    log: Log, state: State, urgency: Urgency, *, level: int = 0, focus: str = "", date: str = ""
) -> Draft | Refusal:
    """Where an epoch would cut. Refused where nothing would go, or too little for one that may wait."""
    transcript, end = log.transcript, len(log.transcript)
    system = head_end(transcript, 0, compacted=True)
    head = _first_head(log, state, system) if state.number == 0 else _lone_user(log, system)
    start = head if state.number == 0 else max(state.base.tail, head)
    span = Span(start, end)
    if len(span) < 2:
        return Refusal("there is nothing between the beginning and the newest messages", "nothing")
    target, budget = tail_target(state, level)
    sizes = [log.size(i) for i in range(start, end)]
    keep = state.limits.protect_last if level == 0 else 0
    cut = choose(transcript, sizes, span, target=target, budget=budget, keep_last=keep)
    if cut is None:
        return Refusal("no cut is legal before the newest messages: one group of calls holds them all", "nothing")
    leaving = sum(sizes[: cut.tail - start])
    if urgency.may_wait and leaving < _LEAST * state.view_tokens:
        return Refusal(f"only {leaving:,} tokens could leave the view", "nothing")
    content = leaving + (state.record.tokens if state.number else 0)
    return Draft(
        number=state.number + 1,
        urgency=urgency,
        level=level,
        span=Span(start, cut.tail),
        head=head,
        cut=cut,
        ledger=log.ledger(),
        budget=max(2_000, min(int(0.20 * content), int(0.05 * state.limits.window), 12_000)),
        focus=focus,
        now=date,
    )


def _first_head(log: Log, state: State, system: int) -> int:
    """Before the first compaction the opening messages stay, unless they alone fill what a tail may take."""
    head = head_end(log.transcript, state.limits.protect_first, compacted=False)
    size = sum(log.size(i) for i in range(system, head))
    if size <= state.limits.soft * state.limits.target_ratio:
        return head
    return _lone_user(log, system)


def _lone_user(log: Log, system: int) -> int:
    """The head of a run with a single user turn holds it: that request is never far from what is being done."""
    transcript = log.transcript
    last = last_user_turn(transcript, len(transcript), system)
    return system + 1 if last == system else system


@dataclass(frozen=True, slots=True)
class Written:
    """What stands for the middle: the texts in order, and what the state keeps of them."""

    texts: tuple[str, ...]
    record: Record
    sections: template.Sections
    by: str
    page: str = ""  # facts that stand behind one reference


def finish(log: Log, state: State, d: Draft, written: Written | None = None) -> Epoch | Refusal:
    """The epoch, from a model's checked text or, without one, from the ledger. Refused where the receipt doesn't hold."""
    w = written if written is not None else by_ledger(log, state, d)
    transcript, end = log.transcript, len(log.transcript)
    edits = _tail_edits(log, state, d)
    tail = [shown(transcript[i], edits.get(i, ())) for i in range(d.cut.tail, end)]
    head = [transcript[i] for i in range(d.head)]
    user = last_user_turn(transcript, end, d.head)
    pinned = transcript[user] if d.head <= user < d.cut.tail and user >= 0 else None
    if pinned is not None and recognise(words(pinned)) is not None:
        pinned = None
    made = assemble(log.wire, head, w.texts, tail, pinned=pinned, alternates=log.alternates)
    base = _base(log, d, made, edits, len(w.texts))
    after = base.tokens + sum(_size(log, i, edits) for i in range(base.tail, end))
    view = "\n".join([words_of(m) for m in made.messages])
    paper = receipt.Receipt(
        before=state.view_tokens,
        after=after,
        counts=receipt.count(d.ledger, view, named=lambda i: i in w.record.shortened, page=w.page),
        references=_references(view),
        rewritten=after - sum(log.size(i) for i in range(d.head)),
    )
    if paper.lost:
        return Refusal(f"the handoff would lose {len(paper.lost)} pinned fact(s): {paper.lost[0][:80]}", "lost")
    if after >= state.view_tokens:
        return Refusal("the compacted view would not be smaller", "larger")
    return Epoch(
        number=d.number,
        at=end,
        urgency=d.urgency,
        span=d.span,
        base=base,
        edits=tuple(_all_edits(log, d, edits)),
        handoff="\n\n".join(w.texts),
        sections=w.sections,
        receipt=paper,
        written_by=w.by,
        focus=d.focus,
        repairs=made.repairs,
        record=w.record,
        level=d.level,
        page=w.page,
    )


def by_ledger(log: Log, state: State, d: Draft) -> Written:
    """The handoff without a model: the record's pages, then how things stand."""
    transcript = log.transcript
    scale = _TIGHTER[d.level] if d.level else 1.0
    budget = Budget.of(state.limits.soft, scale)
    shown_names = frozenset(
        n for i in range(d.cut.tail, len(transcript)) for line in log.names.lines(i) for n, _, _ in line.names
    )
    src = Source(transcript, log.names, log.size, log.measure, state.limits.recall, d.ledger.decisions)
    record = extend(state.record, src, d.span, shown_names, budget, opening=_opening(state, d))
    in_view = frozenset((*record.verbatim, d.cut.last_user, *range(d.cut.tail, len(transcript)), *range(d.head)))
    ledger_budget = int(min(state.limits.soft, 34_000) * 0.02 * scale)
    closed = closing.sections(d.ledger, in_view, ledger_budget, log.measure, recall=bool(state.limits.recall))
    recall = state.limits.recall
    text = template.closing_text(closed.sections, banner=not record.pages, recall=recall)
    pages = template.paged(record.pages, recall=recall)
    return Written((*pages, redact(text, force=True)), record, closed.sections, "ledger", closed.page)


def _opening(state: State, d: Draft) -> Span:
    """The messages that the head held until now and holds no more."""
    return Span(d.head, state.base.head) if state.number and state.base.head > d.head else Span(0, 0)


def shown(message: Message, edits: Iterable[Edit]) -> Message:
    """A message with its edits."""
    wanted = {e.part: e.text for e in edits}
    return render(message, wanted) if wanted else message


def _tail_edits(log: Log, state: State, d: Draft) -> Mapping[int, tuple[Edit, ...]]:
    """Edits of the tail: those that stood before and still apply, and what the strategies propose now."""
    end = len(log.transcript)
    scene = Scene(log.transcript, Span(d.cut.tail, end), log.measure, state.limits.recall)
    room = state.limits.hard - state.base.tokens if d.level >= LEVELS - 1 else 0
    proposed = strategies.at_epoch(scene, level=d.level, room=room)
    edits = {i: es for i, es in state.base.edits.items() if i >= d.cut.tail}
    for e in proposed:
        here = tuple(x for x in edits.get(e.message, ()) if x.part != e.part)
        edits[e.message] = (*here, e)
    return edits


def _size(log: Log, i: int, edits: Mapping[int, tuple[Edit, ...]]) -> int:
    return log.size(i) - sum(e.saved for e in edits.get(i, ()))


def _base(log: Log, d: Draft, made: Assembled, edits: Mapping[int, tuple[Edit, ...]], pieces: int) -> Base:
    messages, tail = made.base, d.cut.tail + made.taken
    if made.repairs:
        messages, tail = made.messages, len(log.transcript)
    tokens = sum(log.count(m) for m in messages)
    return Base(messages, tail, edits, tokens, Span(d.head, d.head + pieces), d.head)


def _all_edits(log: Log, d: Draft, edits: Mapping[int, tuple[Edit, ...]]) -> Iterable[Edit]:
    """Every shortening the epoch makes, a message at a time: what went into the handoff, and what the tail shows."""
    for i in range(d.span.start, d.span.end):
        m = log.transcript[i]
        yield Edit(i, -1, "", f"stands in handoff {d.number}", "handoff", log.size(i), 0, reference(m.address))
    for i in sorted(edits):
        yield from edits[i]


def words_of(message: Message) -> str:
    """Every word of a message, its calls' arguments too."""
    return "\n".join([message.text, *(c.arguments for c in message.calls)])


def _references(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(w.strip("`,.;:()[]") for w in text.split() if w.lstrip("`([").startswith("clew:")))
