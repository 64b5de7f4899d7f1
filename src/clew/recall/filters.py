"""Where to look, in the words people use; what is in view of a conversation now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from clew.errors import NotFound
from clew.jsonio import Json
from clew.store.base import Store
from clew.store.query import Scope
from clew.store.records import SessionFilter

HIDDEN = ("subagent", "tool")  # sources that are left out unless they are asked for
IN_VIEW = "in_view"  # the key in an epoch's body
_MOST_CUT = 200  # messages that are asked for one by one; of more the newest


@dataclass(frozen=True, slots=True)
class Filters:
    """An empty field doesn't filter. `session` stands for its whole lineage, `projects` are workspaces, `since` and
    `until` seconds since 1970.
    """

    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    session: str = ""
    everything: bool = False  # subagents' and tools' sessions too
    sort: Literal["best", "newest"] = "best"


@dataclass(frozen=True, slots=True)
class Current:
    """The conversation that asks: messages from `shown_from` on are in its view now, and the first `head`, so they are not
    found. What was archived from it is, and what its view shows only in part: the messages at the positions `cut`.
    """

    session: str
    shown_from: int = 0
    head: int = 0
    cut: tuple[int, ...] = ()


def in_view(head: int, cut: Iterable[int]) -> dict[str, Json]:
    """What the body of an epoch says of its view, for `current` to find there."""
    return {IN_VIEW: {"head": head, "cut": sorted(cut)[-_MOST_CUT:]}}


def current(store: Store, session: str) -> Current | None:
    """As far as the store knows: everything after the last epoch in force. None where the session isn't stored."""
    try:
        store.session(session)
    except NotFound:
        return None
    undone = {e.body["number"] for e in store.events(session, kind="undo")}
    epochs = [e for e in store.epochs(session) if e.number not in undone]
    if not epochs:
        return Current(session)
    last = max(epochs, key=lambda e: e.position)
    said = last.body.get(IN_VIEW, {}) if isinstance(last.body, dict) else {}
    return Current(session, last.position, said.get("head", 0), tuple(said.get("cut", ())))


def scope(store: Store, where: Filters, now: Current | None, *, per_lineage: int) -> Scope:
    hidden = () if where.everything or where.sources or where.session else HIDDEN
    return Scope(
        lineages=(store.session(where.session).root,) if where.session else (),
        roles=where.roles,
        tools=where.tools,
        sources=where.sources,
        without_sources=hidden,
        workspaces=where.projects,
        since=where.since,
        until=where.until,
        newest=where.sort == "newest",
        in_view=_in_view(store, now) if now else (),
        per_lineage=per_lineage,
    )


def sessions(where: Filters, source: str = "") -> SessionFilter:
    """The part of it that a list of sessions can be filtered by."""
    hidden = () if where.everything or where.sources else HIDDEN
    project = where.projects[0] if len(where.projects) == 1 else ""
    return SessionFilter(source=source, without_sources=hidden, workspace=project, since=where.since, until=where.until)


def _in_view(store: Store, now: Current) -> tuple[tuple[str, int, int | None], ...]:
    """By the sessions that wrote them: a fork has its first messages from an ancestor."""
    spans: list[tuple[str, int, int | None]] = []
    end: int | None = None
    at = now.session
    while at:
        try:
            s = store.session(at)
        except NotFound:
            break
        for first, last in _whole(now):
            low = max(first, s.shared)
            high = last if end is None else end if last is None else min(last, end)
            if high is None or low < high:
                spans.append((at, low, high))
        end = s.shared if end is None else min(end, s.shared)
        at = s.parent if end else ""
    return tuple(spans)


def _whole(now: Current) -> Iterator[tuple[int, int | None]]:
    """The runs of positions that the view shows whole."""
    if now.head:
        yield 0, min(now.head, now.shown_from)
    at = now.shown_from
    for position in sorted(p for p in now.cut if p >= at):
        if at < position:
            yield at, position
        at = position + 1
    yield at, None
