"""Lines of styled text, before it is known whether colours are shown."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Style: TypeAlias = str  # "", or words of: bold, dim, warn, bad, good, "fg:68", "bg:71"


class Span(NamedTuple):
    text: str
    style: Style = ""


Line: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """What the terminal can do, and how wide it is."""

    width: int = 100
    color: bool = False
    charset: Literal["unicode", "ascii"] = "unicode"

    @property
    def ascii(self) -> bool:
        return self.charset == "ascii"


def cells(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(_cell(c) for c in text)


_BOTH_ENDS = 12


def _cell(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def fit(text: str, width: int, *, right: bool = False, path: bool = False, ascii_only: bool = False) -> str:
    """The text in exactly so many columns: filled up, or cut in the open (a path at its beginning)."""
    text = clean(text)
    size = cells(text)
    if size > width:
        text = shortened(text, width, path=path, ascii_only=ascii_only)
        size = cells(text)
    gap = " " * (width - size)
    return gap + text if right else text + gap


def shortened(text: str, width: int, *, path: bool = False, ascii_only: bool = False) -> str:
    """At most so many columns. A file's name that is too long by itself shows both its ends: sessions differ in either."""
    if cells(text) <= width:
        return text
    more = "~" if ascii_only else "…"
    if width < 2:
        return more[:width]
    name = text.rsplit("/", 1)[-1]
    if path and width >= _BOTH_ENDS and cells(name) > width - 1:
        front = _prefix(name, (width - 1) // 2)
        return front + more + _suffix(name, width - 1 - cells(front))
    return more + _suffix(text, width - 1) if path else _prefix(text, width - 1) + more


def clean(text: str) -> str:
    """Without what would move the cursor or colour the terminal: file names and commands come from anywhere."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text.replace("\t", " "))


def wrapped(text: str, width: int) -> list[str]:
    """The words of a paragraph in lines of that width; a word that is longer is broken."""
    lines, line, used = [], "", 0
    for word in clean(" ".join(text.split())).split(" "):
        rest = word
        while cells(rest) > width:
            if line:
                lines.append(line)
                line, used = "", 0
            piece = _prefix(rest, width) or rest[:1]
            lines.append(piece)
            rest = rest[len(piece) :]
        size = cells(rest)
        if line and used + 1 + size > width:
            lines.append(line)
            line, used = rest, size
        elif rest:
            line, used = (f"{line} {rest}", used + 1 + size) if line else (rest, size)
    return [*lines, line] if line or not lines else lines


def _suffix(text: str, width: int) -> str:
    return _prefix(text[::-1], width)[::-1]


def _prefix(text: str, width: int) -> str:
    used = 0
    for i, c in enumerate(text):
        used += _cell(c)
        if used > width:
            return text[:i]
    return text
