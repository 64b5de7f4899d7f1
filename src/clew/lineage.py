"""What becomes of sessions: begun, forked, rotated, resumed; titles and goals moved along; who may compact one now.

A lineage is the tree of sessions that came out of one. Compacting in place needs none of this: the id stays for life.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random, SystemRandom

from clew.errors import ClewWarning, Conflict, LeaseLost, StoreBusy, StoreError
from clew.store.base import DEFAULT_LEASE, Store
from clew.store.records import Lease, NewSession, Session, SessionFilter
from clew.transcript import Message

ENVIRONMENT = "CLEW_SESSION_ID"
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_NUMBERED = re.compile(r"^(.*?)(?: #(\d+))?$", re.DOTALL)
_GOES_ON = ("compression", "branch", "new", "import")  # kinds of children in which the conversation itself goes on

current_session: ContextVar[str] = ContextVar("clew_session", default="")


def new_id(now: float | None = None, rng: Random | None = None) -> str:
    """Time, then 40 random bits: ids sort by when they were made, and two hosts don't make the same one."""
    seconds = time.time() if now is None else now
    rng = rng or SystemRandom()
    whole = time.strftime("%Y%m%dT%H%M%S", time.gmtime(seconds))
    return f"{whole}{int(seconds * 1000) % 1000:03d}-{''.join(rng.choice(_LETTERS) for _ in range(8))}"


# -- which session this is, for everything that runs inside it


def session_id() -> str:
    """The session of this context, else of the environment; "" where there is none."""
    return current_session.get() or os.environ.get(ENVIRONMENT, "")


def follow(session: str) -> None:
    """From here on this context, and processes started from it, belong to `session`."""
    current_session.set(session)
    os.environ[ENVIRONMENT] = session


@contextmanager
def within(session: str) -> Iterator[str]:
    """This context belongs to `session` for as long as the block runs. The environment, which all threads share, is
    left alone; give children `{ENVIRONMENT: session}` yourself.
    """
    token = current_session.set(session)
    try:
        yield session
    finally:
        current_session.reset(token)


class SessionLogFilter(logging.Filter):
    """Gives every log record a `session`, for formats such as `%(session)s %(message)s`."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.session = session_id()
        return True


# -- beginnings


@dataclass(frozen=True, slots=True)
class Lineage:
    """What can be done with the sessions of a store. Ids come from its clock and `rng`."""

    store: Store
    rng: Random = field(default_factory=SystemRandom)

    def begin(
        self,
        *,
        source: str = "",
        model: str = "",
        title: str = "",
        goal: str = "",
        workspace: str = "",
        id: str = "",  # noqa: A002 - the word people use
    ) -> Session:
        """A new root, under an id of its own or one the caller knows it by."""
        return self.store.create(NewSession(id or self._id(), source, model, title, goal, workspace))

    def fork(self, session: str, at: int | None = None, *, title: str = "", end_parent: bool = False) -> Session:
        """A branch that shares the first `at` messages (all, where not given). The goal goes along, the title is
        numbered; the parent stays as it is, or is ended with "branched".
        """
        above = self.store.session(session)
        shared = above.length if at is None else at
        made = self.store.create(self._below(above, "branch", shared, title or self.next_title(above)))
        if end_parent:
            self.store.end(session, "branched")
        return made

    def reset(self, session: str) -> Session:
        """An empty session after this one, which ends with "reset"; the goal doesn't go along."""
        above = self.store.session(session)
        made = self.store.create(
            NewSession(self._id(), above.source, above.model, workspace=above.workspace, parent=session, kind="new")
        )
        self.store.end(session, "reset")
        return made

    def delegate(self, session: str, *, goal: str, source: str = "subagent") -> Session:
        """A subagent's session under this one, which stays active."""
        return self._beside(session, "subagent", goal, source)

    def review(self, session: str, *, goal: str = "", source: str = "review") -> Session:
        """A session that looks at this one with all of its messages, and doesn't go on with it."""
        above = self.store.session(session)
        return self.store.create(self._below(above, "review", above.length, above.title, goal or above.goal, source))

    def rotate(
        self,
        session: str,
        messages: Sequence[Message],
        *,
        unwritten: Sequence[Message] = (),
        id: str = "",  # noqa: A002 - the word people use
    ) -> Session:
        """The conversation goes on in a child that begins with `messages`; the parent is ended with "compression" and
        has every message that was not written yet. All of it happens, or nothing does.
        """
        above = self.store.session(session)
        child = self._below(above, "compression", 0, self.next_title(above), id_=id)
        return self.store.rotate(session, child, unwritten=unwritten, messages=messages)

    # -- finding one's way

    def root(self, session: str) -> Session:
        return self.store.session(self.store.session(session).root)

    def tip(self, session: str) -> Session:
        """Where the conversation goes on: down the newest child that continues it, to a leaf. Subagents, reviews and
        branches of a session that is still active are side lines.
        """
        at = self.store.session(session)
        while True:
            nexts = [
                c for c in self.children(at.id) if c.kind in _GOES_ON and (c.kind == "compression" or not at.active)
            ]
            if not nexts:
                return at
            at = nexts[0]

    def resume(self, session: str) -> Session:
        """The tip of a conversation, open for messages. An ancestor may be resumed itself: `store.reopen`."""
        tip = self.tip(session)
        return tip if tip.active else self.store.reopen(tip.id)

    def children(self, session: str) -> Sequence[Session]:
        """The latest made first."""
        return self.store.sessions(SessionFilter(parent=session))

    def tree(self, session: str) -> Tree:
        """The whole lineage a session belongs to."""
        root = self.root(session)
        members = self.store.sessions(SessionFilter(root=root.id))
        below: dict[str, list[Tree]] = {}
        tree = Tree(root, ())
        for s in members:  # the latest made first: children before their parents
            tree = Tree(s, tuple(reversed(below.pop(s.id, []))))
            below.setdefault(s.parent, []).append(tree)
        return tree

    def next_title(self, session: Session) -> str:
        """After "Task" comes "Task #2", whichever of the lineage it is asked of."""
        if not session.title:
            return ""
        stem = _split(session.title)[0]
        family = self.store.sessions(SessionFilter(root=session.root))
        numbers = [n for s in family for at, n in [_split(s.title)] if at == stem]
        return f"{stem} #{max(numbers, default=1) + 1}"

    def with_descendants(self, session: str) -> tuple[str, ...]:
        """A session and all that came out of it, for deleting."""
        found = [session]
        for name in found:
            found += [c.id for c in self.children(name)]
        return tuple(found)

    def with_ancestors(self, sessions: Iterable[str]) -> tuple[str, ...]:
        """These and all they came out of, parents before their children: what a copy of them needs."""
        found: dict[str, None] = {}
        for name in sessions:
            above: list[str] = []
            at = name
            while at and at not in found:
                above.append(at)
                at = self.store.session(at).parent
            found |= dict.fromkeys(reversed(above))
        return tuple(found)

    def _beside(self, session: str, kind: str, goal: str, source: str) -> Session:
        above = self.store.session(session)
        return self.store.create(self._below(above, kind, 0, "", goal, source))

    def _below(
        self,
        above: Session,
        kind: str,
        shared: int,
        title: str,
        goal: str | None = None,
        source: str = "",
        id_: str = "",
    ) -> NewSession:
        return NewSession(
            id_ or self._id(), source or above.source, above.model, title, above.goal if goal is None else goal,
            above.workspace, kind, above.id, shared, above.extra,
        )  # fmt: skip

    def _id(self) -> str:
        return new_id(self.store.now(), self.rng)


@dataclass(frozen=True, slots=True)
class Tree:
    """A session and what came out of it, in the order it did."""

    session: Session
    children: tuple[Tree, ...]

    def __iter__(self) -> Iterator[Session]:
        return (session for session, _ in self.walk())

    def walk(self) -> Iterator[tuple[Session, int]]:
        """Each session, parents first, with how far it stands below the root. A lineage may be deeper than Python's stack."""
        todo = [(self, 0)]
        while todo:
            node, depth = todo.pop()
            yield node.session, depth
            todo += [(child, depth + 1) for child in reversed(node.children)]


def _split(title: str) -> tuple[str, int]:
    found = _NUMBERED.match(title)
    assert found is not None
    return found[1], int(found[2] or 1)


# -- leases


def holder(rng: Random | None = None) -> str:
    """Who wants a lease: process, host and thread tell people where to look, the nonce tells two of them apart."""
    nonce = (rng or SystemRandom()).getrandbits(48)
    return f"{os.getpid()}:{socket.gethostname()}:{threading.get_ident()}:{nonce:012x}"


@dataclass(slots=True)
class Held:
    """The right to compact, as far as there is one. `lease` is None where leases are broken: the commit's own checks
    must do then.
    """

    lease: Lease | None
    renew: Callable[[], None]


_said: set[str] = set()


@contextmanager
def compacting(
    store: Store, session: str, seconds: float = DEFAULT_LEASE, *, rng: Random | None = None
) -> Iterator[Held | None]:
    """The lease on a session for the length of the block; None where another compacts it now, and it should be left to
    that one. `renew` is to be called while a summary runs. Broken leases don't stop an agent: this says so once, goes on
    without, and the fenced commit still lets only one of two epochs in.
    """
    me = holder(rng)
    try:
        lease = store.acquire(session, me, seconds)
    except StoreBusy:
        raise
    except StoreError as e:
        _say_once(store, e)
        yield Held(None, _nothing)
        return
    if lease is None:
        yield None
        return
    held = Held(lease, _nothing)
    held.renew = lambda: _renew(store, held, seconds)
    try:
        yield held
    finally:
        if held.lease is not None:
            _give_back(store, held.lease)


def _renew(store: Store, held: Held, seconds: float) -> None:
    """LeaseLost goes through: what runs is for nothing. Anything else is left for the commit to decide."""
    if held.lease is None:
        return
    try:
        held.lease = store.renew(held.lease, seconds)
    except (LeaseLost, Conflict):
        raise
    except StoreError as e:
        _say_once(store, e)


def _give_back(store: Store, lease: Lease) -> None:
    """A lease that can't be given back runs out by itself."""
    try:
        store.release(lease)
    except StoreError as e:
        _say_once(store, e)


def _say_once(store: Store, error: StoreError) -> None:
    key = f"{store.url}:{store.tenant}"
    if key not in _said:
        _said.add(key)
        warnings.warn(ClewWarning(f"compaction leases don't work ({error}); going on without them"), stacklevel=3)


def _nothing() -> None:
    """No lease, nothing to renew."""
