"""Which messages may match, newest first, and only those in scope."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from clew.errors import ClewWarning
from clew.store.indexed import clean
from clew.store.query import Query, Scope
from clew.store.sqlite import expressions, index
from clew.store.sqlite.connect import Link
from clew.store.sqlite.intersect import Descending, rows_in, rows_of
from clew.store.sqlite.pending import watermark
from clew.store.sqlite.rows import ms

_PATIENCE = 64  # messages of lineages that have enough which are passed over one by one
_AT_ONCE = 64
_MARKED = 300  # lineages that are asked for by mark
_LONG = 1000  # rows after which it pays to ask which of them are in scope
_MUCH = 500  # messages read after which a dear question pays
_MOST_HELD = 60_000  # rows that are read for that


class Row(NamedTuple):
    """A message in scope; its content isn't read yet."""

    id: int
    session: str
    root: str
    root_no: int
    position: int
    time: int
    role: int
    tool: int | None
    content: int


_COLUMNS = "m.id, s.id, r.id, s.root, m.position, m.time, m.role, m.tool, m.content"
_SESSIONS = "CROSS JOIN sessions s ON s.no = m.session CROSS JOIN sessions r ON r.no = s.root"


@dataclass(slots=True)
class Where:
    """The scope as SQL. Values are always bound, names never come from outside."""

    tests: list[str] = field(default_factory=list)
    values: list[object] = field(default_factory=list)

    def add(self, test: str, *values: object) -> None:
        self.tests.append(test)
        self.values += values

    def among(self, column: str, values: Sequence[str], *, names: bool = False, out: bool = False) -> None:
        if values:
            marks = ", ".join("?" * len(values))
            held = f"(SELECT id FROM names WHERE name IN ({marks}))" if names else f"({marks})"  # noqa: S608 - marks are ?
            self.add(f"{column} {'NOT IN' if out else 'IN'} {held}", *map(clean, values))

    def text(self) -> str:
        return "".join(f" AND {t}" for t in self.tests)


def propose(link: Link, query: Query, scope: Scope, closed: set[int]) -> Iterator[Row]:
    """`closed` are the lineages of which no more is wanted; the caller adds to it as it goes."""
    where = _where(scope)
    mark = watermark(link)
    yield from _scan(link, where, mark + 1, None)
    roots = _roots(link, scope)
    if roots is not None and not roots:
        return
    marked = roots or []
    have = _usable(link)
    words = expressions.by_words(query) if have.words else ""
    grams = expressions.by_grams(query, link.db) if have.grams and (expressions.pieces(query) or not words) else ""
    if not words and not grams:
        yield from _scan(link, where, 0, mark)
        return
    if grams:
        scoped = expressions.marked((), scope.roles, scope.tools) if have.words else ""
        beginnings = expressions.by_beginnings(query) if have.words else ""
        asked = _Asked(
            _and(grams, expressions.gram_marked(marked)),
            _and(words, scoped) if words else "",
            scoped,
            _and(beginnings, scoped) if beginnings != words else "",
        )
        yield from _by_both(link, asked, where)
        return
    words = _and(words, expressions.marked(marked, scope.roles, scope.tools))
    out = expressions.excluded(query)
    yield from _by_words(link, f"({words}) NOT ({out})" if out else words, where, closed)


def _and(*parts: str) -> str:
    return " AND ".join(p for p in parts if p)


def _usable(link: Link) -> index.Indexes:
    """An index made under other rules would hide messages."""
    usable = link.have & index.noted(link.db)
    if usable != link.have:
        hint = "run `clew store vacuum`"
        warnings.warn(
            ClewWarning(f"the search index was made by another version; reading every message ({hint})"), stacklevel=2
        )
    return usable


def _by_words(link: Link, match: str, where: Where, closed: set[int]) -> Iterator[Row]:
    """Begins anew without the lineages that have enough, once they are in the way."""
    sql = (
        f"SELECT {_COLUMNS} FROM words CROSS JOIN messages m ON m.id = words.rowid {_SESSIONS}"  # noqa: S608 - bound
        f" WHERE words MATCH ? AND words.rowid < ?{where.text()} ORDER BY words.rowid DESC"
    )
    below, left_out = 1 << 62, -1
    while left_out < len(closed):
        left_out, passed = len(closed), 0
        without = expressions.marked(sorted(closed), (), ())
        asked = f"({match}) NOT {without}" if without else match
        for values in link.db.execute(sql, (asked, below, *where.values)):
            row = Row(*values)
            below = row.id
            if row.root_no not in closed:
                yield row
                continue
            passed += 1
            if passed > _PATIENCE and len(closed) > left_out:
                break
        else:
            return


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of the trigram index, and of the other about the same: at once where it knows words of the query, only in
    a long search where it knows no more than the scope (`scoped`), and where much was read for nothing all the same what
    words begin with (`beginnings`), which is dear.
    """

    grams: str
    words: str
    scoped: str
    beginnings: str


def _by_both(link: Link, asked: _Asked, where: Where) -> Iterator[Row]:
    def words(match: str) -> Descending:
        return Descending(link.db, "words", match)

    blocks = Descending(link.db, "grams", asked.grams)
    ids = rows_in(words(asked.words), blocks) if asked.words else rows_of(blocks)
    later, dear = "" if asked.words else asked.scoped, asked.beginnings
    held: set[int] | None = None
    passed = read = 0
    while some := list(islice(ids, _AT_ONCE)):
        passed += len(some)
        if later and passed > _LONG:
            ids, later = rows_in(words(later), blocks, some[-1] - 1), ""
        if dear and read > _MUCH:
            held, dear = _held(link.db, dear), ""
        for row in _picked(link, where, some if held is None else [id_ for id_ in some if id_ in held]):
            read += 1
            yield row


def _held(db: sqlite3.Connection, match: str) -> set[int] | None:
    """The rows that the word index lets through; None where they are many."""
    sql = f"SELECT rowid FROM words WHERE words MATCH ? LIMIT {_MOST_HELD + 1}"  # noqa: S608 - a number
    rows = {id_ for (id_,) in db.execute(sql, (match,))}
    return rows if len(rows) <= _MOST_HELD else None


def _picked(link: Link, where: Where, ids: Sequence[int]) -> Iterator[Row]:
    for at in range(0, len(ids), _AT_ONCE):
        some = ids[at : at + _AT_ONCE]
        held = ", ".join("?" * len(some))
        sql = f"SELECT {_COLUMNS} FROM messages m {_SESSIONS} WHERE m.id IN ({held}){where.text()} ORDER BY m.id DESC"  # noqa: S608 - bound
        yield from (Row(*found) for found in link.db.execute(sql, (*some, *where.values)))


def _scan(link: Link, where: Where, first: int, last: int | None) -> Iterator[Row]:
    bound = "m.id >= ?" if last is None else "m.id BETWEEN ? AND ?"
    sql = f"SELECT {_COLUMNS} FROM messages m {_SESSIONS} WHERE {bound}{where.text()} ORDER BY m.id DESC"  # noqa: S608 - bound
    values = (first,) if last is None else (first, last)
    yield from (Row(*found) for found in link.db.execute(sql, (*values, *where.values)))


def _roots(link: Link, scope: Scope) -> list[int] | None:
    """The numbers of the lineages that a scope stays within; None where it doesn't, or they are many."""
    within = Where()
    within.among("id", (*scope.lineages, *scope.sessions))
    within.among("source", scope.sources)
    within.among("workspace", scope.workspaces)
    if scope.since is not None:
        within.add("updated >= ?", ms(scope.since))
    if not within.tests:
        return None
    sql = f"SELECT DISTINCT root FROM sessions WHERE TRUE{within.text()} LIMIT {_MARKED + 1}"  # noqa: S608 - bound
    found = [no for (no,) in link.db.execute(sql, within.values)]
    return found if len(found) <= _MARKED else None


def _where(scope: Scope) -> Where:
    where = Where()
    where.among("s.id", scope.sessions)
    where.among("r.id", scope.lineages)
    where.among("r.id", scope.without_lineages, out=True)
    where.among("m.role", scope.roles, names=True)
    where.among("m.tool", scope.tools, names=True)
    where.among("s.source", scope.sources)
    where.among("s.source", scope.without_sources, out=True)
    where.among("s.workspace", scope.workspaces)
    if scope.since is not None:
        where.add("m.time >= ?", ms(scope.since))
    if scope.until is not None:
        where.add("m.time <= ?", ms(scope.until))
    for session, start, end in scope.in_view:
        where.add(
            "NOT (s.id = ? AND m.position >= ? AND m.position < ?)",
            clean(session),
            start,
            1 << 62 if end is None else end,
        )
    return where
