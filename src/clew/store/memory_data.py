"""What the store in memory holds, and the steps its methods share. Whoever calls these holds the lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from clew.errors import Conflict, NotFound
from clew.store.calls import OpenCalls
from clew.store.indexed import clean
from clew.store.records import Appended, Original, Session, SessionFilter, Stored
from clew.transcript import Message
from clew.transcript import chain as grow


def rounded(seconds: float) -> float:
    """Times are kept to the millisecond, on every backend."""
    return round(seconds * 1000) / 1000


@dataclass(slots=True)
class Line:
    """One session with what it wrote itself."""

    session: Session
    messages: list[Stored] = field(default_factory=list)
    events: list[tuple[str, float, bytes]] = field(default_factory=list)
    epochs: list[tuple[int, str, int, float, bytes]] = field(default_factory=list)
    originals: dict[str, Original] = field(default_factory=dict)
    states: dict[str, dict[int, bytes]] = field(default_factory=dict)
    usage: dict[str, dict[str, float]] = field(default_factory=dict)
    lease: tuple[str, int, float, float] = ("", 0, 0.0, 0.0)  # holder, token, length, expires
    open_calls: str = "{}"


@dataclass(slots=True)
class Data:
    """One tenant's sessions, in the order they were made."""

    lines: dict[str, Line] = field(default_factory=dict)
    masked: dict[tuple[str, str], Message] = field(
        default_factory=dict
    )  # by address and wire: what came again stays masked
    masked_texts: dict[str, str] = field(default_factory=dict)

    def line(self, session: str) -> Line:
        found = self.lines.get(clean(session))
        if found is None:
            raise NotFound(f"no session {session!r}", hint="`clew sessions list` shows those there are")
        return found

    def above(self, line: Line) -> Line | None:
        return self.lines[line.session.parent] if line.session.parent else None

    def read(self, line: Line, start: int, end: int | None) -> list[Stored]:
        """By position, through the shared prefixes."""
        last = line.session.length if end is None else min(end, line.session.length)
        pieces: list[list[Stored]] = []
        at: Line | None = line
        while at is not None:
            shared = at.session.shared
            pieces.append(at.messages[max(0, start - shared) : max(0, last - shared)])
            last = min(shared, last)
            at = self.above(at) if start < last else None
        return [m for piece in reversed(pieces) for m in piece]

    def chain_at(self, line: Line, position: int) -> str:
        if position < 0:
            return ""
        found = self.read(line, position, position + 1)
        if not found:
            raise NotFound(
                f"session {line.session.id!r} has no message {position}", hint=f"it has {line.session.length}"
            )
        return found[0].chain

    def inherited(self, line: Line) -> list[tuple[int, str, int, float, bytes]]:
        """The epochs a fork took over from its ancestors."""
        forks: list[tuple[Line, Session]] = []
        at = line
        while at.session.inherited and (parent := self.above(at)):
            forks.append((parent, at.session))
            at = parent
        found: list[tuple[int, str, int, float, bytes]] = []
        for parent, fork in reversed(forks):
            found = [e for e in found + parent.epochs if e[2] <= fork.shared][: fork.inherited]
        return found

    def checked(self, line: Line, messages: Sequence[Message], at: int, chain: str | None) -> int:
        """How many of these messages already stand there; raises what an append must raise."""
        s = line.session
        if not 0 <= at <= s.length:
            raise Conflict(
                f"position {at} isn't within the {s.length} messages of {s.id!r}", hint="send what is missing too"
            )
        before = self.chain_at(line, at - 1)
        if chain is not None and chain != before:
            raise Conflict(f"the prefix before {at} of {s.id!r} is another one", hint="fork, or send the whole history")
        there = self.read(line, at, at + len(messages))
        for m, stored in zip(messages, there, strict=False):
            before = grow(before, m.address)
            if before != stored.chain:
                raise Conflict(
                    f"message {stored.position} of {s.id!r} is another one",
                    hint="fork at that position",
                    position=stored.position,
                )
        if len(there) < len(messages) and s.end_reason:
            raise Conflict(
                f"session {s.id!r} has ended ({s.end_reason})", hint="reopen it, or go on at the tip of its lineage"
            )
        return len(there)

    def append(
        self, line: Line, messages: Sequence[Message], at: int, chain: str | None, times: Sequence[float]
    ) -> Appended:
        there = self.checked(line, messages, at, chain)
        calls = OpenCalls(line.open_calls)
        made: list[Stored] = []
        tip, position = line.session.chain, line.session.length
        for m, time in zip(messages[there:], times[there:], strict=True):
            tip = grow(tip, m.address)
            kept = self.masked.get((m.address, m.wire), m)
            tool = calls.tool(kept)
            made.append(Stored(position + len(made), kept, m.address, tip, rounded(time), line.session.id, tool))
        if made:
            updated = max(line.session.updated, *(m.time for m in made))
            line.messages += made
            line.open_calls = calls.text()
            line.session = replace(line.session, length=position + len(made), chain=tip, updated=updated)
        return Appended(line.session.length, line.session.chain, len(made))

    def contents(self) -> set[tuple[str, str, bytes]]:
        """What is kept once, however often it is used."""
        kept = {(m.address, m.message.wire, m.message.raw) for n in self.lines.values() for m in n.messages}
        texts = {
            (o.address, "", o.text.encode("utf-8", "surrogatepass"))
            for n in self.lines.values()
            for o in n.originals.values()
            if o.part < 0
        }
        return kept | texts

    def newest_first(self) -> Iterator[tuple[Line, Stored]]:
        both = [(line, m) for line in self.lines.values() for m in line.messages]
        order = {id(line): n for n, line in enumerate(self.lines.values())}
        yield from sorted(both, key=lambda p: (p[1].time, order[id(p[0])], p[1].position), reverse=True)


@dataclass
class House:
    """All tenants of one named store, and the lock for them."""

    tenants: dict[str, Data] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


def passes(where: SessionFilter, s: Session) -> bool:
    wanted = (
        (where.source, s.source), (where.model, s.model), (where.workspace, s.workspace), (where.root, s.root),
        (where.parent, s.parent), (where.kind, s.kind), (where.title, s.title),
    )  # fmt: skip
    if any(want and clean(want) != have for want, have in wanted) or s.source in map(clean, where.without_sources):
        return False
    if not s.id.startswith(clean(where.id_prefix)) or (where.active is not None and where.active != s.active):
        return False
    return (where.since is None or s.updated >= where.since) and (where.until is None or s.updated <= where.until)
