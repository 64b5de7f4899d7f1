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
    parents: dict[str, list[str]] = {}
    for s in store.sessions():
        parents.setdefault(s.parent, []).append(s.id)

    def whole(session: str) -> bool:
        return all(child in candidates and whole(child) for child in parents.get(session, ()))

    going = tuple(sorted(c for c in candidates if whole(c)))
    return Pruning(going, tuple(sorted(candidates - set(going))))
