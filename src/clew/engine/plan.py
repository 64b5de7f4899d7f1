"""An epoch thought out (`draft`) and made (`finish`): boundaries, record, closing, check, assembly, receipt. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from clew import strategies
from clew.assemble import Assembled, assemble, words
from clew.boundaries import Cut, choose, head_end, last_reply, last_user_turn
from clew.engine.events import Log
from clew.engine.values import NOWHERE, Base, Draft, Epoch, Refusal, State, Urgency, Written
from clew.handoff import closing, receipt, template
from clew.handoff.brief import brief
from clew.handoff.focus import focus_of
from clew.handoff.page import Budget, Source
from clew.handoff.record import Record, extend, from_model, users_only
from clew.ledger.foreign import recognise
from clew.ledger.requests import spoken_by_user
from clew.redact import redact
from clew.strategies import clip, media
from clew.strategies.base import Edit, Scene
from clew.transcript import Message, Span, Text, reference, text_address
from clew.wire.edit import render

LEVELS = 4  # 0 as set; 1 a smaller tail and record; 2 results in the tail as digests; 3 the largest parts clipped
_REFERENCE = re.compile(r"\bclew:[a-z2-7]{12}\b")
_TIGHTER = (1.0, 0.5, 0.35, 0.25)  # of a tail's and record's room, by level
_AIMED = 0.36  # of a tail's budget: what a cut aims at; the rest is for recent messages that must stay whole
_EARLIER = 0.25  # of a summariser's window: what the ledger's own record may take in its prompt
_BRIEF = 0.4  # of the hard limit: what a handoff may take at the last level
_USER_MOST = 0.25  # of the hard limit: what a user turn that is shown again may take where everything is clipped
_MODELS_OWN = (template.ACTIONS, template.DECISIONS, template.RESOLVED, template.CONTEXT)


def tail_target(state: State, level: int = 0) -> tuple[int, int]:
    """Tokens of tail that an epoch aims at, and those it may go up to for the sake of recent messages."""
    budget = int(state.limits.soft * state.limits.target_ratio * _TIGHTER[level])
    return int(_AIMED * budget), budget


def draft(
    log: Log, state: State, urgency: Urgency, *, level: int = 0, focus: str = "", date: str = ""
) -> Draft | Refusal:
    """Where an epoch would cut. Refused where nothing would go, or too little for one that may wait."""
    transcript, end = log.transcript, len(log.transcript)
    system = head_end(transcript, 0, compacted=True)
    head = _first_head(log, state, system) if state.number == 0 else _lone_user(log, state, system)
    start = head if state.number == 0 else max(state.base.cut, head)
    span = Span(start, end)
    target, budget = tail_target(state, level)
    sizes = [log.size(i) for i in range(start, end)]
    keep = state.limits.protect_last if level == 0 else 0
    cut = choose(
        transcript, sizes, span, target=target, budget=budget, keep_last=keep,
        least=state.limits.least_tail, ceiling=state.limits.ceiling_tail,
    )  # fmt: skip
    if cut is None and len(span) and urgency is Urgency.MUST_FIT and level == LEVELS - 1:
        # Nothing can leave: all of it stays, and is clipped.
        cut = Cut(start, last_user_turn(transcript, end, start), last_reply(transcript, end, start))
    if cut is None and len(span) < 2:
        return Refusal("there is nothing between the beginning and the newest messages", "nothing")
    if cut is None:
        return Refusal("no cut is legal before the newest messages: one group of calls holds them all", "nothing")
    leaving = sum(sizes[: cut.tail - start])
    if urgency.may_wait and leaving < state.limits.min_saving * state.view_tokens:
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
        budget=state.limits.length.budget(content, state.limits.window),
        focus=focus,
        now=date,
    )


def _first_head(log: Log, state: State, system: int) -> int:
    """Before the first compaction the opening messages stay, unless they alone fill what a tail may take."""
    head = head_end(log.transcript, state.limits.protect_first, compacted=False)
    size = sum(log.size(i) for i in range(system, head))
    if size <= state.limits.soft * state.limits.target_ratio:
        return head
    return _lone_user(log, state, system)


def _lone_user(log: Log, state: State, system: int) -> int:
    """The head of a run with a single user turn holds it: that request is never far from what is being done."""
    small = log.last_user == system and log.size(system) <= state.limits.soft * state.limits.target_ratio
    return system + 1 if small else system


def finish(log: Log, state: State, d: Draft, written: Written | None = None, *, most: int = 0) -> Epoch | Refusal:
    """The epoch, from a model's checked text or, without one, from the ledger. Refused where the receipt doesn't hold.

    `most` are the tokens it may take: what the last level clips to.
    """
    w = written if written is not None else by_ledger(log, state, d)
    transcript, end = log.transcript, len(log.transcript)
    old = _old_pictures(log, d)
    head = [shown(transcript[i], old.get(i, ())) for i in range(d.head)]
    if state.limits.system_note:
        head = _noted(head)
    again = _pinned(log, d)
    pinned = shown(transcript[again], _clipped_user(log, state, d, again)) if again >= 0 else None
    front = sum(log.size(i) for i in range(d.head)) + sum(log.measure(x) + 8 for x in w.texts)
    front += log.count(pinned) if pinned is not None else 0
    edits = _tail_edits(log, state, d, (most or state.limits.hard) - front)
    tail = [shown(transcript[i], edits.get(i, ())) for i in range(d.cut.tail, end)]
    made = assemble(log.wire, head, w.texts, tail, pinned=pinned, alternates=log.alternates)
    base = _base(log, d, made, edits, w.texts)
    after = base.tokens + sum(_size(log, i, edits) for i in range(base.tail, end))
    view = "\n".join([words_of(m) for m in made.messages])
    paper = receipt.Receipt(
        before=state.view_tokens,
        after=after,
        counts=receipt.count(d.ledger, view, named=lambda i: i in w.record.shortened, page=w.page, numbered=w.numbered),
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
        edits=(
            *(e for es in old.values() for e in es),
            *_all_edits(log, _opening(state, d), d, edits),
            *(_clipped_user(log, state, d, again) if again >= 0 else ()),
        ),
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
    budget = Budget.of(state.limits.soft, scale, state.limits.ledger_budget)
    shown_names = frozenset(
        n for i in range(d.cut.tail, len(transcript)) for line in log.names.lines(i) for n, _, _ in line.names
    )
    request = d.ledger.open_requests[-1].text if d.ledger.open_requests else ""
    focus = focus_of(d.focus, request)
    src = Source(
        transcript, log.names, log.size, log.measure, state.limits.recall, d.ledger.decisions, focus, d.ledger.requests
    )
    earlier = from_model(state.record, _by_model(state.previous), src) if state.record.by_model else state.record
    record = extend(earlier, src, d.span, shown_names, budget, opening=_opening(state, d))
    whole = () if d.level >= LEVELS - 1 else (d.cut.last_user,)
    in_view = frozenset((*record.verbatim, *whole, *range(d.cut.tail, len(transcript)), *range(d.head)))
    recall = state.limits.recall
    closed = closing.sections(
        d.ledger, in_view, budget.closing, log.measure, recall=bool(recall), focus=focus, record="\n".join(record.pages)
    )
    sections = template.Sections({h: redact(body, force=True) for h, body in closed.sections.by_heading.items()})
    text = template.closing_text(sections, banner=not record.pages, recall=recall)
    pages = template.paged(record.pages, recall=recall)
    made = Written((*pages, text), record, sections, "ledger", closed.page, closed.numbered)
    room = int(_BRIEF * state.limits.hard)
    if d.level < LEVELS - 1 or sum(log.measure(x) for x in made.texts) <= room:
        return made
    return _in_brief(log, state, d, made, room)


def _in_brief(log: Log, state: State, d: Draft, long: Written, room: int) -> Written:
    """The shortest handoff, where the other would fill the window; that one stays behind a reference where there is a way
    to recall it.
    """
    users = (i for i in range(d.head, d.cut.tail) if log.transcript[i].is_user_turn and i != log.last_user)
    said = [(i, text) for i in users if (text := spoken_by_user(log.transcript[i])) and recognise(text) is None]
    page = redact("\n\n".join([*long.texts, long.page]), force=True) if state.limits.recall else ""
    note = f"More: `{state.limits.recall}` {reference(text_address(page))}." if page else ""
    room -= log.measure(template.END_MARKER) + 1
    short = brief(said, d.ledger, room, log.measure, note=note)
    return replace(long, texts=(f"{short.text}\n{template.END_MARKER}",), page=page)


def _by_model(sections: template.Sections) -> str:
    """What only the model's text holds: the ledger draws the other sections anew."""
    return "\n".join(sections[h] for h in _MODELS_OWN if sections[h])


def known(log: Log, state: State) -> template.Sections:
    """The record so far as a model is shown it: the last handoff's sections, and the pages where the ledger wrote it, as
    much of their end as the model's window has room for.
    """
    if not state.record.pages:
        return state.previous
    pages = "\n".join(state.record.pages)
    room = int(_EARLIER * state.limits.summary_window)
    if room and (tokens := log.measure(pages)) > room:
        pages = "(older lines left out)\n" + pages[-int(len(pages) * room / tokens) :].partition("\n")[2]
    return replace(state.previous, by_heading={**state.previous.by_heading, template.ACTIONS: pages})


def spoken(log: Log, state: State, d: Draft) -> tuple[Record, str]:
    """The users' own words, which stand beside a model's handoff whatever it says, and the record that notes them."""
    src = Source(log.transcript, log.names, log.size, log.measure, state.limits.recall)
    opening = _opening(state, d)
    record = (
        replace(state.record, verbatim=(*range(opening.start, opening.end), *state.record.verbatim))
        if len(opening)
        else state.record
    )
    users = tuple(i for i in record.verbatim if log.transcript[i].is_user_turn)
    return users_only(replace(record, verbatim=users), src, d.span, Budget.of(state.limits.soft))


def _opening(state: State, d: Draft) -> Span:
    """The messages that the head held until now and holds no more."""
    return Span(d.head, state.base.head) if state.number and state.base.head > d.head else Span(0, 0)


def shown(message: Message, edits: Iterable[Edit]) -> Message:
    """A message with its edits."""
    wanted = {e.part: e.text for e in edits}
    return render(message, wanted) if wanted else message


def _noted(head: list[Message]) -> list[Message]:
    """The head with the note at the end of its system prompt, where it has one that is words."""
    for i in range(len(head) - 1, -1, -1):
        texts = [(k, p.text) for k, p in enumerate(head[i].parts) if isinstance(p, Text)]
        if head[i].role in ("system", "developer") and texts:
            last, told = texts[-1]
            return [*head[:i], render(head[i], {last: f"{told}\n\n{template.SYSTEM_NOTE}"}), *head[i + 1 :]]
    return head


def _old_pictures(log: Log, d: Draft) -> Mapping[int, tuple[Edit, ...]]:
    """Pictures of the head, where a newer user turn brought some."""
    if not 0 < d.head <= log.last_pictured:
        return {}
    scene = Scene(log.transcript, Span(0, d.head), log.measure)
    edits: dict[int, tuple[Edit, ...]] = {}
    for e in media.historic(scene, newest=log.last_pictured):
        edits[e.message] = (*edits.get(e.message, ()), e)
    return edits


def _pinned(log: Log, d: Draft) -> int:
    """The last user turn where it leaves the tail: it is shown again after the handoff. -1 where it needn't be."""
    user = log.last_user
    if user < d.head or user >= d.cut.tail or recognise(words(log.transcript[user])) is not None:
        return -1
    return user


def _clipped_user(log: Log, state: State, d: Draft, user: int) -> tuple[Edit, ...]:
    """A user turn that would fill the view keeps its beginning and end, at the level that clips."""
    if d.level < LEVELS - 1 or log.size(user) <= _USER_MOST * state.limits.hard:
        return ()
    room = int(_USER_MOST * state.limits.hard)
    scene = Scene(log.transcript, Span(user, user + 1), log.measure, state.limits.recall)
    return tuple(clip.to_fit(scene, room, (), log.size))


def _tail_edits(log: Log, state: State, d: Draft, room: int) -> Mapping[int, tuple[Edit, ...]]:
    """Edits of the tail: those that stood before and still apply, and what the strategies propose now."""
    end = len(log.transcript)
    scene = Scene(log.transcript, Span(d.cut.tail, end), log.measure, state.limits.recall)
    again = d.level >= LEVELS - 1  # what was clipped before is clipped anew, to the room there is now
    standing = tuple(
        e
        for i, es in sorted(state.base.edits.items())
        for e in es
        if i >= d.cut.tail and not (again and e.strategy == "clip")
    )
    edits: dict[int, tuple[Edit, ...]] = {}
    for e in strategies.at_epoch(scene, level=d.level, room=room, size=log.size, standing=standing):
        edits[e.message] = (*edits.get(e.message, ()), e)
    return edits


def _size(log: Log, i: int, edits: Mapping[int, tuple[Edit, ...]]) -> int:
    """Tokens of a message as it is shown: an edited one is counted again, since an edit only estimates what it saves."""
    return log.count(shown(log.transcript[i], edits[i])) if i in edits else log.size(i)


def _base(log: Log, d: Draft, made: Assembled, edits: Mapping[int, tuple[Edit, ...]], texts: tuple[str, ...]) -> Base:
    messages, tail = made.base, d.cut.tail + made.taken
    if made.repairs:
        messages, tail = made.messages, len(log.transcript)
    tokens = sum(log.count(m) for m in messages)
    held = [i for i, m in enumerate(messages) if any(x in words(m) for x in texts)]  # neighbours may be one message
    handoff = Span(held[0], held[-1] + 1) if held else NOWHERE
    return Base(messages, tail, edits, tokens, handoff, d.head, len(log.transcript), d.cut.tail)


def _all_edits(log: Log, opening: Span, d: Draft, edits: Mapping[int, tuple[Edit, ...]]) -> Iterable[Edit]:
    """Every shortening the epoch makes, a message at a time: what went into the handoff, and what the tail shows."""
    for i in (*range(opening.start, opening.end), *range(d.span.start, d.span.end)):
        m = log.transcript[i]
        yield Edit(i, -1, "", f"stands in handoff {d.number}", "handoff", log.size(i), 0, reference(m.address))
    for i in sorted(edits):
        yield from edits[i]


def words_of(message: Message) -> str:
    """Every word of a message, its calls' arguments too."""
    return "\n".join([message.text, *(c.arguments for c in message.calls)])


def _references(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_REFERENCE.findall(text)))
