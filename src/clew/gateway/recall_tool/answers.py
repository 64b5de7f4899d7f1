"""The answers to the gateway's calls, as messages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from clew.context import Context
from clew.transcript import Message, ToolCall
from clew.wire import get

USED_UP = "The budget of recalls for this turn is used up: go on with what is known."
DOWN = "The store of this conversation can't be reached now: go on with what is known."


def answers(live: Context, calls: Iterable[ToolCall], wire: str, *, most: int, used_up: bool = False) -> list[Message]:
    """One message for each call; one for all where the format has results in one. Raises StoreError. `most` are the
    characters of a result.
    """
    given = [(c, USED_UP if used_up else _cut(live.handle_call(c.name, c.arguments), most)) for c in calls]
    return in_messages(given, wire)


def in_messages(results: Iterable[tuple[ToolCall, str]], wire: str) -> list[Message]:
    spoken = get(wire)
    messages = [spoken.result(call, text or "(empty)") for call, text in results]
    return [reduce(spoken.merge, messages)] if spoken.results_in_user and messages else messages


def _cut(text: str, most: int) -> str:
    """Its first lines, where it is longer than the conversation has room for."""
    if len(text) <= most:
        return text
    lines = text.split("\n")
    n = size = 0
    while n < len(lines) and size + len(lines[n]) < most:
        size += len(lines[n]) + 1
        n += 1
    if not n:
        return f"{text[:most]}\n[… {len(text) - most:,} more characters in this line]"
    return "\n".join(lines[:n]) + f'\n[… lines 1-{n} of {len(lines)}; ask with lines="{n + 1}-{len(lines)}" for others]'
