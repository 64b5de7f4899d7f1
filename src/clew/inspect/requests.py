"""Which requests a chain made, and what each of them carried.

Where the file reports usage, a report is a request. Where it doesn't, each turn of the assistant is taken for one, with
everything before it as its prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

from clew.inspect.gather import Chain, Entry, Shrunk, seconds
from clew.inspect.values import KINDS, Compacted, Point
from clew.wire.files import Report
from clew.wire.usage import Usage

_REPLY = 3  # what opens the model's turn
_INDEX = {kind: i for i, kind in enumerate(KINDS)}
_UNSEEN = _INDEX["unseen"]


@dataclass(frozen=True, slots=True)
class Sent:
    """One request. `blocks` are (key, weight) of what is new in it, or of everything where it is `fresh`."""

    number: int
    prompt: int
    blocks: tuple[tuple[str, int], ...]
    fresh: bool
    time: float | None
    model: str
    usage: Usage | None
    output: int
    after_compaction: bool


@dataclass(frozen=True, slots=True)
class Walked:
    """A chain with its requests told apart. `reported` of them come with recorded usage."""

    sent: tuple[Sent, ...]
    points: tuple[Point, ...]
    compactions: tuple[Compacted, ...]
    reported: int
    unseen: int
    ignored: int  # reports too few to go by


@dataclass(frozen=True, slots=True)
class _Request:
    position: int
    report: Report | None = None


def walk(chain: Chain, *, drops_reasoning: bool = False) -> Walked:
    """Goes through the chain once, and fills in what each entry cost over all requests."""
    turns = _turns(chain)
    reports = sum(isinstance(e, Report) and e.usage.prompt > 0 for e in chain.events)
    use = reports > 0 and reports * 2 >= len(turns)
    events: list[_Request | Shrunk] = []
    for seen in chain.events:
        if isinstance(seen, Shrunk):
            events.append(seen)
        elif use and seen.usage.prompt > 0:
            events.append(_Request(seen.position, seen))
    if not use:
        events += [_Request(at) for at in turns]
    events.sort(key=_position)
    going = _Walk(chain, drops_reasoning=drops_reasoning)
    for event in events:
        going.upto(_position(event))
        if isinstance(event, Shrunk):
            going.compact(event)
        else:
            going.request(event)
    going.finish()
    return Walked(
        tuple(going.sent), tuple(going.points), tuple(going.compactions), reports if use else 0, going.unseen,
        0 if use else reports,
    )  # fmt: skip


def _position(event: _Request | Shrunk) -> int:
    return event.seen.position if isinstance(event, Shrunk) else event.position


def _turns(chain: Chain) -> list[int]:
    """Where the assistant begins to speak."""
    before, out = "", []
    for n, m in enumerate(chain.messages):
        if m.role == "assistant" and before != "assistant":
            out.append(n)
        before = m.role
    return out


@dataclass(slots=True)
class _Live:
    """An entry of the current view, and the sums at the time it joined."""

    entry: Entry
    scale: float
    requests: int


class _Walk:
    def __init__(self, chain: Chain, *, drops_reasoning: bool) -> None:
        self.sent: list[Sent] = []
        self.points: list[Point] = []
        self.compactions: list[Compacted] = []
        self.unseen = 0
        self._chain = chain
        self._drops = drops_reasoning
        self._next = 0
        self._live: dict[str, _Live] = {}
        self._thoughts: list[str] = []  # keys of reasoning since the user last spoke
        self._sums = [0] * len(KINDS)
        self._scale = 0.0  # how much of each live token all requests so far have sent
        self._new: list[tuple[str, int]] = []
        self._fresh = True
        self._compacted: Shrunk | None = None
        self._replaced = 0

    def upto(self, position: int) -> None:
        """Everything said before a position joins the view."""
        entries = self._chain.entries
        while self._next < len(entries) and entries[self._next].position < position:
            entry = entries[self._next]
            self._next += 1
            if entry.turn and self._drops:
                self._drop_reasoning()
            self._join(entry, f"{entry.position}.{entry.part}")

    def _join(self, entry: Entry, key: str) -> None:
        entry.first = len(self.points) + 1
        self._live[key] = _Live(entry, self._scale, len(self.points))
        self._sums[_INDEX[entry.kind]] += entry.tokens
        self._new.append((key, entry.tokens))
        if entry.kind == "reasoning":
            self._thoughts.append(key)

    def _leave(self, key: str) -> None:
        live = self._live.pop(key)
        live.entry.sent += live.entry.tokens * (self._scale - live.scale)
        live.entry.requests += len(self.points) - live.requests
        self._sums[_INDEX[live.entry.kind]] -= live.entry.tokens

    def _drop_reasoning(self) -> None:
        """Some providers leave out the reasoning of earlier turns once the user speaks again."""
        for key in self._thoughts:
            if key in self._live:
                self._leave(key)
                self._fresh = True
        self._thoughts.clear()

    def compact(self, event: Shrunk) -> None:
        """The view begins anew, with what was kept and what replaces the rest."""
        seen = event.seen
        before = seen.tokens_before or (self.points[-1].prompt if self.points else sum(self._sums))
        for key in list(self._live):
            position = self._live[key].entry.position
            if position >= 0 and position not in seen.kept:
                self._leave(key)
        for i, entry in enumerate(event.entries):
            self._join(entry, f"{seen.position}.r{self._replaced}.{i}")
        self._replaced += 1
        self._fresh = True
        self._compacted = event
        self.compactions.append(
            Compacted(len(self.points) + 1, seen.kind, seen.trigger, before, 0, seen.line, seen.chain)
        )

    def request(self, event: _Request) -> None:
        report = event.report
        counted = sum(self._sums)
        usage = report.usage if report is not None else None
        prompt = usage.prompt if usage else counted + _REPLY
        scale = min(1.0, prompt / counted) if counted else 1.0
        parts = [round(n * scale) for n in self._sums]
        rest = prompt - sum(parts)
        parts[_UNSEEN] += max(0, rest)
        self.unseen += max(0, prompt - counted)
        self._scale += scale
        number = len(self.points) + 1
        blocks = tuple((k, live.entry.tokens) for k, live in self._live.items()) if self._fresh else tuple(self._new)
        if number == 1 or self._compacted is not None:
            blocks = ((f"unseen {number}" if self._compacted else "unseen", max(0, prompt - counted)), *blocks)
        self.points.append(Point(number, prompt, tuple(parts)))
        self.sent.append(
            Sent(
                number, prompt, blocks, self._fresh, self._time(event), report.model if report else "", usage,
                usage.output if usage else self._reply(), self._compacted is not None,
            )
        )  # fmt: skip
        if self._compacted is not None:
            last = self.compactions[-1]
            self.compactions[-1] = Compacted(
                last.request, last.kind, last.trigger, last.before, prompt, last.line, last.chain
            )
        self._new, self._fresh, self._compacted = [], False, None

    def _time(self, event: _Request) -> float | None:
        from_report = event.report.time if event.report else ""
        if from_report:
            return seconds(from_report)
        times = self._chain.times
        return times[event.position] if 0 <= event.position < len(times) else None

    def _reply(self) -> int:
        """The tokens of an unreported reply: the assistant's parts from there on."""
        entries, messages = self._chain.entries, self._chain.messages
        total, i = 0, self._next
        while i < len(entries) and messages[entries[i].position].role == "assistant":
            total += entries[i].tokens
            i += 1
        return total

    def finish(self) -> None:
        self.upto(len(self._chain.messages))
        for key in list(self._live):
            self._leave(key)
