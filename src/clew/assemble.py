"""Head, handoff and tail made into messages a provider accepts. The only place where roles, pairs and alternation are
settled; with legal cuts there is nothing to repair, and what is repaired is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.transcript import Message, Text, ToolCall, ToolResult
from clew.wire import Wire

STUB = "[This result belongs to earlier turns; the compacted record above says what came of it.]"


@dataclass(frozen=True, slots=True)
class Assembled:
    """The messages of a view's base and tail, where the handoff stands in them, and what had to be repaired."""

    messages: tuple[Message, ...]
    handoff: int
    repairs: tuple[str, ...] = ()


def assemble(
    wire: Wire,
    head: Sequence[Message],
    handoff: str,
    tail: Sequence[Message],
    pinned_user: Message | None = None,
) -> Assembled:
    """Put the handoff between head and tail.

    `pinned_user` is the last user turn where it lies before the tail: it is shown verbatim right after the handoff, in
    the same message, so that the request being worked on stays a user's.
    """
    before = head[-1].role if head and head[-1].role not in ("system", "developer") else ""
    if pinned_user is not None:
        middle, at = _joined(wire, head, wire.prepend_text(pinned_user, handoff + "\n\n"), before)
        rest = list(tail)
    else:
        middle, rest, at = _placed(wire, head, handoff, list(tail), before)
    messages, repairs = repair(wire, [*middle, *rest])
    return Assembled(tuple(messages), at, tuple(repairs))


def _joined(wire: Wire, head: Sequence[Message], message: Message, before: str) -> tuple[list[Message], int]:
    """A user message after a head that may end in one."""
    if before == "user":
        return [*head[:-1], wire.merge(head[-1], message)], len(head) - 1
    return [*head, message], len(head)


def _placed(
    wire: Wire, head: Sequence[Message], handoff: str, tail: list[Message], before: str
) -> tuple[list[Message], list[Message], int]:
    """The role that collides with neither neighbour; where both collide the handoff joins one of them."""
    after = tail[0].role if tail else ""
    text = wire.text_message("user", handoff)
    if before == "user":
        if after == "user":
            return [*head, wire.text_message("assistant", handoff)], tail, len(head)
        return [*head[:-1], wire.merge(head[-1], text)], tail, len(head) - 1
    if after == "user":
        return [*head], [wire.prepend_text(tail[0], handoff + "\n\n"), *tail[1:]], len(head)
    return [*head, text], tail, len(head)


def repair(wire: Wire, messages: Sequence[Message]) -> tuple[list[Message], list[str]]:
    """Orphan results dropped, missing results stubbed, same-role neighbours merged where the wire wants alternation."""
    notes: list[str] = []
    paired = _without_orphans(wire, messages, notes)
    paired = _with_stubs(wire, paired, notes)
    if not wire.alternates:
        return paired, notes
    out: list[Message] = []
    for m in paired:
        if out and m.role == out[-1].role and m.role in ("user", "assistant"):
            out[-1] = wire.merge(out[-1], m)
            notes.append(f"merged two {m.role} messages in a row")
        else:
            out.append(m)
    return out, notes


def _without_orphans(wire: Wire, messages: Sequence[Message], notes: list[str]) -> list[Message]:
    out: list[Message] = []
    called: set[str] = set()
    for m in messages:
        orphans = {i: None for i, p in enumerate(m.parts) if isinstance(p, ToolResult) and p.call_id not in called}
        called |= {p.id for p in m.parts if isinstance(p, ToolCall)}
        if not orphans:
            out.append(m)
            continue
        notes.append(f"dropped {len(orphans)} result(s) whose call is not shown")
        if len(orphans) < len(m.parts):
            out.append(wire.edited(m, orphans))
    return out


def _with_stubs(wire: Wire, messages: Sequence[Message], notes: list[str]) -> list[Message]:
    """A call whose result is nowhere later gets a stub, unless it is still being worked on at the very end."""
    last_call = max((i for i, m in enumerate(messages) if m.calls), default=-1)
    answered = {r.call_id for m in messages for r in m.results}
    out: list[Message] = []
    for i, m in enumerate(messages):
        out.append(m)
        missing = [c for c in m.calls if c.kind != "server" and c.id not in answered]
        if missing and i < last_call:
            notes.append(f"stubbed {len(missing)} missing result(s)")
            out += [wire.result(c, STUB) for c in missing]
    return out


def handoff_text(message: Message) -> str:
    """The words of a message that may hold a handoff."""
    return "\n".join(p.text for p in message.parts if isinstance(p, Text))
