"""A stored message as it is given out: masked, safe for a terminal, no longer than asked for."""

from __future__ import annotations

from dataclasses import dataclass

from clew.recall.snippet import plain
from clew.redact import redact
from clew.store.indexed import indexed
from clew.store.records import Stored
from clew.transcript import reference

_READ = 1 << 14  # characters that are masked of a message that is cut far below


@dataclass(frozen=True, slots=True)
class Shown:
    """`session` is the one that wrote it; `left_out` counts the characters cut off the end; `reference` recalls all."""

    session: str
    position: int
    role: str
    tool: str
    time: float
    text: str
    left_out: int
    reference: str


def shown(stored: Stored, width: int = 0) -> Shown:
    """The first `width` characters, 0 for all. Masking goes before cutting: half a secret would not be seen as one."""
    whole = indexed(stored.message)
    read = whole[:_READ] if 0 < width <= _READ // 16 else whole
    text = plain(redact(read, force=True))
    cut = text[:width] if width else text
    left_out = len(text) - len(cut) + len(whole) - len(read)
    ref = reference(stored.address)
    return Shown(stored.owner, stored.position, stored.message.role, stored.tool, stored.time, cut, left_out, ref)


def masked(text: str) -> str:
    """Any text on its way out."""
    return plain(redact(text, force=True))
