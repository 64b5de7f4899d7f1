"""Calls and their results: what each provider insists on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from clew.transcript import Message, Place, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Problem:
    """One breach of the protocol. `place` is the message's position, `part` the part's in it."""

    place: int
    part: int | None
    code: str
    sentence: str


@dataclass(slots=True)
class _Group:
    """The calls of one turn, and which of them have been answered. Alive while one list of messages is read."""

    waiting: dict[str, list[Place]] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    def call(self, call: ToolCall, place: Place) -> Iterator[Problem]:
        if call.id in self.waiting:
            yield Problem(place.message, place.part, "duplicate-id", f"two calls of this turn have the id {call.id!r}")
        self.waiting.setdefault(call.id, []).append(place)

    def result(self, result: ToolResult, place: Place) -> Iterator[Problem]:
        waiting = self.waiting.get(result.call_id)
        if waiting:
            waiting.pop(0)
            if not waiting:
                del self.waiting[result.call_id]
            self.answered.add(result.call_id)
        elif result.call_id in self.answered:
            sentence = f"the call {result.call_id!r} was answered before"
            yield Problem(place.message, place.part, "duplicate-result", sentence)
        else:
            sentence = f"no call {result.call_id!r} before it is waiting for this result"
            yield Problem(place.message, place.part, "orphan-result", sentence)

    def unanswered(self, where: str) -> Iterator[Problem]:
        for call_id, places in self.waiting.items():
            for p in places:
                yield Problem(p.message, p.part, "missing-result", f"the call {call_id!r} has no result {where}")


def in_tool_messages(messages: Sequence[Message], *, final: bool) -> Iterator[Problem]:
    """Chat: results of a turn's calls follow it at once, in any order, each in a message of its own."""
    group = _Group()
    for n, m in enumerate(messages):
        if m.role != "tool":
            yield from group.unanswered("right after it")
            group = _Group()
        for i, p in enumerate(m.parts):
            if isinstance(p, ToolCall) and p.kind != "server":
                yield from group.call(p, Place(n, i))
            elif isinstance(p, ToolResult):
                yield from group.result(p, Place(n, i))
    if final:
        yield from group.unanswered("yet")


def in_user_messages(messages: Sequence[Message], *, final: bool) -> Iterator[Problem]:
    """Anthropic: results come first in the user turn after the calls; neighbours of one role count as one turn."""
    group, hosted = _Group(), _Group()
    previous, spoken = "", False
    for n, m in enumerate(messages):
        if m.role != previous:
            spoken = False
            if m.role != "user":
                yield from group.unanswered("in the user message after it")
                group = _Group()
        previous = m.role
        for i, p in enumerate(m.parts):
            place = Place(n, i)
            if isinstance(p, ToolCall):
                yield from (hosted if p.kind == "server" else group).call(p, place)
            elif isinstance(p, ToolResult) and p.kind == "server":
                yield from hosted.result(p, place)
            elif isinstance(p, ToolResult):
                if m.role != "user":
                    yield Problem(n, i, "misplaced-result", f"a tool result stands in a message of role {m.role}")
                elif spoken:
                    yield Problem(n, i, "result-not-first", "results come before everything else in a user turn")
                yield from group.result(p, place)
            else:
                spoken = True
    if final:
        yield from group.unanswered("yet")


def anywhere(messages: Sequence[Message], *, final: bool, continued: bool) -> Iterator[Problem]:
    """Responses: each output has its call somewhere before it, and the other way round."""
    group = _Group()
    for n, m in enumerate(messages):
        for i, p in enumerate(m.parts):
            if isinstance(p, ToolCall) and p.kind != "server":
                group.answered.discard(p.id)
                yield from group.call(p, Place(n, i))
            elif isinstance(p, ToolResult) and p.kind != "server":
                known = p.call_id in group.waiting or p.call_id in group.answered
                if known or not continued:  # with a previous response, its call may stand there
                    yield from group.result(p, Place(n, i))
    if final:
        yield from group.unanswered("anywhere after it")
