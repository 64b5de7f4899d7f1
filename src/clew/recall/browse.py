"""The latest conversations, with a glance at each."""

from __future__ import annotations

from dataclasses import dataclass

from clew.recall.filters import HIDDEN, Filters, sessions
from clew.recall.shown import masked
from clew.store.base import Store
from clew.store.records import Session, SessionFilter

_PAGE = 50
_PREVIEW = 160
_LOOKED_AT = 12  # messages in which the first of the user is looked for


@dataclass(frozen=True, slots=True)
class Glance:
    """One conversation: the latest session of its lineage. `preview` is how it began."""

    session: str
    root: str
    title: str
    source: str
    project: str
    created: float
    updated: float
    end_reason: str
    length: int
    preview: str


@dataclass(frozen=True, slots=True)
class Glances:
    """`next` is what to give as `before` for more; "" at the end."""

    items: tuple[Glance, ...]
    next: str


def browse(store: Store, where: Filters | None = None, *, limit: int = 20, before: str = "") -> Glances:
    """The latest changed first, one of each lineage, subagents' and tools' sessions left out. A lineage is shown on the page
    its latest session is on.
    """
    where = where or Filters()
    found: list[Session] = []
    filters = [sessions(where, source) for source in where.sources or ("",)]
    at = before
    while len(found) <= limit:
        page = [s for f in filters for s in store.sessions(f, limit=_PAGE, before=at, recent=True)]
        if len(filters) > 1:
            page = sorted(page, key=lambda s: (s.updated, s.created, s.id), reverse=True)[:_PAGE]
        found += [s for s in page if _newest(store, s, where)]
        if len(page) < _PAGE:
            break
        at = page[-1].id
    shown_ = found[:limit]
    return Glances(tuple(_glance(store, s) for s in shown_), shown_[-1].id if len(found) > limit else "")


def _newest(store: Store, s: Session, where: Filters) -> bool:
    """Whether no session of the lineage that changed later would be shown in its stead."""
    if where.projects and s.workspace not in where.projects:
        return False
    hidden = () if where.everything or where.sources else HIDDEN
    [later] = store.sessions(SessionFilter(root=s.root, without_sources=hidden), limit=1, recent=True)
    return later.id == s.id


def preview(store: Store, s: Session) -> str:
    """How a conversation began: the first of the user's words, on one line."""
    for m in store.messages(s.root, 0, _LOOKED_AT):
        if m.message.role == "user" and m.message.text.strip():
            text = " ".join(masked(m.message.text).split())
            return text if len(text) <= _PREVIEW else text[: _PREVIEW - 1] + "…"
    return ""


def _glance(store: Store, s: Session) -> Glance:
    return Glance(
        s.id, s.root, masked(s.title), s.source, s.workspace, s.created, s.updated, s.end_reason, s.length,
        preview(store, s),
    )  # fmt: skip
