"""Server-sent events out of bytes, however the network cut them.

Works on bytes, so a character split between two chunks needs no care: a line ends only at CR, LF or CRLF, none of which
can be a part of another character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_EVENT = 64 << 20
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its type ("" where the stream names none) and its data lines, joined by newlines."""

    type: str
    data: bytes


class EventParser:
    """Feed it chunks, it returns the events they complete. Comments, ids and retry times carry nothing here.

    An event over `max_event` bytes is dropped as a whole and counted in `dropped`; the parser goes on with the next.
    """

    def __init__(self, *, max_event: int = MAX_EVENT) -> None:
        self.dropped = 0
        self._max = max_event
        self._pieces: list[bytes] = []  # of the line that has not ended yet
        self._held = 0  # bytes held for the event that has not ended yet
        self._type = ""
        self._data: list[bytes] = []
        self._over = False
        self._after_cr = False
        self._started = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that end in `chunk`."""
        if not chunk:
            return []
        if self._after_cr and chunk[:1] == b"\n":  # the second half of a CRLF
            chunk = chunk[1:]
        self._after_cr = False
        events: list[Event] = []
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._hold(chunk[start : end.start()])
            self._end_line(events)
            start = end.end()
        if start and start == len(chunk):
            self._after_cr = chunk.endswith(b"\r")
        elif start < len(chunk):
            self._hold(chunk[start:])
        return events

    def close(self) -> list[Event]:
        """The event that stood without its closing blank line at the end of the stream, if it has data."""
        events: list[Event] = []
        if self._pieces:
            self._end_line(events)
        self._end_event(events)
        return events

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        self._held += len(piece)
        if self._over or self._held > self._max:
            self._over = True
            self._data.clear()
            self._pieces[:] = [b":"]  # nothing of it is kept, but its line end must not look like a blank line
        else:
            self._pieces.append(piece)

    def _end_line(self, events: list[Event]) -> None:
        line = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        if not self._started:
            self._started = True
            line = line.removeprefix(_BOM)
        if not line:
            self._end_event(events)
            return
        if self._over:
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            return
        self._held -= len(line)
        if name == b"event":
            self._type = value.decode("utf-8", "replace")

    def _end_event(self, events: list[Event]) -> None:
        if self._over:
            self.dropped += 1
        elif self._data:
            events.append(Event(self._type, b"\n".join(self._data)))
        self._type, self._data, self._held, self._over = "", [], 0, False
