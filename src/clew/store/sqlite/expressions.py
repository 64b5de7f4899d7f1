"""What a query asks of each index. An index only proposes: an expression may let too much through, never too little."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from clew.store.indexed import clean
from clew.store.match import fold, words
from clew.store.query import Query, Term, TermKind
from clew.store.sqlite.index import gram_mark, pair_tests, word_mark

GRAM = 3
_ENDS = 2
_GRAMS_ASKED = 10  # of a long fragment: more make the search slower, hardly narrower
_MOST_ENDINGS = 500  # trigrams that a fragment of one or two characters may begin
_COMMON = {c: n for n, c in enumerate("qjzxkvwybgpfmuhcdlrnsaiote \n", 1)}  # rare letters first
_TAIL = re.compile(r"(?<=[\x01-/:-@\[-`{-\x7f])[a-z0-9]{3,}\Z")  # a word's beginning, as any tokenizer sees it
_INNER = re.compile(r"(?<=[\W_])[^\W_]+(?=[\W_])")


def by_words(query: Query) -> str:
    """For the word index: the groups it can narrow by."""
    return _all(query, _words)


def by_beginnings(query: Query) -> str:
    """For the word index, with what a fragment's last word begins with: narrower, and dearer to ask."""
    return _all(query, _beginnings)


def by_grams(query: Query, db: sqlite3.Connection) -> str:
    """For the trigram index."""
    return _all(query, lambda term: _grams(term, db))


def strong(query: Query) -> bool:
    """Whether the word index says nearly all there is to say."""
    return all(t.kind is not TermKind.FRAGMENT or len(_inner(t)) > 1 for g in query.all for t in g)


def pieces(query: Query) -> bool:
    """Whether a piece of a word may be asked for, about which the trigram index knows more."""
    return any(t.kind is TermKind.FRAGMENT for g in query.all for t in g)


def excluded(query: Query) -> str:
    """What the word index can leave out by itself; only plain words, on which it can't be wrong."""
    return " OR ".join(f'"{t.text}"' for t in query.none if t.kind is TermKind.WORD and _plain(t.text))


def marked(roots: Sequence[int], roles: Sequence[str], tools: Sequence[str]) -> str:
    """A scope for the word index."""
    groups = (
        [word_mark("l", r) for r in roots],
        [word_mark("r", r) for r in roles],
        [word_mark("t", t) for t in tools],
    )
    return _join(_either(_quoted(m) for m in g) for g in groups if g)


def gram_marked(roots: Sequence[int]) -> str:
    """A scope for the trigram index."""
    return _either(_quoted(gram_mark(r)) for r in roots)


def _all(query: Query, expression: Callable[[Term], str]) -> str:
    found = []
    for group in query.all:
        terms = [expression(t) for t in group]
        if terms and all(terms):
            found.append(_either(terms))
    return _join(found)


def _words(term: Term) -> str:
    row = _inner(term) if term.kind is TermKind.FRAGMENT else words(clean(term.text))
    parts = [_quoted(w) for w in dict.fromkeys(row)]
    if term.kind is TermKind.PREFIX and row:
        parts = [*(_quoted(w) for w in dict.fromkeys(row[:-1])), _quoted(row[-1]) + " *"]
        row = row[:-1]
    return _join([*parts, *(_either(map(_quoted, marks)) for marks in pair_tests(row))])


def _beginnings(term: Term) -> str:
    tail = _TAIL.search(fold(clean(term.text))) if term.kind is TermKind.FRAGMENT else None
    return _join(x for x in (_words(term), _quoted(tail[0]) + " *" if tail else "") if x)


def _inner(term: Term) -> list[str]:
    """The words a fragment has whole: what stands at its ends may be a piece of a longer one."""
    return _INNER.findall(fold(clean(term.text)))


def _grams(term: Term, db: sqlite3.Connection) -> str:
    folded = fold(clean(term.text))
    if term.kind is TermKind.FRAGMENT:
        return _of_run(folded) if len(folded) >= GRAM else _of_endings(folded, db)
    return _join(x for w in words(folded) if (x := _of_run(w)))


def _of_run(folded: str) -> str:
    """Both ends, which the word index knows nothing of; then the rarest."""
    grams = list(dict.fromkeys(folded[i : i + GRAM] for i in range(len(folded) - GRAM + 1)))
    ends, inner = [*grams[:_ENDS], *grams[-_ENDS:]], grams[_ENDS:-_ENDS]
    rarest = sorted(inner, key=lambda g: sum(_COMMON.get(c, 0) for c in g))
    return _join(_quoted(g) for g in dict.fromkeys([*ends, *rarest][:_GRAMS_ASKED]))


def _of_endings(folded: str, db: sqlite3.Connection) -> str:
    """Every trigram that begins so; "" where they are too many to ask for."""
    if not folded:
        return ""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.gram_terms USING fts5vocab('main', 'grams', 'row')")
    sql = "SELECT term FROM temp.gram_terms WHERE term >= ? AND term < ? LIMIT ?"
    rows = db.execute(sql, (folded, folded + "\U0010ffff", _MOST_ENDINGS + 1)).fetchall()
    if len(rows) > _MOST_ENDINGS:
        return ""
    return _either(_quoted(t) for (t,) in rows) or _quoted(folded.ljust(GRAM, "\ue000"))


def _plain(text: str) -> bool:
    return text.isascii() and text.isalnum()


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'


def _join(parts: Iterable[str]) -> str:
    return " AND ".join(parts)


def _either(parts: Iterable[str]) -> str:
    joined = " OR ".join(f"({p})" for p in parts)
    return f"({joined})" if joined else ""
