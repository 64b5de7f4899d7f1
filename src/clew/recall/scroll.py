"""Messages around one, and on from there, both ways."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clew.errors import NotFound
from clew.lineage import Lineage
from clew.recall.shown import Shown, shown
from clew.store.addresses import parse
from clew.store.base import Store
from clew.store.records import Session, SessionFilter
from clew.transcript import REFERENCE, Span

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Window:
    """`at` is the position it was made around, or begins with. `earlier` and `later` are what to scroll to next, as many
    messages again, none of which this one shows; None at an end. `asked` differs from `session` where another session of
    the lineage holds the message.
    """

    session: str
    asked: str
    root: str
    title: str
    length: int
    at: int
    messages: tuple[Shown, ...]
    earlier: Span | None
    later: Span | None


def scroll(
    store: Store, session: str, around: int | str | Span, *, before: int = 5, after: int = 5, width: int = 0
) -> Window:
    """`around` is a position, a negative one counted from the end, a message's reference, or what a window of this session
    says comes `earlier` or `later`.
    """
    asked = store.session(session)
    if isinstance(around, Span):
        held, at = _by_position(store, asked, around.start)
        start, end = at, min(held.length, around.end)
    else:
        held, at = (
            _by_reference(store, asked, around) if isinstance(around, str) else _by_position(store, asked, around)
        )
        start, end = max(0, at - before), min(held.length, at + after + 1)
    found = tuple(shown(m, width) for m in store.messages(held.id, start, end))
    size = before + after + 1
    earlier = Span(max(0, start - size), start) if start else None
    later = Span(end, min(held.length, end + size)) if end < held.length else None
    return Window(held.id, asked.id, held.root, held.title, held.length, at, found, earlier, later)


def _by_position(store: Store, asked: Session, at: int) -> tuple[Session, int]:
    if at < 0:
        at += asked.length
    if 0 <= at < asked.length:
        return asked, at
    for other in _family(store, asked):
        if 0 <= at < other.length:
            return other, at
    raise NotFound(
        f"session {asked.id!r} has no message {at}, nor has any of its lineage", hint=f"it has {asked.length}"
    )


def _by_reference(store: Store, asked: Session, ref: str) -> tuple[Session, int]:
    letters = parse(ref)
    for s in (asked, *_family(store, asked)):
        for start in range(0, s.length, _CHUNK):
            for m in store.messages(s.id, start, start + _CHUNK):
                if m.address.startswith(letters):
                    return s, m.position
    raise NotFound(
        f"no message of {asked.id!r} or its lineage is {REFERENCE}{letters}", hint="`clew recall` knows all originals"
    )


def _family(store: Store, asked: Session) -> Iterable[Session]:
    """The rest of the lineage: what the conversation came out of, the nearest first; where it went on; then the newest."""
    lineage = Lineage(store)
    above = [*reversed(lineage.with_ancestors([asked.id])), lineage.tip(asked.id).id]
    members = store.sessions(SessionFilter(root=asked.root))
    return sorted(
        (s for s in members if s.id != asked.id), key=lambda s: above.index(s.id) if s.id in above else len(above)
    )
