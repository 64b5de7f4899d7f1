"""Finding conversations: the best hit of each, what stood around it, how it began and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.errors import NotFound
from clew.lineage import Lineage
from clew.recall.filters import Current, Filters, scope
from clew.recall.language import Parsed, parse
from clew.recall.shown import Shown, masked, shown
from clew.recall.snippet import Snippet, snippet
from clew.store.base import Store
from clew.store.match import fit
from clew.store.query import Hit
from clew.store.records import Session

AROUND, ENDS = 5, 3
_PER_LINEAGE = 4  # messages of one lineage that compete for being its best
_SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Found:
    """One conversation. `session` and `position` say where the hit stands; `first` and `last` are the lineage's, without
    what `window` shows already. `tenant` and `store` tell apart what several stores found.
    """

    session: str
    root: str
    position: int
    role: str
    tool: str
    time: float
    title: str
    source: str
    project: str
    snippet: Snippet
    score: float
    reference: str
    window: tuple[Shown, ...]
    first: tuple[Shown, ...]
    last: tuple[Shown, ...]
    tenant: str
    store: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """`notes` say how the query was taken; `more` is the offset of the next page, None at the end."""

    hits: tuple[Found, ...]
    notes: tuple[str, ...]
    more: int | None


@dataclass(frozen=True, slots=True)
class _Best:
    store: Store
    hit: Hit
    text: str


def discover(
    stores: Store | Sequence[Store],
    query: str,
    where: Filters | None = None,
    *,
    current: Current | None = None,
    limit: int = 10,
    offset: int = 0,
    around: int = AROUND,
    ends: int = ENDS,
    width: int = 400,
) -> Discovery:
    """The best hit of each lineage, or all of the one that `where.session` names. `current` belongs to the first store; the
    others, of other profiles or tenants, are only read. A message that matches nowhere but in a masked secret isn't
    found, so a secret can't be guessed at.
    """
    where = where or Filters()
    parsed = parse(query)
    if parsed.empty or limit < 1:
        return Discovery((), parsed.notes, None)
    several = [stores] if not isinstance(stores, Sequence) else list(stores)
    wanted = offset + limit + 1
    best = [b for n, s in enumerate(several) for b in _best(s, parsed, where, current if n == 0 else None, wanted)]
    best.sort(key=(lambda b: -b.hit.time) if where.sort == "newest" else (lambda b: -b.hit.score))
    page = best[offset : offset + limit]
    hits = tuple(f for b in page if (f := _found(b, parsed, around, ends, width)))
    return Discovery(hits, parsed.notes, offset + limit if len(best) > offset + limit else None)


def _best(store: Store, parsed: Parsed, where: Filters, now: Current | None, wanted: int) -> Iterable[_Best]:
    """The best of each lineage that still matches once it is masked, the best or the newest first. Within one session
    that was asked for, every message.
    """
    each = 0 if where.session else _PER_LINEAGE
    within = scope(store, where, now, per_lineage=each)
    best: dict[object, _Best] = {}
    count, hits = 0, wanted * max(1, each)
    while True:
        page = store.find(parsed.query, within, limit=hits, offset=count)
        for hit in page:
            key = hit.root if each else (hit.session, hit.position)
            if key not in best:
                text = masked(hit.text)
                if text == hit.text or fit(parsed.query, text) is not None:
                    best[key] = _Best(store, hit, text)
        count += len(page)
        if len(page) < hits or len(best) >= wanted:
            return best.values()


def _found(best: _Best, parsed: Parsed, around: int, ends: int, width: int) -> Found | None:
    """None where the session was deleted meanwhile."""
    store, hit = best.store, best.hit
    try:
        s = store.session(hit.session)
    except NotFound:
        return None
    start = max(0, hit.position - around)
    near = tuple(shown(m, width) for m in store.messages(s.id, start, hit.position + around + 1))
    own = next((m for m in near if m.position == hit.position), None)
    if own is None:
        return None
    try:
        first, last = _ends(store, s, ends, width, {(m.session, m.position) for m in near})
    except NotFound:
        return None
    return Found(
        hit.session, hit.root, hit.position, hit.role, hit.tool, hit.time, masked(s.title), s.source, s.workspace,
        snippet(best.text, parsed.query), hit.score, own.reference, near, first, last, store.tenant, store.url,
    )  # fmt: skip


def _ends(
    store: Store, s: Session, ends: int, width: int, seen: set[tuple[str, int]]
) -> tuple[tuple[Shown, ...], tuple[Shown, ...]]:
    """How the lineage began, without its system prompt, and how it ended."""
    if not ends:
        return (), ()
    begin = [m for m in store.messages(s.root, 0, ends + 2) if m.message.role not in _SYSTEM][:ends]
    tip = Lineage(store).tip(s.id)
    end = store.messages(tip.id, max(0, tip.length - ends))
    first = tuple(shown(m, width) for m in begin if (m.owner, m.position) not in seen)
    seen = seen | {(m.owner, m.position) for m in begin}
    return first, tuple(shown(m, width) for m in end if (m.owner, m.position) not in seen)
