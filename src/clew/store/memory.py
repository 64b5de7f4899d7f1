"""The store in memory: an implementation of its own, as strict as the others, for tests and for agents that keep nothing.

One lock guards all of it. Every write checks first and changes afterwards, so that what raises has changed nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from clew import jsonio
from clew.errors import Conflict, LeaseLost, UnknownReference
from clew.jsonio import Json
from clew.store import memory_data as md
from clew.store import memory_search, memory_whole
from clew.store.addresses import parse
from clew.store.base import ANY, DEFAULT_LEASE
from clew.store.indexed import clean
from clew.store.lease import live
from clew.store.mask import Masker
from clew.store.memory_data import Data, Line, rounded
from clew.store.parts import part_text, readable
from clew.store.query import Hit, Query, Scope
from clew.store.records import (
    KINDS,
    Appended,
    Dump,
    Epoch,
    Event,
    Finding,
    Freed,
    Info,
    Lease,
    NewSession,
    Original,
    Purged,
    Session,
    SessionFilter,
    State,
    Stored,
)
from clew.store.tenants import spelled
from clew.transcript import REFERENCE, Message, reference

_NAMED: WeakValueDictionary[str, md.House] = WeakValueDictionary()
_NAMING = threading.Lock()


class MemoryStore:
    """Handles of one name share what they hold for as long as one of them lives; a copy shares it too."""

    def __init__(self, name: str = "", *, tenant: str = "", clock: Callable[[], float] = time.time) -> None:
        spelled(tenant)  # as strict about names as where they are files
        self._name = name
        self._tenant = tenant
        self._clock = clock
        with _NAMING:
            house = _NAMED.get(name) if name else None
            self._house = house or md.House()
            if name:
                _NAMED[name] = self._house

    def __deepcopy__(self, memo: dict[int, Any]) -> MemoryStore:
        return self.for_tenant(self._tenant)

    @property
    def url(self) -> str:
        return f"memory://{self._name}"

    @property
    def tenant(self) -> str:
        return self._tenant

    def for_tenant(self, tenant: str) -> MemoryStore:
        other = MemoryStore(tenant=tenant, clock=self._clock)
        other._name, other._house = self._name, self._house
        return other

    def tenants(self) -> Sequence[str]:
        with self._house.lock:
            return tuple(sorted(t for t, d in self._house.tenants.items() if d.lines))

    def close(self) -> None:
        """Nothing is open."""

    def now(self) -> float:
        return self._clock()

    @contextmanager
    def _held(self) -> Iterator[Data]:
        with self._house.lock:
            yield self._house.tenants.setdefault(self._tenant, Data())

    # -- sessions

    def create(self, new: NewSession) -> Session:
        with self._held() as data:
            return self._create(data, new, self.now())

    def _create(self, data: Data, new: NewSession, now: float) -> Session:
        if new.kind not in KINDS:
            raise ValueError(f"unknown kind {new.kind!r}; one of {', '.join(KINDS)}")
        new = replace(new, id=clean(new.id), parent=clean(new.parent))
        root, chain, inherited = new.id, "", 0
        if new.parent:
            above = data.line(new.parent)
            if not 0 <= new.shared <= above.session.length:
                raise Conflict(
                    f"{new.parent!r} has {above.session.length} messages, not {new.shared}", hint="fork within it"
                )
            root, chain = above.session.root, data.chain_at(above, new.shared - 1)
            if new.shared:
                inherited = sum(1 for e in data.inherited(above) + above.epochs if e[2] <= new.shared)
        elif new.shared:
            raise ValueError("only a child shares messages")
        if new.id in data.lines:
            raise Conflict(f"there is a session {new.id!r} already", hint="choose another id")
        began = rounded(now if new.created is None else new.created)
        source, model, title, goal, workspace = map(clean, (new.source, new.model, new.title, new.goal, new.workspace))
        made = Session(
            new.id, self._tenant, source, model, title, goal, workspace, new.kind, new.parent, new.shared, inherited,
            root, began, began, new.shared, chain, "", 0.0, _extra(new.extra),
        )  # fmt: skip
        data.lines[new.id] = Line(made)
        return made

    def session(self, session: str) -> Session:
        with self._held() as data:
            return data.line(session).session

    def sessions(
        self, where: SessionFilter = ANY, *, limit: int = 0, before: str = "", recent: bool = False
    ) -> Sequence[Session]:
        with self._held() as data:
            newest = list(reversed(data.lines.values()))
            if recent:
                newest.sort(key=lambda line: line.session.updated, reverse=True)
            if before:
                newest = newest[newest.index(data.line(before)) + 1 :]
            found = [n.session for n in newest if md.passes(where, n.session)]
            return found[:limit] if limit else found

    def update(
        self,
        session: str,
        *,
        title: str | None = None,
        goal: str | None = None,
        model: str | None = None,
        workspace: str | None = None,
        source: str | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> Session:
        texts = {"title": title, "goal": goal, "model": model, "workspace": workspace, "source": source}
        changes: dict[str, Any] = {k: clean(v) for k, v in texts.items() if v is not None}
        with self._held() as data:
            line = data.line(session)
            if extra is not None:
                changes["extra"] = _extra({**line.session.extra, **extra})
            line.session = replace(line.session, updated=max(line.session.updated, rounded(self.now())), **changes)
            return line.session

    def end(self, session: str, reason: str) -> Session:
        with self._held() as data:
            line = data.line(session)
            line.session = replace(line.session, end_reason=clean(reason), ended=rounded(self.now()))
            return line.session

    def reopen(self, session: str) -> Session:
        with self._held() as data:
            line = data.line(session)
            line.session = replace(line.session, end_reason="", ended=0.0)
            return line.session

    def rotate(
        self, parent: str, child: NewSession, *, unwritten: Sequence[Message] = (), messages: Sequence[Message] = ()
    ) -> Session:
        with self._held() as data:
            above = data.line(parent)
            if reason := above.session.end_reason:
                raise Conflict(f"session {parent!r} has ended ({reason})", hint="go on at the tip of its lineage")
            before = above.session, len(above.messages), above.open_calls
            had_child = clean(child.id) in data.lines
            try:
                self._append(data, above, unwritten)
                self._create(data, child, self.now())
                self.end(parent, "compression")
                self._append(data, data.line(child.id), messages)
            except BaseException:
                above.session, length, above.open_calls = before
                del above.messages[length:]
                if not had_child:
                    data.lines.pop(clean(child.id), None)
                raise
            return data.line(child.id).session

    # -- messages

    def append(
        self,
        session: str,
        messages: Sequence[Message],
        *,
        at: int,
        chain: str | None = None,
        times: Sequence[float] | None = None,
    ) -> Appended:
        with self._held() as data:
            said = times if times is not None else [self.now()] * len(messages)
            return data.append(data.line(session), messages, at, chain, said)

    def _append(self, data: Data, line: Line, messages: Sequence[Message]) -> None:
        data.append(line, messages, line.session.length, None, [self.now()] * len(messages))

    def messages(self, session: str, start: int = 0, end: int | None = None) -> Sequence[Stored]:
        with self._held() as data:
            return data.read(data.line(session), start, end)

    def chain(self, session: str, position: int) -> str:
        with self._held() as data:
            return data.chain_at(data.line(session), position)

    # -- the log

    def add_event(self, session: str, kind: str, body: Json) -> Event:
        with self._held() as data:
            line = data.line(session)
            line.events.append((clean(kind), rounded(self.now()), jsonio.dumps(body)))
            return _event(len(line.events), line.events[-1])

    def events(self, session: str, *, after: int = 0, kind: str = "") -> Sequence[Event]:
        with self._held() as data:
            numbered = enumerate(data.line(session).events, 1)
            return [_event(n, e) for n, e in numbered if n > after and clean(kind) in ("", e[0])]

    # -- epochs and leases

    def commit_epoch(self, session: str, epoch: Epoch, lease: Lease | None) -> Epoch:
        with self._held() as data:
            line = data.line(session)
            if lease is not None:
                _fence(line, lease)
            known = data.inherited(line) + line.epochs
            expected = (known[-1][0] if known else 0) + 1
            if epoch.number != expected:
                raise Conflict(
                    f"the next epoch of {session!r} is {expected}, not {epoch.number}", hint="read its epochs again"
                )
            inside = 0 <= epoch.position <= line.session.length
            if not inside or data.chain_at(line, epoch.position - 1) != epoch.base_chain:
                raise Conflict(
                    f"epoch {epoch.number} of {session!r} was made on another prefix", hint="read the session again"
                )
            time = rounded(self.now())
            line.epochs.append((epoch.number, epoch.base_chain, epoch.position, time, jsonio.dumps(epoch.body)))
            return _epoch(line.epochs[-1])

    def epochs(self, session: str) -> Sequence[Epoch]:
        with self._held() as data:
            line = data.line(session)
            return [_epoch(e) for e in data.inherited(line) + line.epochs]

    def acquire(self, session: str, holder: str, seconds: float = DEFAULT_LEASE) -> Lease | None:
        with self._held() as data:
            line, holder = data.line(session), clean(holder)
            other, token, length, expires = line.lease
            if other != holder:
                if other and live(expires, length, self.now()):
                    return None
                token += 1
            return self._take(line, holder, token, seconds)

    def renew(self, lease: Lease, seconds: float = DEFAULT_LEASE) -> Lease:
        with self._held() as data:
            line = data.line(lease.session)
            _fence(line, lease)
            return self._take(line, lease.holder, lease.token, seconds)

    def release(self, lease: Lease) -> None:
        with self._held() as data:
            line = data.lines.get(clean(lease.session))
            if line and line.lease[:2] == (lease.holder, lease.token):
                line.lease = ("", lease.token, 0.0, 0.0)

    def lease(self, session: str) -> Lease | None:
        with self._held() as data:
            line = data.line(session)
            holder, token, length, expires = line.lease
            held = holder and live(expires, length, self.now())
            return Lease(line.session.id, holder, token, expires) if held else None

    def _take(self, line: Line, holder: str, token: int, seconds: float) -> Lease:
        line.lease = (holder, token, seconds, rounded(self.now() + seconds))
        return Lease(line.session.id, holder, token, line.lease[3])

    # -- originals

    def add_originals(self, session: str, originals: Sequence[Original]) -> None:
        with self._held() as data:
            line = data.line(session)
            for o in originals:
                there = data.read(line, o.position, o.position + 1) if o.position >= 0 and o.part >= 0 else []
                o = replace(o, text=data.masked_texts.get(o.address, o.text))  # noqa: PLW2901 - what was masked stays so
                pointed = bool(there) and part_text(there[0].message, o.part) == o.text
                line.originals.setdefault(o.address, o if pointed else replace(o, position=-1, part=-1))

    def original(self, reference: str) -> Original:
        letters = parse(reference)
        with self._held() as data:
            found: dict[str, Original] = {}
            for line in data.lines.values():
                found |= {a: o for a, o in line.originals.items() if a.startswith(letters) and a not in found}
            for line in data.lines.values():
                for m in line.messages:
                    if m.address.startswith(letters) and m.address not in found:
                        found[m.address] = Original(m.address, readable(m.message))
        if not found:
            raise UnknownReference(
                f"no original is known as {reference!r}", hint="it may belong to another tenant or store"
            )
        if len(found) > 1:
            whole = ", ".join(REFERENCE + a for a in sorted(found))
            raise Conflict(f"{reference!r} may mean {len(found)} originals", hint=f"use one of {whole}")
        return next(iter(found.values()))

    def short(self, address: str) -> str:
        short = reference(address)
        letters = short.removeprefix(REFERENCE)
        with self._held() as data:
            known = {a for line in data.lines.values() for a in line.originals}
            known |= {m.address for line in data.lines.values() for m in line.messages}
        return REFERENCE + address if any(a != address and a.startswith(letters) for a in known) else short

    # -- state and usage

    def put_state(self, session: str, key: str, position: int, body: Json, *, keep: int = 1) -> None:
        with self._held() as data:
            held = data.line(session).states.setdefault(clean(key), {})
            held[position] = jsonio.dumps(body)
            for old in sorted(held, reverse=True)[keep:] if keep else ():
                del held[old]

    def get_state(self, session: str, key: str, *, at: int | None = None) -> State | None:
        with self._held() as data:
            line: Line | None = data.line(session)
            while line is not None:
                held = line.states.get(clean(key), {})
                fitting = [p for p in held if at is None or p <= at]
                if fitting:
                    return State(clean(key), max(fitting), jsonio.loads(held[max(fitting)]))
                if not line.session.shared:
                    return None
                at = line.session.shared if at is None else min(at, line.session.shared)
                line = data.above(line)
            return None

    def add_usage(self, session: str, model: str, figures: Mapping[str, float]) -> None:
        with self._held() as data:
            sums = data.line(session).usage.setdefault(clean(model), {})
            for name, value in figures.items():
                sums[clean(name)] = sums.get(clean(name), 0.0) + float(value)

    def usage(self, session: str) -> Mapping[str, Mapping[str, float]]:
        with self._held() as data:
            return {m: dict(sorted(f.items())) for m, f in sorted(data.line(session).usage.items()) if f}

    # -- search

    def find(self, query: Query, scope: Scope, *, limit: int = 20, offset: int = 0) -> Sequence[Hit]:
        with self._held() as data:
            return memory_search.find(data, query, scope, limit, offset)

    # -- whole sessions

    def dump(self, session: str) -> Dump:
        with self._held() as data:
            return memory_whole.dump(data.line(session))

    def load(self, dump: Dump) -> Session:
        with self._held() as data:
            s = dump.session
            new = NewSession(
                s.id, s.source, s.model, s.title, s.goal, s.workspace, s.kind, s.parent, s.shared, s.extra, s.created
            )  # fmt: skip
            self._create(data, new, s.created)
            try:
                return memory_whole.fill(data, dump)
            except BaseException:
                del data.lines[clean(s.id)]
                raise

    def delete(self, sessions: Sequence[str], *, preview: bool = False) -> Freed:
        with self._held() as data:
            return memory_whole.delete(data, sessions, preview=preview)

    def purge(self, secret: str, mask: str) -> Purged:
        with self._held() as data:
            return memory_whole.purge(data, Masker(secret, mask))

    # -- upkeep

    def info(self) -> Info:
        with self._held() as data:
            lines = data.lines.values()
            contents = data.contents()
            return Info(
                self.url, "memory", self._tenant, 1, len(lines), sum(len(n.messages) for n in lines), len(contents),
                sum(len(n.originals) for n in lines), sum(len(n.epochs) for n in lines), sum(len(c[2]) for c in contents), {},
            )  # fmt: skip

    def check(self) -> Sequence[Finding]:
        with self._held() as data:
            return memory_whole.check(data)

    def vacuum(self) -> Info:
        return self.info()

    def reindex(self) -> int:
        """Search reads the messages themselves."""
        return self.info().messages

    def walk(self) -> Iterator[Session]:
        yield from reversed(self.sessions())


def _extra(extra: Mapping[str, Json]) -> Mapping[str, Json]:
    kept: dict[str, Json] = jsonio.copy({k: v for k, v in extra.items() if v is not None})
    return kept


def _event(number: int, held: tuple[str, float, bytes]) -> Event:
    return Event(number, held[0], held[1], jsonio.loads(held[2]))


def _epoch(held: tuple[int, str, int, float, bytes]) -> Epoch:
    number, base, position, time, body = held
    return Epoch(number, base, position, jsonio.loads(body), time)


def _fence(line: Line, lease: Lease) -> None:
    if line.lease[:2] != (lease.holder, lease.token):
        who = f"; {line.lease[0]} has it" if line.lease[0] else ""
        raise LeaseLost(
            f"the lease on {line.session.id!r} was lost{who}", hint="start over from the session as it is now"
        )
