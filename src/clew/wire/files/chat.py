"""Plain JSON and JSONL: a request body, a list of messages, a message a line, a body a line; ShareGPT the same way.

Bodies that each hold the one before, as a log of one agent's requests does, are one conversation; others stand beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from clew import wire
from clew.errors import InputError, WireError
from clew.jsonio import Json
from clew.wire import usage
from clew.wire.base import Wire
from clew.wire.files import sharegpt
from clew.wire.files.base import MAIN, Head, Record, Report, Said, mapping, sequence, speak, text
from clew.wire.files.source import Source

FORMAT = "openai-chat"
_SAMPLE = 200  # messages looked at to tell the wire format
_HEAD_KEYS = {"id", "session_id", "title", "model", "system", "instructions", "tools", "usage", "conversations"}


@dataclass(slots=True)
class Unit:
    """One value of the file: where it stands, its messages as values, and whether it is a body or one message."""

    line: int
    about: dict[str, Json]
    turns: list[tuple[int, Json]]
    whole: bool = True


def looks_like(value: Json) -> bool:
    """Whether a value is a body, a list of messages or a message of any wire format."""
    if isinstance(value, list):
        value = value[0] if value else None
        return isinstance(value, dict) and ("role" in value or "type" in value)
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("messages"), list) or "input" in value:
        return True
    return isinstance(value.get("role"), str) and ("content" in value or "tool_calls" in value)


def records(source: Source, *, document: bool, share: bool, named: str = "") -> Iterator[Record]:
    """Head, messages and reports of every conversation in the file, then what was left out. `named` is its wire format,
    where somebody said so.
    """
    known = sharegpt.WIRE if share else named or _wire_of(_units(source, document=document, share=share))
    reading = _Reading(source, wire.get(known))
    first = next(_units(source, document=document, share=share), None)
    if first is None:
        raise InputError(f"{source.path}: no message in it", hint="a body has `messages`, a line has `role`")
    yield _head(first, known, share=share)
    for unit in _units(source, document=document, share=share, noted=True):
        yield from reading.unit(unit)
    if not reading.said:
        why = next((f": {left.sentence}" for left in source.aside.records()), "")
        raise InputError(f"{source.path}: no message in it can be read{why}", hint="name its format if it is another")
    reading.say(first if document else None)
    yield from source.aside.records()


def _units(source: Source, *, document: bool, share: bool, noted: bool = False) -> Iterator[Unit]:
    values: Iterable[tuple[int, Json]]
    if document:
        values = [(0, source.document())]
    else:
        values = ((line.number, value) for line, value in source.values(noted=noted, rough=not noted))
    for line, value in values:
        for v in value if share and isinstance(value, list) else [value]:
            unit = _unit(line, v, share=share)
            if unit is not None:
                yield unit
            elif noted:
                source.aside.add("1 line holds no message", "{n} lines hold no message", line)


def _unit(line: int, value: Json, *, share: bool) -> Unit | None:
    if share:
        return Unit(line, value, list(sharegpt.messages(value))) if sharegpt.looks_like(value) else None
    if not looks_like(value):
        return None
    if isinstance(value, list):
        return Unit(line, {}, list(enumerate(value)))
    if isinstance(value.get("messages"), list):
        return Unit(line, value, list(enumerate(value["messages"])))
    if isinstance(value.get("input"), list):
        return Unit(line, value, list(enumerate(value["input"])))
    if isinstance(value.get("input"), str):
        return Unit(line, value, [(0, {"type": "message", "role": "user", "content": value["input"]})])
    return Unit(line, {}, [(0, value)], whole=False)


def _wire_of(units: Iterator[Unit]) -> str:
    """The first body or message that only one format could hold decides."""
    seen = 0
    for unit in units:
        seen += max(len(unit.turns), 1)
        body = [v for _, v in islice(unit.turns, _SAMPLE)]
        try:
            found = wire.detect({**unit.about, "messages": body} if "messages" in unit.about else unit.about or body)
        except WireError:
            found = FORMAT
        if found != FORMAT:
            return found
        if seen >= _SAMPLE:
            break
    return FORMAT


def _head(unit: Unit, known: str, *, share: bool) -> Head:
    about = unit.about
    tools = sharegpt.tools(about) if share else tuple(sequence(about.get("tools")))
    system = about.get("system") if known == "anthropic" else about.get("instructions")
    return Head(
        format=sharegpt.FORMAT if share else known,
        wire=known,
        session_id=_id_of(about),
        model=text(about.get("model")),
        title=text(about.get("title")),
        system=system,
        tools=tools,
    )


def _id_of(about: dict[str, Json]) -> str:
    return text(about.get("session_id")) or text(about.get("id"))


@dataclass(slots=True)
class _Reading:
    """The second pass: which conversation a unit goes on, and what of it is new."""

    source: Source
    wire: Wire
    said: int = 0
    chain: str = MAIN
    chains: int = 0
    positions: Counter[str] = field(default_factory=Counter)
    previous: list[Json] | None = None

    def unit(self, unit: Unit) -> Iterator[Record]:
        if unit.whole:
            turns = self._new_of(unit)
        else:
            turns = unit.turns
            self.chain, self.previous = MAIN, None
        for n, value in turns:
            yield from self._turn(unit.line, n, value)
        used = usage.read(unit.about.get("usage"), self.wire.name)
        if used is not None:
            yield Report(self.positions[self.chain], used, model=text(unit.about.get("model")), line=unit.line,
                         chain=self.chain)  # fmt: skip

    def say(self, document: Unit | None) -> None:
        if self.chains > 1:
            self.source.aside.say(
                f"the file holds {self.chains} conversations: the first is the main one, the others stand beside it"
            )
        if document is not None:
            more = sorted(document.about.keys() - _HEAD_KEYS - {"messages", "input"})
            if more:
                self.source.aside.say(f"members beside the messages: {', '.join(more[:20])}")

    def _new_of(self, unit: Unit) -> list[tuple[int, Json]]:
        """The turns that the conversation so far doesn't have yet; all, where it is another conversation."""
        values = [v for _, v in unit.turns]
        before = self.previous
        self.previous = values
        if before is not None and values[: len(before)] == before:
            return unit.turns[len(before) :]
        self.chains += 1
        self.chain = MAIN if self.chains == 1 and not self.said else self._name_of(unit)
        return unit.turns

    def _name_of(self, unit: Unit) -> str:
        """Its own id, unless another conversation has it too; else its number."""
        own = _id_of(unit.about)
        return own if own and own not in self.positions and not own.isdigit() else str(self.chains)

    def _turn(self, line: int, n: int, value: Json) -> Iterator[Record]:
        meta: dict[str, Json] = {"line": line, "turn": n} if line else {"turn": n}
        stamp = mapping(value).get("timestamp")
        if isinstance(stamp, (str, int, float)):
            meta["timestamp"] = stamp
        where = f"line {line}, turn {n}" if line else f"turn {n}"
        if value is None:
            self.source.aside.say(f"{where} has no speaker that is known")
            return
        try:
            message = speak(self.wire, value, meta)
        except InputError as e:
            self.source.aside.say(f"{where} is no readable message: {e.message}")
            return
        yield Said(message, self.chain)
        self.said += 1
        self.positions[self.chain] += 1
        used = usage.read(mapping(value).get("usage"), self.wire.name)
        if used is not None and message.role == "assistant":
            yield Report(self.positions[self.chain] - 1, used, model=text(value.get("model")), line=line,
                         chain=self.chain)  # fmt: skip
