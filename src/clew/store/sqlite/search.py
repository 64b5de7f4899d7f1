"""Finding messages: an index proposes row ids, newest first; each is confirmed on its own text."""

from __future__ import annotations

from collections.abc import Iterator

from clew import wire
from clew.store.indexed import clean, indexed
from clew.store.match import fold, matches, score, words
from clew.store.query import Hit, Query, Scope, Term, TermKind
from clew.store.sqlite import index
from clew.store.sqlite.connect import Link
from clew.store.sqlite.pending import waiting, watermark
from clew.store.sqlite.rows import ms, name_of, seconds, unpack

_RANKED = 200  # candidates that are confirmed and ranked; of more, the newest count
_GRAM = 3


def find(link: Link, query: Query, scope: Scope, limit: int, offset: int) -> list[Hit]:
    wanted = offset + limit
    enough = wanted if scope.newest else max(wanted, _RANKED)
    hits: list[Hit] = []
    for id_ in _candidates(link, query):
        hit = _confirm(link, query, scope, id_)
        if hit:
            hits.append(hit)
            if len(hits) >= enough:
                break
    if not scope.newest:
        hits.sort(key=lambda h: -h.score)
    return hits[offset:wanted]


def _candidates(link: Link, query: Query) -> Iterator[int]:
    yield from waiting(link)
    mark = watermark(link)
    by_words = [g for g in query.all if all(_word_expression(t) for t in g)]
    by_grams = [g for g in query.all if all(_gram_expression(t) for t in g)]
    if by_words and link.have.words:
        match = " AND ".join("(" + " OR ".join(_word_expression(t) for t in g) + ")" for g in by_words)
        rows = link.db.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC", (match,))
    elif by_grams and link.have.grams:
        match = " AND ".join("(" + " OR ".join(_gram_expression(t) for t in g) + ")" for g in by_grams)
        blocks = link.db.execute("SELECT rowid FROM grams WHERE grams MATCH ? ORDER BY rowid DESC", (match,))
        yield from (id_ for (block,) in blocks for id_ in index.rows_of(block))
        return
    else:
        rows = link.db.execute("SELECT id FROM messages WHERE id <= ? ORDER BY id DESC", (mark,))
    for (id_,) in rows:
        yield id_


def _word_expression(term: Term) -> str:
    """What the word index is asked for; "" where it can't help."""
    if term.kind is TermKind.FRAGMENT:
        return ""
    parts = ['"' + w + '"' for w in words(clean(term.text))]
    if parts and term.kind is TermKind.PREFIX:
        parts[-1] += "*"
    return "(" + " AND ".join(parts) + ")" if parts else ""


def _gram_expression(term: Term) -> str:
    text = fold(clean(term.text))
    if term.kind is not TermKind.FRAGMENT or len(text) < _GRAM:
        return ""
    grams = dict.fromkeys(text[i : i + _GRAM] for i in range(len(text) - _GRAM + 1))
    return "(" + " AND ".join('"' + g.replace('"', '""') + '"' for g in grams) + ")"


_ROW = (
    "SELECT s.id, r.id, s.source, s.workspace, m.position, m.time, m.role, m.tool, c.wire, c.body FROM messages m"
    " JOIN sessions s ON s.no = m.session JOIN sessions r ON r.no = s.root JOIN contents c ON c.id = m.content WHERE m.id = ?"
)


def _confirm(link: Link, query: Query, scope: Scope, id_: int) -> Hit | None:
    found = link.db.execute(_ROW, (id_,)).fetchone()
    if not found:
        return None
    session, root, source, workspace, position, time, role, tool, kind, body = found
    hit = Hit(session, root, position, seconds(time), name_of(link, role), name_of(link, tool), "", 0.0)
    if not _in_scope(scope, hit, source, workspace, time):
        return None
    text = indexed(wire.get(name_of(link, kind)).message(unpack(link, body)))
    if not matches(query, text):
        return None
    return Hit(session, root, position, hit.time, hit.role, hit.tool, text, score(query, text))


def _in_scope(scope: Scope, hit: Hit, source: str, workspace: str, time: int) -> bool:
    limits = (
        (scope.sessions, hit.session), (scope.lineages, hit.root), (scope.roles, hit.role), (scope.tools, hit.tool),
        (scope.sources, source), (scope.workspaces, workspace),
    )  # fmt: skip
    if any(allowed and value not in allowed for allowed, value in limits):
        return False
    if hit.root in scope.without_lineages or source in scope.without_sources:
        return False
    if any(hit.session == s and hit.position >= p for s, p in scope.in_view):
        return False
    return (scope.since is None or time >= ms(scope.since)) and (scope.until is None or time <= ms(scope.until))
