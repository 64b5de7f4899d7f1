"""A session with all its store keeps of it, as one JSON line, and back: for backups and for moving it elsewhere."""

from __future__ import annotations

from clew import jsonio, wire
from clew.errors import InputError
from clew.jsonio import Json
from clew.store.records import Dump, Epoch, Event, Original, Session, State, Stored
from clew.transcript import Message

KIND = "clew-session"


def to_line(dump: Dump) -> bytes:
    s = dump.session
    value = {
        "type": KIND,
        "session": {f: getattr(s, f) for f in Session.__slots__ if f != "extra"} | {"extra": dict(s.extra)},
        "messages": [
            [
                m.position,
                m.message.wire,
                m.address,
                m.chain,
                m.time,
                m.tool,
                m.message.raw.decode("utf-8", "surrogateescape"),
                dict(m.message.meta),
            ]
            for m in dump.messages
        ],
        "events": [[e.sequence, e.kind, e.time, e.body] for e in dump.events],
        "epochs": [[e.number, e.base_chain, e.position, e.time, e.body] for e in dump.epochs],
        "originals": [[o.address, o.text, o.position, o.part] for o in dump.originals],
        "states": [[s.key, s.position, s.body] for s in dump.states],
        "usage": {m: dict(f) for m, f in dump.usage.items()},
    }
    return jsonio.dumps(value)


def from_line(line: bytes) -> Dump:
    """InputError where the line is no archived session."""
    try:
        value = jsonio.exact(line)
        if value["type"] != KIND:
            raise InputError("not an archived session", hint="`clew sessions export --format clew` writes them")
        session = Session(**value["session"])
        return Dump(
            session=session,
            messages=tuple(_message(m, session.id) for m in value["messages"]),
            events=tuple(Event(*e) for e in value["events"]),
            epochs=tuple(Epoch(n, c, p, body, t) for n, c, p, t, body in value["epochs"]),
            originals=tuple(Original(*o) for o in value["originals"]),
            states=tuple(State(*s) for s in value["states"]),
            usage=value["usage"],
        )
    except (ValueError, TypeError, KeyError) as e:
        raise InputError(
            f"not an archived session: {e}", hint="`clew sessions export --format clew` writes them"
        ) from e


def _message(held: Json, owner: str) -> Stored:
    position, kind, address, chain, time, tool, raw, meta = held
    read = wire.get(kind).message(raw.encode("utf-8", "surrogateescape"))
    message = Message(read.role, read.parts, read.raw, read.wire, meta)
    message.__dict__["address"] = address  # that of the message as it arrived, were it masked since
    return Stored(position, message, address, chain, time, owner, tool)
