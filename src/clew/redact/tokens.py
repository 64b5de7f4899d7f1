"""Tokens known by their shape: a vendor's prefix, a mark in the middle, a JWT."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from functools import lru_cache

from clew.redact.found import ENOUGH, Span
from clew.redact.lazy import lazy
from clew.redact.values import degenerate, wordy
from clew.redact.vendors import ALPHABETS, INFIX, LONGEST, TABLE

_ITEM = lazy(r"\[[^\]]+\]|\\.|.")
# A token may follow an escape of a letter or digits that belong to no word: `\n`, `%3D`, `\u0022`, the end of a colour.
_ESCAPE = lazy(
    r"(?:\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|(?:\x1b|\\e|\\033|1b)\[[0-9;]{0,12}m)$"
)
JWT_HEAD = "eyJ"
JWT_LEAST = 10


@dataclass(frozen=True, slots=True)
class Shape:
    """One row of the table. `prefix` is a regular expression of fixed length, `alphabet` the inside of a character class."""

    family: str
    prefix: str
    alphabet: str
    least: int
    exact: bool
    mixed: bool
    before: str = ""

    @property
    def prefix_length(self) -> int:
        return len(_ITEM.findall(self.prefix))


def _escaped(prefix: str) -> str:
    return "".join(item if item.startswith("[") else re.escape(item) for item in _ITEM.findall(prefix))


@lru_cache(maxsize=1)
def shapes() -> tuple[Shape, ...]:
    """Every shape with a prefix, in the order in which they are tried: what is particular before what is general."""
    out = []
    for row in TABLE.strip().splitlines():
        family, prefix, alphabet, least, *flags = row.split()
        flag = "".join(flags)
        out.append(Shape(family, _escaped(prefix), ALPHABETS[alphabet], int(least), "x" in flag, "m" in flag))
    return tuple(out)


@lru_cache(maxsize=1)
def infixes() -> tuple[Shape, ...]:
    """Every shape known by a mark inside it."""
    out = []
    for row in INFIX.strip().splitlines():
        family, mark, before, alphabet, least = row.split()
        out.append(
            Shape(family, _escaped(mark), ALPHABETS[alphabet], int(least), exact=False, mixed=False, before=before)
        )
    return tuple(out)


@lru_cache(maxsize=1)
def _whole() -> re.Pattern[str]:
    """One group a shape: prefix, then the body in the group."""
    return re.compile(
        "|".join(f"{s.prefix}([{s.alphabet}]{{{s.least},{s.least if s.exact else LONGEST}}})" for s in shapes())
    )


@lru_cache(maxsize=1)
def _inside() -> tuple[tuple[Shape, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (s, re.compile(f"{s.prefix}[{s.alphabet}]{{{s.least},{LONGEST}}}"), re.compile(f"(?:{s.before})\\Z"))
        for s in infixes()
    )


_JWT = lazy(
    r"eyJ[A-Za-z0-9_-]{10,4096}\.(?:eyJ[A-Za-z0-9_-]{2,16384}(?:\.[A-Za-z0-9_-]{0,4096})?|(?:[A-Za-z0-9_-]{0,16384}\.){3}[A-Za-z0-9_-]{10,4096})"
)


def at_prefix(text: str, position: int) -> list[Span]:
    """The token whose prefix stands at that place, if one does."""
    if not free_before(text, position):
        return []
    if text.startswith(JWT_HEAD, position):
        jwt = _JWT.match(text, position)
        if jwt is not None and _json_header(jwt[0].split(".", 1)[0]):
            return [Span(position, jwt.end(), "jwt")]
    match = _whole().match(text, position)
    if match is not None:
        index = match.lastindex
        assert index is not None
        shape, body, end = shapes()[index - 1], match[index], match.end()
        if not shape.exact:
            stripped = body.rstrip(".=-" if "=" not in shape.alphabet else ".-")
            end -= len(body) - len(stripped)
            body = stripped
        if _issued(shape, body, text, position, end):
            return [Span(position, end, shape.family)]
    return []


def at_infix(text: str, position: int) -> list[Span]:
    """The token that has its mark at that place."""
    for shape, forward, backward in _inside():
        match = forward.match(text, position)
        if match is None:
            continue
        low = max(0, position - 80)
        # A mark that starts with a character of what stands before it (a digit, say) belongs to both.
        head = text[low : position + (1 if shape.prefix.startswith("[0-9]") else 0)]
        before = backward.search(head)
        body = match[0][shape.prefix_length :]
        if before is None or (shape.least >= 5 and degenerate(body[:ENOUGH])):
            continue
        for start in range(before.start(), min(before.start() + 6, len(head))):
            if free_before(text, low + start) and backward.match(head, start) is not None:
                return [Span(low + start, match.end(), shape.family)]
    return []


def free_before(text: str, position: int) -> bool:
    """Whether a token can begin here: not in the midst of a word, unless the letters before belong to an escape."""
    if position == 0:
        return True
    before = text[position - 1]
    if not (before.isascii() and before.isalnum()):
        return before != "+" or not text[max(0, position - 12) : position - 1].isalnum()
    return _ESCAPE.search(text, max(0, position - 16), position) is not None


def _issued(shape: Shape, body: str, text: str, start: int, end: int) -> bool:
    if len(body) < shape.least or degenerate(body[:ENOUGH]):
        return False
    if shape.exact and end < len(text) and re.match(f"[{shape.alphabet}]", text[end]) is not None:
        return False
    if shape.mixed and not _drawn(body[:ENOUGH]):
        return False
    # Inside base64 (an image, a digest) anything can come up by chance.
    return not (
        text[start - 1 : start] == "/"
        and re.fullmatch(r"[A-Za-z0-9+/]{24}", text[max(0, start - 24) : start]) is not None
    )


def _drawn(body: str) -> bool:
    mixed = any(c.isdigit() for c in body) and any(c.isalpha() for c in body)
    return (mixed or len(body) >= 24) and not wordy(body)


def _json_header(head: str) -> bool:
    try:
        return base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).lstrip().startswith(b"{")
    except (binascii.Error, ValueError):
        return False
