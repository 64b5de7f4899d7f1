"""Finding messages: an index proposes them, newest first; each is confirmed on its own text."""

from __future__ import annotations

from collections import Counter

from clew.store.indexed import indexed
from clew.store.match import fit_folded
from clew.store.query import Hit, Query, Scope
from clew.store.sqlite.connect import Link
from clew.store.sqlite.propose import Row, propose
from clew.store.sqlite.rawtest import RawTest, raw_test
from clew.store.sqlite.rows import message_of, name_of, seconds, unpack

_RANKED, _RANKED_TEXT = 60, 200_000  # messages, and characters, that are ranked; of more, the newest count


def find(link: Link, query: Query, scope: Scope, limit: int, offset: int) -> list[Hit]:
    wanted = offset + limit
    test = raw_test(query)
    hits: list[Hit] = []
    read = 0
    of_lineage: Counter[int] = Counter()
    closed: set[int] = set()
    for row in propose(link, query, scope, closed):
        if row.root_no in closed:
            continue
        hit = _confirm(link, query, row, test)
        if hit:
            hits.append(hit)
            of_lineage[row.root_no] += 1
            if of_lineage[row.root_no] == scope.per_lineage:
                closed.add(row.root_no)
            read += len(hit.text)
            if len(hits) >= wanted and (len(hits) >= _RANKED or read >= _RANKED_TEXT):
                break
    hits.sort(key=(lambda h: -h.time) if scope.newest else (lambda h: -h.score))
    return hits[offset:wanted]


def _confirm(link: Link, query: Query, row: Row, test: RawTest) -> Hit | None:
    found = link.db.execute("SELECT wire, body FROM contents WHERE id = ?", (row.content,)).fetchone()
    if not found:
        return None
    kind, body = found
    raw = unpack(link, body)
    if not test.may_match(raw):
        return None
    text = indexed(message_of(name_of(link, kind), raw))
    score = fit_folded(query, test.folded(raw, text))
    if score is None:
        return None
    role, tool = name_of(link, row.role), name_of(link, row.tool)
    return Hit(row.session, row.root, row.position, seconds(row.time), role, tool, text, score)
