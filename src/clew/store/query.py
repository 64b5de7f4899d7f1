"""A search as a value: what is looked for, where, and what was found. What people type is parsed by `clew.recall`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class TermKind(Enum):
    """How a term matches: a whole word, the beginning of one, words in a row, or any run of characters."""

    WORD = "word"
    PREFIX = "prefix"
    PHRASE = "phrase"
    FRAGMENT = "fragment"


@dataclass(frozen=True, slots=True)
class Term:
    """One thing looked for. Case never matters."""

    text: str
    kind: TermKind = TermKind.WORD


@dataclass(frozen=True, slots=True)
class Query:
    """A message matches when it has, of every group in `all`, at least one term, and none of `none`."""

    all: tuple[tuple[Term, ...], ...]
    none: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look; an empty field doesn't limit. `lineages` are root ids. `newest` asks for the order of time
    instead of the order of fit. `in_view` names sessions, and from which position to before which one (None: to the end)
    their messages are in view now, to be left out. `per_lineage`, where it isn't 0, is how many messages of one lineage
    are looked at, the newest that match.
    """

    sessions: tuple[str, ...] = ()
    lineages: tuple[str, ...] = ()
    without_lineages: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    without_sources: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    newest: bool = False
    in_view: tuple[tuple[str, int, int | None], ...] = ()
    per_lineage: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that matches. `session` is the one that wrote it; `score` grows with fit."""

    session: str
    root: str
    position: int
    time: float
    role: str
    tool: str
    text: str
    score: float
