"""Search in memory: every message is looked at. What the indexed backends must agree with."""

from __future__ import annotations

from collections import Counter

from clew.store.indexed import clean, indexed
from clew.store.match import fit
from clew.store.memory_data import Data
from clew.store.query import Hit, Query, Scope
from clew.store.records import Session, Stored


def find(data: Data, query: Query, scope: Scope, limit: int, offset: int) -> list[Hit]:
    hits = []
    of_lineage: Counter[str] = Counter()
    for line, m in data.newest_first():
        s = line.session
        if not _in_scope(scope, s, m) or (scope.per_lineage and of_lineage[s.root] >= scope.per_lineage):
            continue
        text = indexed(m.message)
        score = fit(query, text)
        if score is not None:
            of_lineage[s.root] += 1
            hits.append(Hit(s.id, s.root, m.position, m.time, m.message.role, m.tool, text, score))
    if not scope.newest:
        hits.sort(key=lambda h: -h.score)
    return hits[offset : offset + limit]


def _in_scope(scope: Scope, s: Session, m: Stored) -> bool:
    limits = (
        (scope.sessions, s.id), (scope.lineages, s.root), (scope.roles, m.message.role), (scope.tools, m.tool),
        (scope.sources, s.source), (scope.workspaces, s.workspace),
    )  # fmt: skip
    if any(allowed and value not in map(clean, allowed) for allowed, value in limits):
        return False
    if s.root in map(clean, scope.without_lineages) or s.source in map(clean, scope.without_sources):
        return False
    if any(s.id == clean(of) and p <= m.position and (end is None or m.position < end) for of, p, end in scope.in_view):
        return False
    return (scope.since is None or m.time >= scope.since) and (scope.until is None or m.time <= scope.until)
