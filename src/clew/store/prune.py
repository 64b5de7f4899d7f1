"""Which sessions may go: old ones, whole branches at a time, so that nothing that stays has lost its beginning."""

from __future__ import annotations

from dataclasses import dataclass

from clew.store.base import Store
from clew.store.records import SessionFilter


@dataclass(frozen=True, slots=True)
class Pruning:
    """What may go, and what is old enough but has to stay for what goes on from it."""

    sessions: tuple[str, ...]
    needed: tuple[str, ...]


def prunable(store: Store, *, before: float, source: str = "", keep: int = 0) -> Pruning:
    """Sessions last changed before a time, but for the newest `keep` of them."""
    old = store.sessions(SessionFilter(source=source, until=before))
    candidates = {s.id for s in sorted(old, key=lambda s: -s.updated)[keep:]}
    staying: set[str] = set()  # what stays, and what it goes on from; children come before their parents here
    for s in store.sessions():
        if s.id not in candidates or s.id in staying:
            staying |= {s.id, s.parent}
    return Pruning(tuple(sorted(candidates - staying)), tuple(sorted(candidates & staying)))
