"""Several answers of an upstream, one after the other, as the one answer that the client gets.

Of a stream every event goes on as it came until the first of the gateway's own calls; from there on events are renumbered,
and those of the calls left out. The end is held back until what the client wasn't given is stored.
"""

from __future__ import annotations

import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clew import jsonio
from clew.errors import ClewError
from clew.gateway.recall_tool.offer import NAMES
from clew.jsonio import Json
from clew.transcript import Message, ToolCall
from clew.wire import get
from clew.wire import usage as wire_usage
from clew.wire.detect import ANTHROPIC, RESPONSES
from clew.wire.sse import Stream
from clew.wire.usage import Usage

# Why an answer ends that is whole: a call in one that ended otherwise may be half of one.
CALLING = frozenset({"tool_use", "tool_calls", "function_call", "stop", "completed"})
_LARGEST = 256 << 20  # of an answer in one piece
_BLANK = re.compile(rb"\n\r?\n|\r\r")


class AnswerTooLarge(ClewError):
    """The upstream's answer can't be held in memory."""

    status = 502


@dataclass(frozen=True, slots=True)
class Said:
    """What the upstream said in one round: its messages, and those calls in them that are the gateway's to answer."""

    messages: tuple[Message, ...]
    calls: tuple[ToolCall, ...]
    usage: Usage | None


class Join(ABC):
    """One answer to a client. Bytes of a round go in by `feed` and `end`; what the client gets comes out, but for the
    last words, which stand in `closing`.
    """

    def __init__(self, wire: str, encoding: str) -> None:
        self.wire = wire
        self.closing = b""
        self.goes_on = False  # whether the round that ended is to be followed by another
        self.own = False  # whether the model called tools of the client's in this round
        self.round = 1
        self.last = False  # whether no other round may follow, whatever the model calls
        self.touched = False  # whether the client's answer differs from the upstream's
        self._output = 0  # tokens of the rounds before
        self._encoding = encoding
        self._unpacker = zlib.decompressobj(31) if encoding == "gzip" else None

    def feed(self, piece: bytes) -> bytes:
        return self._feed(self._unpacker.decompress(piece) if self._unpacker is not None else piece)

    def next(self, encoding: str, *, last: bool) -> None:
        """Another round begins."""
        said = self.said().usage
        self._output += said.output if said is not None else 0
        self.round += 1
        self.last = last
        self.touched = True
        self.goes_on = self.own = False
        self._unpacker = zlib.decompressobj(31) if encoding == "gzip" else None
        self._begin()

    @abstractmethod
    def end(self) -> bytes:
        """The round's bytes have all come."""

    @abstractmethod
    def said(self) -> Said:
        """What the upstream said in this round; nothing where it broke off or ended in an error."""

    @abstractmethod
    def given(self) -> tuple[Message, ...]:
        """What the client has been given of all rounds, as messages; with `closing`."""

    @abstractmethod
    def failure(self, error: Json) -> bytes:
        """The last words of an answer that can't go on, where the client has a part of it already; else nothing."""

    @abstractmethod
    def _feed(self, piece: bytes) -> bytes: ...

    @abstractmethod
    def _begin(self) -> None: ...

    def _used(self, usage: Mapping[str, Json]) -> dict[str, Json]:
        """The last round's usage, whose prompt is what the conversation has come to, with the output of all rounds."""
        out = dict(usage)
        for key in ("output_tokens", "completion_tokens", "total_tokens"):
            n = out.get(key)
            if isinstance(n, int):
                out[key] = n + self._output
        return out


class Events(Join):
    """Of a stream. A subclass says what becomes of an event."""

    def __init__(self, wire: str, encoding: str) -> None:
        super().__init__(wire, encoding)
        self._given = Stream(wire)
        self._begin()

    def _begin(self) -> None:
        self._said = Stream(self.wire)
        self._rest = bytearray()
        self._ended = False

    def _feed(self, piece: bytes) -> bytes:
        start = max(0, len(self._rest) - 3)
        self._rest += piece
        cut = 0
        out: list[bytes] = []
        for blank in _BLANK.finditer(self._rest, start):
            out.append(self._one(bytes(self._rest[cut : blank.end()])))
            cut = blank.end()
        del self._rest[:cut]
        return self._counted(b"".join(out))

    def end(self) -> bytes:
        if not self._rest:
            return b""
        raw = bytes(self._rest)
        self._rest.clear()
        self._said.feed(raw)
        self._said.close()
        return self._counted(b"" if self._ended and self.goes_on else raw)

    def said(self) -> Said:
        done = self._said.assembled()
        if not done.finished:
            return Said((), (), done.usage)
        return said_of(self.wire, done.values, done.usage, calling=done.stop_reason in CALLING)

    def given(self) -> tuple[Message, ...]:
        stream = self._given
        if self.closing:
            stream.feed(self.closing)
        return said_of(self.wire, stream.assembled().values, None, calling=False).messages

    def _counted(self, out: bytes) -> bytes:
        if out:
            self._given.feed(out)
        return out

    def _one(self, raw: bytes) -> bytes:
        for event in self._said.feed(raw):
            try:
                value = jsonio.loads(event.data)
            except ValueError:
                value = None
            return self._held(self._event(raw, value if isinstance(value, dict) else {}))
        return b"" if self._ended and self.touched else raw  # no event, but a comment

    def _held(self, out: bytes) -> bytes:
        """What comes from the answer's last words on waits, where the client was not given everything."""
        if not (self._ended and self.touched):
            return out
        if not self.goes_on:
            self.closing += out
        return b""

    @abstractmethod
    def _event(self, raw: bytes, value: dict[str, Json]) -> bytes:
        """What the client gets for an event; `value` is empty where its data is no JSON object."""


class Whole(Join):
    """Of an answer in one piece. A subclass puts the rounds' bodies together."""

    def __init__(self, wire: str, encoding: str) -> None:
        super().__init__(wire, encoding)
        self._bodies: list[dict[str, Json]] = []
        self._begin()

    def _begin(self) -> None:
        self._raw = bytearray()

    def _feed(self, piece: bytes) -> bytes:
        self._raw += piece
        if len(self._raw) > _LARGEST:
            raise AnswerTooLarge("the upstream's answer is too large", hint="ask for less")
        return b""

    def end(self) -> bytes:
        try:
            body = jsonio.loads(bytes(self._raw))
        except ValueError:
            body = None
        # What is no answer goes to the client as it came.
        self._bodies.append(body if isinstance(body, dict) and self._values(body) else {})
        values = self._values(self._bodies[-1])
        self.touched = self.touched or any(stripped(v, self.wire) != v for v in values)
        said = self.said()
        self.own = any(c.name not in NAMES and c.kind != "server" for m in said.messages for c in m.calls)
        self.goes_on = bool(said.calls) and not (self.own or self.last)
        if not self.goes_on:
            plain = not self.touched or not self._bodies[-1]
            self.closing = bytes(self._raw) if plain else jsonio.dumps(self._merged(self._bodies))
        return b""

    def said(self) -> Said:
        body = self._bodies[-1] if self._bodies else {}
        if not body:
            return Said((), (), None)
        usage = wire_usage.read(body, self.wire)
        return said_of(self.wire, self._values(body), usage, calling=self._reason(body) in CALLING)

    def given(self) -> tuple[Message, ...]:
        if not self._bodies or not self._bodies[-1]:
            return ()
        return said_of(self.wire, self._values(self._merged(self._bodies)), None, calling=False).messages

    def failure(self, error: Json) -> bytes:
        del error  # the client has nothing yet: it gets the upstream's own
        return b""

    @abstractmethod
    def _values(self, body: Mapping[str, Json]) -> Sequence[Json]:
        """The messages in a body; none in one that is no answer."""

    @abstractmethod
    def _reason(self, body: Mapping[str, Json]) -> Json:
        """Why the answer ended."""

    @abstractmethod
    def _merged(self, bodies: Sequence[dict[str, Json]]) -> dict[str, Json]:
        """The rounds as one body, without the gateway's calls."""


def said_of(wire: str, values: Sequence[Json], usage: Usage | None, *, calling: bool) -> Said:
    """The messages of an answer as they go into a request. The gateway's calls among them are to be answered where the
    answer ended in `calling`; else they were cut off, and are left out.
    """
    kept = values if calling else [stripped(v, wire) for v in values]
    messages = tuple(get(wire).message(v) for v in (_sendable(v, wire) for v in kept) if v)
    return Said(messages, tuple(c for m in messages for c in m.calls if c.name in NAMES), usage)


def stripped(value: Json, wire: str) -> Json:
    """A message without the gateway's calls; None where it was one."""
    if not isinstance(value, dict):
        return value
    if wire == RESPONSES:
        return None if is_ours(value, "function_call") else value
    if wire == ANTHROPIC:
        content = value.get("content")
        if not isinstance(content, list):
            return value
        return {**value, "content": [b for b in content if not is_ours(b, "tool_use")]}
    calls = value.get("tool_calls")
    if not isinstance(calls, list):
        return value
    left = [c for c in calls if not (isinstance(c, dict) and is_ours(c.get("function"), None))]
    return {k: v for k, v in value.items() if k != "tool_calls"} | ({"tool_calls": left} if left else {})


def is_ours(value: Json, kind: str | None) -> bool:
    """Whether a call is the gateway's."""
    return isinstance(value, dict) and value.get("type") == kind and value.get("name") in NAMES


def _sendable(value: Json, wire: str) -> Json:
    """Without what providers say and don't take back: nulls, empty lists, empty texts."""
    if not isinstance(value, dict):
        return None
    if wire == RESPONSES:  # thinking that nobody keeps and that isn't sealed can't be sent back
        return None if value.get("type") == "reasoning" and not value.get("encrypted_content") else value
    out = {k: v for k, v in value.items() if k in ("role", "content") or (v is not None and v != [])}
    if wire == ANTHROPIC and isinstance(out.get("content"), list):
        out["content"] = [_block(b) for b in out["content"] if not _is_empty(b)]
        if not out["content"]:
            return None
    elif not out.get("tool_calls") and not out.get("content"):
        return None
    return out


def _block(value: Json) -> Json:
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def _is_empty(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") == "text" and not str(value.get("text", "")).strip()
