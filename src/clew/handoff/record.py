"""The record: what was asked, done and found in the turns that left the view, oldest first, in pages.

A page is written once, when its turns leave, and stays byte for byte until a rebuild, so that what a provider has
cached of it stays cached. A rebuild writes one page from what the pages held: it is bounded by them, not by history.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from math import log

from clew.handoff.excerpts import Seen
from clew.handoff.page import Budget, Chosen, Source, calls_quoted, lines, own, user_lines
from clew.ledger.names import weight
from clew.ledger.requests import spoken_by_user
from clew.redact import redact
from clew.transcript import Span

_FLOOR = -2.0  # names that score less are not kept, whatever room there is
_AGAIN = 1.5  # what a name loses that is shown already, though beside nothing
_SPREAD = 4.0  # what a page may take of its room for names, the lines around them included
_REBUILT_MOST = 0.75  # of the cap: so that a rebuild is not needed again at once
_TRIES = 4
_DECIDED = 40  # decisions that a rebuilt page repeats
_ANSWERS = 0.25  # of the room for users' words, for the answers to the older of them
_NAMED = 12  # user messages over the budget that a rebuilt page names one by one
_NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Record:
    """Pages, the names they hold, and which user messages they show verbatim, shortened, or only count."""

    pages: tuple[str, ...] = ()
    tokens: int = 0
    kept: frozenset[str] = frozenset()
    paired: frozenset[str] = frozenset()
    start: int = 0
    end: int = 0
    verbatim: tuple[int, ...] = ()
    shortened: tuple[int, ...] = ()
    user_tokens: int = 0
    counted: int = 0  # user messages that only their number stands for
    by_model: bool = False  # the state's sections hold the actions, and no page does


def extend(
    record: Record, src: Source, span: Span, shown: frozenset[str], budget: Budget, opening: Span = _NOWHERE
) -> Record:
    """The record with the turns of `span` added: a new page, or one rebuilt page where the pages grew too large.

    `shown` are the names the tail holds anyway; `opening` are turns older than every page, which come in only now.
    """
    leaving = sum(src.size(i) for i in range(span.start, span.end))
    room = max(budget.least, int(budget.rate * leaving))
    if record.pages and (record.tokens + room > budget.cap or len(opening)):
        return _rebuilt(record, src, span, shown, budget, opening)
    places = _candidates(src, span, record.paired | shown)
    listed = range(span.start, span.end)
    return _fitted(
        lambda r: _written(
            record, src, listed, _choose(src, places, r, record.kept), budget, fresh=span.start, add=True
        ),
        room,
        record.tokens + max(min(_SPREAD * room, budget.cap / 2), budget.cap - record.tokens),
    )


def users_only(record: Record, src: Source, span: Span, budget: Budget) -> tuple[Record, str]:
    """What stands beside a model's handoff: the users' messages, verbatim up to the budget, newest first; those over it
    by their first words, and older ones by their number.
    """
    older = (*record.verbatim, *record.shortened)
    users = [*sorted(older), *(i for i in range(span.start, span.end) if src.log[i].is_user_turn)]
    verbatim = _pinned(src, users, budget, 0)
    over = [i for i in users if i not in verbatim and own(src, i)]
    named = over[-_NAMED:]
    counted = record.counted + len(over) - len(named)
    shown = [f"({counted} earlier user messages are not shown here)"] if counted else []
    seen = Seen()
    for i in sorted({*verbatim, *named}):
        shown += user_lines(src, i, set(), seen, budget, whole=i in verbatim)
    made = Record(
        start=record.start,
        end=span.end,
        verbatim=tuple(sorted(verbatim)),
        shortened=tuple(named),
        user_tokens=sum(src.size(i) for i in verbatim),
        counted=counted,
        by_model=True,
    )
    return made, redact("\n".join(shown), force=True)


def from_model(record: Record, text: str, src: Source) -> Record:
    """A model's account as the first page of a record that goes on without one. Users' words stand beside it no more:
    they are listed again.
    """
    seen = Seen()
    seen.note(text)
    page = f"Earlier record, as a model wrote it:\n{text}"
    return Record((page,), src.measure(page), frozenset(seen.named), frozenset(seen.paired), record.start, record.end)


def _fitted(write: Callable[[float], Record], room: float, limit: float) -> Record:
    """The record within a limit of tokens: names cost more than their own length where their lines are long."""
    made = write(room)
    for _ in range(_TRIES):
        if made.tokens <= limit:
            break
        room *= 0.8 * limit / made.tokens
        made = write(room)
    return made


def _rebuilt(record: Record, src: Source, span: Span, shown: frozenset[str], budget: Budget, opening: Span) -> Record:
    places = _candidates(src, opening, shown) | _candidates(src, span, shown)
    for name in record.kept - shown:
        at = src.names.last_message(name)
        if 0 <= at < span.end:
            places[name] = at
    places = {name: _beside(src, name, at, 0, span.end) for name, at in places.items()}
    # Of those over the budget the newest are named one by one, the rest by their number.
    counted = record.counted + max(0, len(record.shortened) - _NAMED)
    spoken = {*record.verbatim, *record.shortened[-_NAMED:]}
    decided = {d.source for d in src.decisions[-_DECIDED:] if d.source < span.start}
    always = decided | spoken | set(range(opening.start, opening.end))

    def write(room: float) -> Record:
        keep = _choose(src, places, room)
        old = always | {at for at in keep.values() if at < span.start}
        listed = [*sorted(old), *range(span.start, span.end)]
        empty = Record(start=record.start, counted=counted)
        return _written(empty, src, listed, keep, budget, fresh=span.start, add=False)

    return _fitted(write, budget.rebuilt, _REBUILT_MOST * budget.cap)


def _beside(src: Source, name: str, at: int, start: int, end: int) -> int:
    """Where a name stood beside another, rather than where it stood last alone."""
    beside = src.names.last_beside(name)
    return beside if start <= beside < end else at


def _candidates(src: Source, span: Span, without: frozenset[str]) -> dict[str, int]:
    """Names of a span with the last message of it that holds each."""
    return {
        name: _beside(src, name, i, span.start, span.end)
        for i in range(span.start, span.end)
        for line in src.names.lines(i)
        for name, _, _ in line.names
        if name not in without and not src.names.given(name)
    }


def _choose(src: Source, places: dict[str, int], room: float, kept: frozenset[str] = frozenset()) -> dict[str, int]:
    """The names worth their tokens, by score over cost, until the room is used.

    One that is kept already, though beside nothing, comes again only if the agent itself used it.
    """
    pool = []
    near = src.focus.near(line for at in set(places.values()) for line in src.names.lines(at))
    for name, at in places.items():
        if name in kept and not src.names.by_agent(name):
            continue
        score = src.names.score(name) - (_AGAIN if name in kept else 0.0)
        score += max(src.focus.of(name), near.get(name, 0.0))
        if score >= _FLOOR:
            pool.append((_value(score, name), name, at))
    pool.sort(key=lambda p: (-p[0], p[1]))
    keep: dict[str, int] = {}
    for _, name, at in pool:
        room -= weight(name)
        if room < 0:
            break
        keep[name] = at
    return keep


def _value(score: float, name: str) -> float:
    """Value for money, as log odds."""
    return score - log(weight(name))


def _written(
    record: Record,
    src: Source,
    positions: Iterable[int],
    keep: dict[str, int],
    budget: Budget,
    *,
    fresh: int,
    add: bool,
) -> Record:
    by_message: dict[int, set[str]] = {}
    for name, at in keep.items():
        by_message.setdefault(at, set()).add(name)
    asked = calls_quoted(src, by_message)
    listed = sorted({*positions, *asked})
    users = [i for i in listed if src.log[i].is_user_turn]
    verbatim = _pinned(src, users, budget, record.user_tokens)
    over = [i for i in users if i not in verbatim]
    numbered = set(over[: -2 * _NAMED])  # so many that a page can't name each: their number stands for them
    unnamed = (0 if add else record.counted) + len(numbered)
    seen = Seen(set(record.kept), set(record.paired)) if add else Seen()
    out: list[str] = []
    if unnamed:
        out.append(f"({unnamed} earlier user messages are not shown here)")
    older = [i for i in users if i < fresh and i not in numbered]
    chosen = Chosen(by_message, asked, verbatim, frozenset(numbered), _answers(src, older, by_message, budget), fresh)
    for i in listed:
        out += lines(src, i, chosen, seen, budget)
    text = redact("\n".join(out), force=True)
    page = (text,) if text else ()
    end = max(listed, default=record.end - 1) + 1
    return Record(
        pages=(*record.pages, *page) if add else page,
        tokens=(record.tokens if add else 0) + src.measure(text),
        kept=frozenset(seen.named),
        paired=frozenset(seen.paired),
        start=record.start,
        end=max(end, record.end),
        verbatim=(*record.verbatim, *sorted(verbatim)),
        shortened=(*record.shortened, *(i for i in over if i not in numbered)),
        user_tokens=record.user_tokens + sum(src.size(i) for i in verbatim),
        counted=record.counted + len(numbered),
    )


def _answers(src: Source, users: Sequence[int], listed: Container[int], budget: Budget) -> dict[int, str]:
    """What stands below the questions that a rebuilt page repeats: alone they would look open. The shortest come first, so
    that as many as possible have theirs within a share of the users' room; of equals the newest.
    """
    known = ((i, src.answers[i]) for i in reversed(users) if i in src.answers)
    told = [(i, line) for i, r in known if r.answered_at not in listed and (line := src.answer(r))]
    left = _ANSWERS * budget.user_all
    out: dict[int, str] = {}
    for i, line in sorted(told, key=lambda x: len(x[1])):
        left -= src.measure(line)
        if left < 0:
            break
        out[i] = line
    return out


def _pinned(src: Source, users: Sequence[int], budget: Budget, spent: int) -> frozenset[int]:
    """The user messages shown verbatim: the first of all, then the newest, as far as the budget goes."""
    left = budget.user_all - spent
    chosen = []
    order = [*users[:1], *reversed(users[1:])]
    for i in order:
        size = src.measure(spoken_by_user(src.log[i]))
        if size <= min(budget.user_each, left) and own(src, i):
            chosen.append(i)
            left -= size
    return frozenset(chosen)
