"""Whole sessions in memory: out and in, deleted, masked, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew import jsonio
from clew.errors import Conflict
from clew.store.mask import Masker, masked_message
from clew.store.memory_data import Data, Line
from clew.store.records import Dump, Epoch, Event, Finding, Freed, Original, Purged, Session, State, Stored
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
    going = {line.session.id: line for line in map(data.line, names)}
    staying: dict[str, str] = {}  # the first that goes on from each
    for line in data.lines.values():
        if line.session.parent in going and line.session.id not in going:
            staying.setdefault(line.session.parent, line.session.id)
    for name in going:
        if name in staying:
            raise Conflict(f"{staying[name]!r} goes on from {name!r}", hint="delete it too, or keep both")
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
    """Worked out first and put in place afterwards: where something can't be masked, nothing was."""
    found: Counter[str] = Counter()
    left = tuple(masker.left_in_id(name) for name in data.lines if masker.cleaned in name)
    work = _Masking(masker, found, dict(data.masked), dict(data.masked_texts))
    lines = {name: work.line(line) for name, line in data.lines.items()}
    data.lines, data.masked, data.masked_texts = lines, work.messages, work.texts
    return Purged({k: n for k, n in found.items() if n}, left)


@dataclass(slots=True)
class _Masking:
    """One purge under way. `messages` and `texts` are what has to stay masked when it comes again."""

    masker: Masker
    found: Counter[str]
    messages: dict[tuple[str, str], Message]
    texts: dict[str, str]
    seen: set[tuple[str, bytes]] = field(default_factory=set)

    def line(self, line: Line) -> Line:
        text = self.masker.text
        s = line.session
        session = replace(
            s, title=text(s.title), goal=text(s.goal), workspace=text(s.workspace), source=text(s.source),
            model=text(s.model), end_reason=text(s.end_reason), extra=self.masker.value(dict(s.extra)),
        )  # fmt: skip
        self.found["sessions"] += session != s
        usage: dict[str, dict[str, float]] = {}
        for model, figures in line.usage.items():
            for name, value in figures.items():
                sums = usage.setdefault(text(model), {})
                sums[text(name)] = sums.get(text(name), 0.0) + value
                self.found["usage"] += (text(model), text(name)) != (model, name)
        return Line(
            session,
            [self.message(m) for m in line.messages],
            [(text(k), t, self.body(b, "events", text(k) != k)) for k, t, b in line.events],
            [(n, c, p, t, self.body(b, "epochs")) for n, c, p, t, b in line.epochs],
            {address: self.original(o) for address, o in line.originals.items()},
            {text(k): {p: self.body(b, "states", text(k) != k) for p, b in h.items()} for k, h in line.states.items()},
            usage,
            line.lease,
            self.masker.json(line.open_calls.encode()).decode(),
        )

    def message(self, m: Stored) -> Stored:
        raw = self.masker.json(m.message.raw)
        meta = self.masker.value(dict(m.message.meta))
        tool = self.masker.text(m.tool)
        self.found["names"] += tool != m.tool
        self.found["meta"] += meta != dict(m.message.meta)
        if raw == m.message.raw and meta == dict(m.message.meta):
            return replace(m, tool=tool)
        message = masked_message(Message(m.message.role, m.message.parts, m.message.raw, m.message.wire, meta), raw)
        message.__dict__["address"] = m.address
        if raw != m.message.raw:
            self.messages[m.address, m.message.wire] = message
            self.found["messages"] += (m.address, m.message.raw) not in self.seen
            self.seen.add((m.address, m.message.raw))
        return replace(m, message=message, tool=tool)

    def original(self, o: Original) -> Original:
        text = self.masker.text(o.text)
        if text == o.text:
            return o
        self.texts[o.address] = text
        self.found["originals"] += 1
        return replace(o, text=text)

    def body(self, data: bytes, kind: str, named: bool = False) -> bytes:
        masked = self.masker.json(data)
        self.found[kind] += masked != data or named
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
