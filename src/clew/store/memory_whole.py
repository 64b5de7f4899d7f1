"""Whole sessions in memory: out and in, deleted, masked, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from clew import jsonio, wire
from clew.errors import Conflict
from clew.store.mask import Masker
from clew.store.memory_data import Data, Line
from clew.store.records import Dump, Epoch, Event, Finding, Freed, Purged, Session, State, Stored
from clew.transcript import Message
from clew.transcript import chain as grow


def dump(line: Line) -> Dump:
    states = [State(k, p, jsonio.loads(b)) for k, held in sorted(line.states.items()) for p, b in sorted(held.items())]
    return Dump(
        session=line.session,
        messages=tuple(line.messages),
        events=tuple(Event(n, k, t, jsonio.loads(b)) for n, (k, t, b) in enumerate(line.events, 1)),
        epochs=tuple(Epoch(n, c, p, jsonio.loads(b), t) for n, c, p, t, b in line.epochs),
        originals=tuple(line.originals[a] for a in sorted(line.originals)),
        states=tuple(states),
        usage={m: dict(f) for m, f in line.usage.items()},
    )


def fill(data: Data, dumped: Dump) -> Session:
    """Everything but the session itself, which was just made."""
    s = dumped.session
    line = data.line(s.id)
    bare = [m.message for m in dumped.messages]
    data.append(line, bare, line.session.length, None, [m.time for m in dumped.messages])
    line.events = [(e.kind, e.time, jsonio.dumps(e.body)) for e in dumped.events]
    line.epochs = [(e.number, e.base_chain, e.position, e.time, jsonio.dumps(e.body)) for e in dumped.epochs]
    line.originals = {o.address: o for o in dumped.originals}
    for state in dumped.states:
        line.states.setdefault(state.key, {})[state.position] = jsonio.dumps(state.body)
    line.usage = {m: dict(f) for m, f in dumped.usage.items()}
    line.session = replace(
        line.session, updated=s.updated, end_reason=s.end_reason, ended=s.ended, inherited=s.inherited
    )
    return line.session


def delete(data: Data, names: Sequence[str], *, preview: bool) -> Freed:
    going = {n: data.line(n) for n in names}
    for line in data.lines.values():
        if line.session.parent in going and line.session.id not in going:
            raise Conflict(
                f"{line.session.id!r} goes on from {line.session.parent!r}", hint="delete it too, or keep both"
            )
    rest = Data({k: v for k, v in data.lines.items() if k not in going})
    gone = data.contents() - rest.contents()
    freed = Freed(
        len(going), sum(len(n.messages) for n in going.values()), len(gone), sum(len(n.originals) for n in going.values()),
        sum(len(c[2]) for c in gone),
    )  # fmt: skip
    if not preview:
        data.lines = rest.lines
    return freed


def purge(data: Data, masker: Masker) -> Purged:
    found: Counter[str] = Counter()
    seen: set[tuple[str, bytes]] = set()
    for line in data.lines.values():
        line.messages = [_masked(data, m, masker, found, seen) for m in line.messages]
        for address, o in line.originals.items():
            if masker.text(o.text) != o.text:
                data.masked_texts[address] = masker.text(o.text)
                line.originals[address] = replace(o, text=data.masked_texts[address])
                found["originals"] += 1
        line.events = [(k, t, _body(b, masker, found, "events")) for k, t, b in line.events]
        line.epochs = [(n, c, p, t, _body(b, masker, found, "epochs")) for n, c, p, t, b in line.epochs]
        for held in line.states.values():
            held.update({p: _body(b, masker, found, "states") for p, b in held.items()})
        s = line.session
        line.open_calls = masker.json(line.open_calls.encode()).decode()
        line.session = replace(
            s, title=masker.text(s.title), goal=masker.text(s.goal), workspace=masker.text(s.workspace),
            source=masker.text(s.source), model=masker.text(s.model), extra=masker.value(dict(s.extra)),
        )  # fmt: skip
        found["sessions"] += line.session != s
    return Purged({k: n for k, n in found.items() if n})


def _masked(data: Data, m: Stored, masker: Masker, found: Counter[str], seen: set[tuple[str, bytes]]) -> Stored:
    raw = masker.json(m.message.raw)
    meta = masker.value(dict(m.message.meta))
    if raw == m.message.raw and meta == dict(m.message.meta):
        return m
    if raw != m.message.raw and (m.address, m.message.raw) not in seen:
        seen.add((m.address, m.message.raw))
        found["messages"] += 1
    found["meta"] += meta != dict(m.message.meta)
    read = wire.get(m.message.wire).message(raw)
    message = Message(read.role, read.parts, raw, read.wire, meta)
    message.__dict__["address"] = m.address  # it is still the message that chains and references mean
    if raw != m.message.raw:
        data.masked[m.address, m.message.wire] = message
    return replace(m, message=message)


def _body(data: bytes, masker: Masker, found: Counter[str], kind: str) -> bytes:
    masked = masker.json(data)
    found[kind] += masked != data
    return masked


def check(data: Data) -> list[Finding]:
    found = []
    for line in data.lines.values():
        at = data.chain_at(line, line.session.shared - 1)
        for m in line.messages:
            at = grow(at, m.address)
            if m.chain != at:
                found.append(
                    Finding(
                        "messages",
                        f"{line.session.id}: message {m.position} isn't what its prefix hash says",
                        fatal=True,
                    )
                )
        if at != line.session.chain:
            found.append(Finding("sessions", f"{line.session.id}: its end isn't what its messages say", fatal=True))
    return found
