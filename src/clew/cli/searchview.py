"""How hits look on a terminal, and without one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from clew.cli.keys import key
from clew.recall import Found, Glance, Shown

_ROLES = {"user": "bold green", "assistant": "cyan", "tool": "magenta", "system": "dim"}
_HIT = "bold black on yellow"
_SHOWN = 300  # characters of a message in a window


@dataclass(frozen=True, slots=True)
class Look:
    """Where it is shown. `live` says that someone sits there who can press keys."""

    console: Console
    live: bool

    @classmethod
    def of(cls, out: TextIO) -> Look:
        live = out.isatty() and sys.stdin.isatty() and os.environ.get("TERM") != "dumb"
        return cls(Console(file=out, highlight=False, emoji=False, markup=False), live)

    @property
    def marks(self) -> tuple[str, str]:
        """What a hit stands between where no colour can show it."""
        return ("", "") if self.console.color_system and not self.console.no_color else ("»", "«")

    def print(self, lines: Iterator[Text]) -> None:
        """Each line under its own indent where it must be broken; whole where nobody's window breaks it."""
        for line in lines:
            if not self.live:
                self.console.print(line, soft_wrap=True)
                continue
            indent = len(line.plain) - len(line.plain.lstrip())
            self.console.print(Padding(line[indent:], (0, 0, 0, indent)))

    def prompt(self, text: str) -> None:
        """On a line of its own that the next thing printed takes the place of."""
        out = self.console.file
        out.write(f"\r\x1b[2K\x1b[2m{text}\x1b[0m" if text else "\r\x1b[2K")
        out.flush()

    def number(self, first: str) -> int:
        """A number of which one digit is known: as many more as are typed, ended by any other key."""
        digits = first
        while True:
            self.prompt(f"open hit {digits} (Enter)")
            pressed = key()
            if not pressed.isdigit():
                self.prompt("")
                return int(digits)
            digits += pressed


def hit_lines(number: int, hit: Found, look: Look) -> Iterator[Text]:
    head = Text(f"{number:>3}  ", "dim")
    head.append(hit.title or hit.session, "bold")
    about = [when(hit.time), hit.role + (f" {hit.tool}" if hit.tool else ""), hit.source, hit.project, hit.tenant]
    head.append("   " + " · ".join(x for x in about if x), "dim")
    yield head
    yield Text("     ").append_text(_snippet(hit, look))
    foot = Text(f"     {hit.session} at {hit.position} · {hit.reference}", "dim")
    yield foot
    yield Text()


def window_lines(hit: Found, look: Look) -> Iterator[Text]:
    """How it began, what stood around the hit, how it ended."""
    blocks: Sequence[tuple[str, Sequence[Shown]]] = (
        ("how it began", hit.first), ("around the hit", hit.window), ("how it ended", hit.last)
    )  # fmt: skip
    for name, messages in blocks:
        if messages:
            yield Text(f"     ── {name} ", "dim")
            for m in messages:
                here = (m.session, m.position) == (hit.session, hit.position)
                yield _message(m, _snippet(hit, look) if here else None)
    yield Text()


def glance_lines(glance: Glance) -> Iterator[Text]:
    yield Text(when(glance.updated) + "  ", "dim").append(glance.title or glance.session, "bold")
    about = [glance.session, f"{glance.length} messages", glance.source, glance.project, glance.end_reason]
    if glance.preview:
        yield Text("  " + glance.preview)
    yield Text("  " + " · ".join(x for x in about if x), "dim")
    yield Text()


def when(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def _snippet(hit: Found, look: Look) -> Text:
    before, after = look.marks
    found = Text(hit.snippet.marked(before, after))
    if not before:
        for start, end in hit.snippet.marks:
            found.stylize(_HIT, start, end)
    return found


def _message(m: Shown, found: Text | None) -> Text:
    """One message; the hit itself is shown by its snippet."""
    line = Text(f"     {'▶' if found else ' '} ", "bold yellow" if found else "")
    line.append(f"{m.position:>5} ", "dim")
    name = f"{m.role} → {m.tool}" if m.tool and m.role == "assistant" else m.tool or m.role
    line.append(name, _ROLES.get(m.role, ""))
    line.append("  ")
    line.append_text(found or Text(" ".join(m.text[:_SHOWN].split())))
    left_out = m.left_out + max(0, len(m.text) - _SHOWN)
    if left_out:
        line.append(f" … {left_out:,} more · {m.reference}", "dim")
    return line
