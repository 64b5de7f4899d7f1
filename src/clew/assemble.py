"""Head, handoff and tail made into messages a provider accepts. The only place where roles, pairs and alternation are
settled; with legal cuts there is nothing to repair, and what is repaired is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.transcript import Message, Reasoning, Text, ToolCall, ToolResult
from clew.wire import Wire
from clew.wire.edit import without

STUB = "[This result belongs to earlier turns; the compacted record says what came of it.]"


@dataclass(frozen=True, slots=True)
class Assembled:
    """A view, and what had to be repaired. `base` stands for everything before the tail, and for its first `taken`."""

    base: tuple[Message, ...]
    tail: tuple[Message, ...]
    taken: int  # messages of the tail that the base already holds, merged
    repairs: tuple[str, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.base + self.tail


def assemble(
    wire: Wire,
    head: Sequence[Message],
    handoff: Sequence[str],
    tail: Sequence[Message],
    *,
    pinned: Message | None = None,
    alternates: bool = False,
) -> Assembled:
    """Put the handoff's pieces between head and tail, each a user message, so that the first message after the system
    prompt stays a user's. `pinned` is the last user turn where it lies before the tail: it stands verbatim after the
    handoff, but for results that came in the same message, whose calls are not shown. Where the provider wants alternation, neighbours of one role become one message.
    """
    front = [*head, *(wire.text_message("user", text) for text in handoff)]
    if pinned is not None and (spoken := _without_results(pinned)) is not None:
        front.append(spoken)
    notes: list[str] = []
    shown = _without_orphans(front, tail, notes)
    shown = _with_stubs(wire, shown, notes)
    taken = 0
    if alternates:
        front = merged(wire, front)
        while shown and front and _is_one(front[-1], shown[0]):
            front[-1] = wire.merge(front[-1], shown.pop(0))
            taken += 1
        shown = merged(wire, shown)
    return Assembled(tuple(front), tuple(shown), taken, tuple(notes))


def merged(wire: Wire, messages: Sequence[Message]) -> list[Message]:
    """Neighbours of one role as one message."""
    out: list[Message] = []
    for m in messages:
        if out and _is_one(out[-1], m):
            out[-1] = wire.merge(out[-1], m)
        else:
            out.append(m)
    return out


def _is_one(before: Message, m: Message) -> bool:
    """Whether two neighbours can be one message. Sealed reasoning has to stand first in its own."""
    if m.role != before.role or m.role not in ("user", "assistant"):
        return False
    return not any(isinstance(p, Reasoning) and p.sealed for p in m.parts)


def _without_results(message: Message) -> Message | None:
    results = [i for i, p in enumerate(message.parts) if isinstance(p, ToolResult)]
    return without(message, results) if results else message


def _without_orphans(front: Sequence[Message], tail: Sequence[Message], notes: list[str]) -> list[Message]:
    """Results whose call is not shown are dropped."""
    called = {c.id for m in front for c in m.calls}
    out: list[Message] = []
    for m in tail:
        orphans = [i for i, p in enumerate(m.parts) if isinstance(p, ToolResult) and p.call_id not in called]
        called |= {p.id for p in m.parts if isinstance(p, ToolCall)}
        kept = without(m, orphans) if orphans else m
        if orphans:
            notes.append(f"dropped {len(orphans)} result(s) whose call is not shown")
        if kept is not None:
            out.append(kept)
    return out


def _with_stubs(wire: Wire, messages: Sequence[Message], notes: list[str]) -> list[Message]:
    """A call whose result is nowhere after it gets a stub, unless it is still being worked on at the very end."""
    pending = len(messages)
    while pending and messages[pending - 1].results and not messages[pending - 1].is_user_turn:
        pending -= 1
    while pending and messages[pending - 1].role == "assistant":
        pending -= 1
    answered = {r.call_id for m in messages for r in m.results}
    out: list[Message] = []
    for i, m in enumerate(messages):
        out.append(m)
        missing = [c for c in m.calls if c.kind != "server" and c.id not in answered]
        if missing and i < pending:
            notes.append(f"stubbed {len(missing)} missing result(s)")
            out += [wire.result(c, STUB) for c in missing]
    return out


def words(message: Message) -> str:
    """The words of a message that may hold a handoff."""
    return "\n".join(p.text for p in message.parts if isinstance(p, Text))
