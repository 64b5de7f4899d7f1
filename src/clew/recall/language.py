"""What people type into a search, as a query: words, "phrases", OR, -not, prefix*, pieces of paths and code, CJK.

Nothing typed is an error. What can't be understood is searched for as plain words, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clew.store.indexed import clean
from clew.store.query import Query, Term, TermKind

MOST_CHARACTERS, MOST_TERMS = 2000, 32
_TOKEN = re.compile(r'(-?)"([^"]*)"|(\S+)')
_WORD = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)+")  # don't, pre-commit, a UUID: words in a row
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3040-\u30ff\u3105-\u318f\u3400-\u9fff"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)  # scripts that are written without spaces, or glue endings to words
_AROUND = ",;!?\u201c\u201d\u201e\u00ab\u00bb"


class _Bad(ValueError):
    """Why a query can't be taken as it stands."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The query, and what to tell the person who typed it; an empty query finds nothing."""

    query: Query
    notes: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.query.all


class _Token(NamedTuple):
    text: str
    quoted: bool
    negative: bool


def parse(text: str) -> Parsed:
    """Never raises. `a b` wants both, `a OR b c` wants c and one of a and b."""
    notes = []
    text = clean(text).replace("\0", " ")
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS]
        notes.append(f"only the first {MOST_CHARACTERS} characters of the query count")
    try:
        query = _query(list(_tokens(text)))
    except _Bad as why:
        query = _plain(text)
        looked_for = ", ".join(g[0].text for g in query.all)
        notes.append(f"{why}: searched for the words {looked_for}" if looked_for else f"{why}: nothing to search for")
    else:
        if not query.all:
            notes.append("nothing to search for")
    count = sum(map(len, query.all)) + len(query.none)
    if count > MOST_TERMS:
        query = Query(query.all[:MOST_TERMS], query.none[: max(0, MOST_TERMS - len(query.all))])
        notes.append(f"only the first {MOST_TERMS} terms count")
    return Parsed(query, tuple(notes))


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        minus, quoted, bare = found.groups()
        if bare is None:
            yield _Token(quoted, quoted=True, negative=bool(minus))
        elif bare.startswith(('"', '-"')):
            raise _Bad("a quotation mark has no partner")
        elif bare == "-":
            raise _Bad("a minus stands alone")
        elif bare[0] == "-" and bare[1] != "-":
            yield _Token(bare[1:], quoted=False, negative=True)
        else:
            yield _Token(bare, quoted=False, negative=False)


def _query(tokens: Sequence[_Token]) -> Query:
    groups: list[list[Term]] = []
    none: list[Term] = []
    joins = negates = False
    for t in _without_brackets(tokens):
        if not t.quoted and not t.negative and t.text in ("OR", "||", "|"):
            if joins or not groups:
                raise _Bad("OR needs something on both sides")
            joins = True
            continue
        if not t.quoted and not t.negative and t.text in ("AND", "&&"):
            continue
        if not t.quoted and not t.negative and t.text == "NOT":
            negates = True
            continue
        term = _term(t)
        negative, negates = t.negative or negates, False
        if term is None:
            continue
        if negative and joins:
            raise _Bad("OR with something to leave out isn't possible")
        if negative:
            none.append(term)
        elif joins:
            groups[-1].append(term)
        else:
            groups.append([term])
        joins = False
    if joins or negates:
        raise _Bad(f"{'OR' if joins else 'NOT'} stands at the end")
    if none and not groups:
        raise _Bad("only things to leave out")
    return Query(tuple(tuple(g) for g in groups), tuple(none))


def _without_brackets(tokens: Sequence[_Token]) -> list[_Token]:
    """Brackets around alternatives, which OR needs none of, are taken off; a fragment such as `call(` keeps its own."""
    found = list(tokens)
    opened: int | None = None
    for n, t in enumerate(tokens):
        if t.quoted:
            continue
        if opened is None and t.text.startswith("(") and t.text.count("(") > t.text.count(")"):
            opened = n
        elif opened is not None and t.text.endswith(")") and t.text.count(")") > t.text.count("("):
            inside = tokens[opened + 1 : n]
            if not len(inside) % 2 or [x.text == "OR" for x in inside] != [i % 2 == 0 for i in range(len(inside))]:
                raise _Bad("brackets can only hold alternatives, as in (a OR b)")
            found[opened] = tokens[opened]._replace(text=tokens[opened].text[1:])
            found[n] = t._replace(text=t.text[:-1])
            opened = None
    return [t for t in found if t.quoted or t.text]


def _term(t: _Token) -> Term | None:
    text = t.text.strip() if t.quoted else _trimmed(t.text)
    if not text:
        return None
    if _UNSPACED.search(text):
        return Term(text.rstrip("*") if not t.quoted else text, TermKind.FRAGMENT)
    found = _WORD.findall(text)
    if t.quoted:
        kind = TermKind.PHRASE if len(found) > 1 else TermKind.WORD
        return Term(" ".join(found), kind) if found else Term(text, TermKind.FRAGMENT)
    if found == [text]:
        return Term(text, TermKind.WORD)
    if text.endswith("*"):
        stem = text.rstrip("*")
        if not _WORD.search(stem):
            return Term(text, TermKind.FRAGMENT)
        return Term(stem, TermKind.PREFIX if _WORD.fullmatch(stem) else TermKind.FRAGMENT)
    if _JOINED.fullmatch(text):
        return Term(text, TermKind.PHRASE)
    return Term(text, TermKind.FRAGMENT)


def _trimmed(text: str) -> str:
    """Without the punctuation of a sentence, where there is more than that."""
    inner = text.strip(_AROUND)
    inner = inner[:-1] if inner.endswith((".", ":")) and _WORD.search(inner) else inner
    return inner or text


def _plain(text: str) -> Query:
    found: list[Term] = []
    for chunk in text.split():
        if _UNSPACED.search(chunk):
            found.append(Term(chunk.strip('"-*()'), TermKind.FRAGMENT))
        else:
            found += [Term(w, TermKind.WORD) for w in _WORD.findall(chunk) if w not in ("OR", "AND", "NOT")]
    return Query(tuple((t,) for t in dict.fromkeys(found) if t.text))
