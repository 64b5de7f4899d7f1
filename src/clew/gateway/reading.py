"""A request taken apart with the one before it at hand: what is the same, to the byte, is compared and not parsed."""

from __future__ import annotations

import json
import re

from clew.jsonio import Json
from clew.transcript import Message
from clew.wire import Request, get
from clew.wire.spans import check_depth

_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(rb"[ \t\n\r]*,[ \t\n\r]*")
_WINDOW = 1 << 15  # bytes that are decoded at first to find a value's end
_RUN = 64  # messages that are compared in one piece


class Unlike(Exception):
    """The body isn't of the simple shape that can be compared; it is read as a whole."""


def read(raw: bytes, wire: str, previous: Request | None) -> Request:
    """As `get(wire).request(raw)`; what `previous` has at the same place is its own again. WireError where it is none."""
    if previous is not None and previous.wire == wire and previous.fields:
        try:
            return _Reader(raw, previous).request()
        except (Unlike, IndexError):
            pass  # read as a whole below, where what is wrong is said
    return get(wire).request(raw)


class _Reader:
    """One pass over one body."""

    def __init__(self, raw: bytes, previous: Request) -> None:
        self.raw = raw
        self.at = 0
        self.known = previous
        self.wire = get(previous.wire)

    def request(self) -> Request:
        key = self.wire.messages_key
        values: dict[str, Json] = {}
        fields: dict[str, bytes] = {}
        messages: tuple[Message, ...] | None = None
        self._expect(b"{")
        while not self._took(b"}"):
            if values:
                self._expect(b",")
            name = self._name()
            if name in values:
                raise Unlike
            self._expect(b":")
            if name == key:
                messages = self._messages()
                values[name] = None
            else:
                values[name], fields[name] = self._member(name)
        self._blank()
        if self.at != len(self.raw) or messages is None:
            raise Unlike
        return self._built(values, fields, messages)

    def _built(self, values: dict[str, Json], fields: dict[str, bytes], messages: tuple[Message, ...]) -> Request:
        model, tools = values.get("model"), values.get("tools")
        taken = {self.wire.messages_key}
        if isinstance(model, str):
            taken.add("model")
        if isinstance(tools, list):
            taken.add("tools")
        system = values.get(self.wire.system_key) if self.wire.system_key else None
        if system is not None and self.wire.system_key:
            taken.add(self.wire.system_key)
        return Request(
            wire=self.wire.name,
            model=model if isinstance(model, str) else "",
            system=system,
            tools=tuple(tools) if isinstance(tools, list) else (),
            messages=messages,
            rest={k: v for k, v in values.items() if k not in taken},
            raw=self.raw,
            keys=tuple(values),
            fields=fields,
        )

    def _member(self, name: str) -> tuple[Json, bytes]:
        self._blank()
        known = self.known.fields.get(name)
        if known is not None and self.raw.startswith(known, self.at) and self._ends(known):
            self.at += len(known)
            return self._known_value(name), known
        return self._value()

    def _ends(self, known: bytes) -> bool:
        """Whether a value that begins like a known one also ends there: 12 begins like 120."""
        return self.raw[self.at + len(known)] in b",} \t\n\r"

    def _known_value(self, name: str) -> Json:
        if name == "model" and self.known.model:
            return self.known.model
        if name == "tools" and self.known.tools:
            return list(self.known.tools)
        if name == self.wire.system_key and self.known.system is not None:
            return self.known.system
        return self.known.rest[name] if name in self.known.rest else json.loads(self.known.fields[name])

    def _messages(self) -> tuple[Message, ...]:
        self._expect(b"[")
        self._blank()
        out: list[Message] = []
        self._same(out)
        while not self._took(b"]"):
            if out:
                self._expect(b",")
                self._blank()
            out.append(self._message(len(out)))
            self._same(out)
        return tuple(out)

    def _same(self, out: list[Message]) -> None:
        """Takes the known messages that stand here one after the other, with the same between any two of them."""
        known, raw, n = self.known.messages, self.raw, len(out)
        if n >= len(known):
            return
        at = self.at
        if n:
            gap = _BETWEEN.match(raw, at)
            if gap is None:
                return
            between = gap[0]
        else:
            if not raw.startswith(known[0].raw, at):
                return
            gap = _BETWEEN.match(raw, at + len(known[0].raw))
            between = gap[0] if gap is not None else b","
            n, at = 1, at + len(known[0].raw)
        while n < len(known) and raw.startswith(known[n].raw, at + len(between)):
            run = [m.raw for m in known[n : n + _RUN]]
            whole = between + between.join(run)
            if raw.startswith(whole, at):
                n, at = n + len(run), at + len(whole)
                continue
            for one in run:
                if not raw.startswith(between, at) or not raw.startswith(one, at + len(between)):
                    break
                n, at = n + 1, at + len(between) + len(one)
            break
        out += known[len(out) : n]
        self.at = at

    def _message(self, i: int) -> Message:
        known = self.known.messages
        if i < len(known) and self.raw.startswith(known[i].raw, self.at):
            self.at += len(known[i].raw)
            return known[i]
        value, raw = self._value()
        if not isinstance(value, dict):
            raise Unlike
        message = self.wire.message(raw)
        if message.meta:
            raise Unlike
        return message

    def _value(self) -> tuple[Json, bytes]:
        """The JSON value here, read through a window that grows until it holds all of it."""
        size = _WINDOW
        while True:
            piece = self.raw[self.at : self.at + size]
            text = piece.decode("utf-8", "ignore")  # the window may end inside a letter
            try:
                value, end = _DECODER.raw_decode(text)
            except (ValueError, RecursionError):
                end = 0
            if end and (end < len(text) or len(piece) < size):
                raw = text[:end].encode("utf-8", "surrogatepass")
                if not self.raw.startswith(raw, self.at):
                    raise Unlike
                check_depth([value])
                self.at += len(raw)
                return value, raw
            if len(piece) < size:
                raise Unlike
            size *= 4

    def _name(self) -> str:
        self._blank()
        if self.raw[self.at] != 0x22:
            raise Unlike
        end = self.raw.find(b'"', self.at + 1)
        name = self.raw[self.at + 1 : max(end, 0)]
        if end < 0 or b"\\" in name or min(name, default=0x20) < 0x20:  # JSON allows no control characters in a string
            raise Unlike
        self.at = end + 1
        try:
            return name.decode()
        except UnicodeDecodeError:
            raise Unlike from None

    def _blank(self) -> None:
        while self.raw[self.at : self.at + 1] in (b" ", b"\t", b"\n", b"\r"):
            self.at += 1

    def _took(self, sign: bytes) -> bool:
        self._blank()
        if self.raw[self.at : self.at + 1] != sign:
            return False
        self.at += 1
        return True

    def _expect(self, sign: bytes) -> None:
        if not self._took(sign):
            raise Unlike
