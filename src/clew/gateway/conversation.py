"""One conversation as a worker holds it: its context, and the messages as its client spells them now."""

from __future__ import annotations

from collections.abc import Sequence

from clew.gateway.align import Alignment, align, essence, essences, is_aside
from clew.gateway.live import Live
from clew.strategies import Edit
from clew.transcript import Message, without_cache_marks
from clew.wire import Request, get
from clew.wire.edit import render


class Conversation:
    """Not to be used by two requests at once. What it is called with was aligned with its log before."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.hygiene_at = 0  # tokens at which the safety net could do no more
        self._log: list[str] = []
        self._leading = True
        self._asked: tuple[Message, ...] = ()
        self._essences: list[str] = []  # of what was asked
        self._edited: dict[int, tuple[Message, tuple[Edit, ...], Message]] = {}
        self.note()

    def align(self, request: Request) -> Alignment:
        self._essences = essences(request.messages, self._asked, self._essences)
        self._asked = request.messages
        return align(self._log, self._essences, self.live.shown_from)

    def keys(self, at: int) -> Sequence[str]:
        """What identifies the request that was aligned last up to the first message, from `at` on, that is its own."""
        found = [e for e in self._essences[:at] if not is_aside(e)]
        return found + [e for e in self._essences[at:] if not is_aside(e)][:1]

    def take(self, messages: Sequence[Message]) -> None:
        """New messages, as the client sent them, onto the log. Cache marks stay out: they are of one request."""
        self.live.extend([_unmarked(m) for m in messages])
        self.note()

    def note(self) -> None:
        """The log has grown, by whoever."""
        for m in self.live.log_messages()[len(self._log) :]:
            self._leading = self._leading and m.role in ("system", "developer")
            self._log.append(essence(m, leading=self._leading))

    def new(self, request: Request, places: Alignment) -> Sequence[Message]:
        """The messages of the request that the log doesn't hold yet."""
        return _Placed(request.messages, places).beyond(self.live.length)

    def render(self, request: Request, places: Alignment) -> Request:
        """The request with the view in place of its messages; the same object where there is nothing to change.

        Messages that the view shows whole are sent as the client spells them now, its cache marks among them; those that
        it has left out since are not sent.
        """
        if not self.live.shortens:
            return request
        now = _Placed(request.messages, places)
        shown = [s for s in self.live.shown() if s.position not in places.dropped]
        out = [
            (s.position in places.cleared and now.at(s.position))
            or self._spelt(s.message, s.position, s.edits, now.at(s.position))
            for s in shown
        ]
        return request.replace(messages=[*out, *now.beyond(self.live.length)])

    def _spelt(self, shown: Message, position: int, edits: tuple[Edit, ...], now: Message | None) -> Message:
        if position < 0 or now is None:
            return shown
        if not edits:
            return now
        if now.raw == self.live.original_of(position).raw:
            return shown
        kept = self._edited.get(position)
        if kept is not None and kept[0] is now and kept[1] == edits:
            return kept[2]
        if any(e.part >= len(now.parts) for e in edits):  # spelt another way since
            return shown
        made = render(now, {e.part: e.text for e in edits})
        self._edited[position] = (now, edits, made)
        return made


class _Placed:
    """The messages of a request by their places in the log. Where each stands at its own number none is looked at."""

    def __init__(self, messages: Sequence[Message], places: Alignment) -> None:
        self._messages = messages
        self._places = None if places.plain else places.places
        self._found = {p: m for m, p in zip(messages, self._places or (), strict=False) if p >= 0}

    def at(self, position: int) -> Message | None:
        """The message at a place; None where the client sends none for it."""
        if self._places is not None:
            return self._found.get(position)
        return self._messages[position] if 0 <= position < len(self._messages) else None

    def beyond(self, end: int) -> Sequence[Message]:
        """Those that the log doesn't hold."""
        if self._places is None:
            return self._messages[end:]
        return [m for m, p in zip(self._messages, self._places, strict=True) if p >= end]


def _unmarked(message: Message) -> Message:
    if not message.has_cache_marks:
        return message
    return get(message.wire).message(without_cache_marks(message.value))
