"""Streams of all three wire formats, read along the way: the bytes stay the caller's, what they say is assembled.

A `Stream` is fed the chunks as they pass. At the end, or when it was cut off, it tells the usage, the stop reason,
whether it finished, and the response as it would have come without streaming.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass

from clew import jsonio
from clew.errors import InputError
from clew.jsonio import Json
from clew.wire import usage
from clew.wire.sse.anthropic import Messages
from clew.wire.sse.base import Assembler
from clew.wire.sse.chat import Chat
from clew.wire.sse.events import MAX_EVENT, Event, EventParser
from clew.wire.sse.responses import Responses

__all__ = ["Assembled", "Event", "EventParser", "Stream", "atee", "tee"]

MAX_TOTAL = 256 << 20
_DONE = b"[DONE]"


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a stream said. `body` is the whole response; `values` are its message values: the message of each choice,
    Anthropic's one message, or the output items. `finished` is False where it was cut off or ended in an error:
    then both hold what came. `notes` says what was left out.
    """

    body: Json
    values: tuple[Json, ...]
    finished: bool
    stop_reason: str
    usage: usage.Usage | None
    error: Json
    notes: tuple[str, ...]


class Stream:
    """One streamed response. Feeding never raises, whatever the provider sent; over `max_total` bytes only the end of
    the stream (usage, stop reason) is still read, and the notes say so.
    """

    def __init__(self, wire: str, *, max_event: int = MAX_EVENT, max_total: int = MAX_TOTAL) -> None:
        self._wire = wire
        self._parser = EventParser(max_event=max_event)
        self._assembler = _assembler(wire)
        self._left = max_total
        self._over = False
        self._unreadable = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """Reads along; the events that `chunk` completed."""
        events = self._parser.feed(chunk)
        for event in events:
            self._take(event)
        return events

    def close(self) -> None:
        """The connection ended. Only needed where the last event may stand without its blank line."""
        for event in self._parser.close():
            self._take(event)

    @property
    def finished(self) -> bool:
        """Whether the provider said its last word, and it was no error."""
        return self._assembler.finished

    @property
    def stop_reason(self) -> str:
        """As the provider spells it; with several choices, the first one's."""
        return self._assembler.stop_reason

    @property
    def usage(self) -> usage.Usage | None:
        return usage.read(self._assembler.usage, self._wire)

    @property
    def error(self) -> Json:
        return self._assembler.error

    def assembled(self) -> Assembled:
        """Everything that was said so far, as one value."""
        notes = []
        if self._parser.dropped:
            notes.append(f"{self._parser.dropped} events over the size limit were left out")
        if self._unreadable:
            notes.append(f"{self._unreadable} events were not JSON objects and were left out")
        if self._over:
            notes.append("the stream is over the size limit: the message stops there")
        a = self._assembler
        whole = a.finished and not self._over and not self._parser.dropped
        return Assembled(a.body(), tuple(a.values()), whole, a.stop_reason, self.usage, a.error, tuple(notes))

    def _take(self, event: Event) -> None:
        if event.data.strip() == _DONE:
            self._assembler.done()
            return
        try:
            value = jsonio.loads(event.data)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            self._unreadable += 1
            return
        self._left -= len(event.data)
        self._over = self._over or self._left < 0
        if self._over:
            self._assembler.tail(value, event.type)
        else:
            self._assembler.take(value, event.type)


def tee(chunks: Iterable[bytes], stream: Stream) -> Iterator[bytes]:
    """The same chunks, untouched, while the stream reads along."""
    for chunk in chunks:
        stream.feed(chunk)
        yield chunk
    stream.close()


async def atee(chunks: AsyncIterable[bytes], stream: Stream) -> AsyncIterator[bytes]:
    """`tee` for asynchronous chunks."""
    async for chunk in chunks:
        stream.feed(chunk)
        yield chunk
    stream.close()


def _assembler(wire: str) -> Assembler:
    match wire:
        case "openai-chat":
            return Chat()
        case "openai-responses":
            return Responses()
        case "anthropic":
            return Messages()
    raise InputError(f"unknown wire format {wire!r}", hint="one of openai-chat, openai-responses, anthropic")
