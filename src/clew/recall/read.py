"""A whole session, or how it began and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from clew.recall.shown import Shown, shown
from clew.store.base import Store

FIRST, LAST = 20, 10


@dataclass(frozen=True, slots=True)
class Reading:
    """`left_out` messages stand between `first` and `last`; where it is 0, `first` has them all."""

    session: str
    root: str
    title: str
    source: str
    project: str
    created: float
    updated: float
    end_reason: str
    length: int
    first: tuple[Shown, ...]
    last: tuple[Shown, ...]
    left_out: int


def read(
    store: Store, session: str, *, whole: bool = False, first: int = FIRST, last: int = LAST, width: int = 0
) -> Reading:
    """The first 20 and the last 10 messages, or all of them."""
    s = store.session(session)
    everything = whole or s.length <= first + last
    begin = store.messages(s.id) if everything else store.messages(s.id, 0, first)
    end = () if everything else store.messages(s.id, s.length - last)
    return Reading(
        s.id, s.root, s.title, s.source, s.workspace, s.created, s.updated, s.end_reason, s.length,
        tuple(shown(m, width) for m in begin), tuple(shown(m, width) for m in end),
        0 if everything else s.length - first - last,
    )  # fmt: skip
