"""Tokens known by their shape: a vendor's prefix, a mark in the middle, a JWT."""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from clew.redact.found import ENOUGH, Span
from clew.redact.lazy import lazy
from clew.redact.values import degenerate, wordy
from clew.redact.vendors import ALPHABETS, INFIX, LONGEST, LONGEST_KEY, TABLE

_ITEM = lazy(r"\[[^\]]+\]|\\.|.")
_RUN = lazy(r"(?P<first>\[[^\]]+\])?(?P<kind>\[[^\]]+\])\{(?P<least>\d+)(?P<more>,\d+)?\}\Z")
# How much of what stands before a mark an engine looks for.
_LEFT = 8
# A token may follow an escape of a letter or digits that belong to no word: `\n`, `%3D`, `\u0022`, the end of a colour.
_ESCAPE = lazy(
    r"(?:\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|(?:\x1b|\\e|\\033|1b)\[[0-9;]{0,12}m)$"
)
_ESCAPES = frozenset("nrtbf")
_AWS_SECRET = lazy(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
_DIGIT, _LETTER = lazy(r"[0-9]"), lazy(r"[A-Za-z]")
_HEX = frozenset("0123456789abcdef")
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
    longest: int = LONGEST
    before: str = ""

    @property
    def prefix_length(self) -> int:
        return len(_ITEM.findall(self.prefix))

    @property
    def left(self) -> str:
        """Of what stands before a mark, its end, as an expression of fixed length."""
        run = _RUN.search(self.before)
        assert run is not None
        least = int(run["least"])
        if run["more"] or least > _LEFT or run["first"] is None:
            return f"{run['kind']}{{{min(least, _LEFT)}}}"
        return f"{run['first']}{run['kind']}{{{least}}}"

    @property
    def left_run(self) -> tuple[str, int]:
        """The class that what stands before a mark ends in, and how many of it there are at least."""
        run = _RUN.search(self.before)
        assert run is not None
        return run["kind"][1:-1], int(run["least"])


def _escaped(prefix: str) -> str:
    return "".join(item if item.startswith("[") else re.escape(item) for item in _ITEM.findall(prefix))


_PIECE = lazy(r"\[((?:\\.|[^\]\\])+)\]|\\(.)|(.)")


def heads(prefix: str, most: int = 16) -> list[str]:
    """The literal strings a prefix can begin with; a class that stands for too many ends them."""
    found = [""]
    for match in _PIECE.finditer(prefix):
        one_of = _members(match[1]) if match[1] is not None else [match[2] or match[3]]
        if len(found) * len(one_of) > most:
            break
        found = ["".join(pair) for pair in itertools.product(found, one_of)]
    return found


def _members(inside: str) -> list[str]:
    return [chr(c) for c in range(33, 127) if re.fullmatch(f"[{inside}]", chr(c)) is not None]


@lru_cache(maxsize=1)
def shapes() -> tuple[Shape, ...]:
    """Every shape with a prefix, in the order in which they are tried: what is particular before what is general."""
    out = []
    for row in TABLE.strip().splitlines():
        family, prefix, alphabet, least, *flags = row.split()
        flag = "".join(flags)
        longest = int(least) if "x" in flag else LONGEST_KEY if "l" in flag else LONGEST
        out.append(Shape(family, _escaped(prefix), ALPHABETS[alphabet], int(least), "x" in flag, "m" in flag, longest))
    return tuple(out)


@lru_cache(maxsize=1)
def infixes() -> tuple[Shape, ...]:
    """Every shape known by a mark inside it."""
    out = []
    for row in INFIX.strip().splitlines():
        family, mark, before, alphabet, least, *flags = row.split()
        exact = flags == ["x"]
        longest = int(least) if exact else LONGEST
        out.append(
            Shape(
                family,
                re.escape(mark),
                ALPHABETS[alphabet],
                int(least),
                exact,
                mixed=False,
                longest=longest,
                before=before,
            )
        )
    return tuple(out)


@lru_cache(maxsize=1)
def _starting() -> dict[str, tuple[re.Pattern[str], tuple[Shape, ...]]]:
    """By first character: one expression for all its shapes, to say quickly that none is there; and the shapes."""
    table: dict[str, list[Shape]] = {}
    for shape in shapes():
        for first in sorted({head[0] for head in heads(shape.prefix)}):
            table.setdefault(first, []).append(shape)
    return {
        first: (re.compile("|".join(f"{s.prefix}()[{s.alphabet}]{{{s.least}}}" for s in some)), tuple(some))
        for first, some in table.items()
    }


@lru_cache(maxsize=512)
def _body(shape: Shape) -> re.Pattern[str]:
    after = f"(?![{shape.alphabet}])" if shape.exact else ""
    return re.compile(f"{shape.prefix}([{shape.alphabet}]{{{shape.least},{shape.longest}}}){after}")


@lru_cache(maxsize=1)
def _inside() -> dict[str, tuple[tuple[Shape, re.Pattern[str], re.Pattern[str]], ...]]:
    """By first character of the mark: the shape, mark and body, and what must stand before."""
    table: dict[str, list[tuple[Shape, re.Pattern[str], re.Pattern[str]]]] = {}
    for s in infixes():
        row = (s, _body(s), re.compile(f"(?:{s.before})\\Z"))
        table.setdefault(heads(s.prefix)[0][0], []).append(row)
    return {first: tuple(rows) for first, rows in table.items()}


_JWT = lazy(
    r"eyJ[A-Za-z0-9_-]{10,4096}\.(?:eyJ[A-Za-z0-9_-]{2,16384}(?:\.[A-Za-z0-9_-]{0,4096})?|(?:[A-Za-z0-9_-]{0,16384}\.){3}[A-Za-z0-9_-]{10,4096})"
)


@lru_cache(maxsize=512)
def _beginning(shape: Shape) -> re.Pattern[str]:
    return re.compile(f"{shape.prefix}([{shape.alphabet}]{{{shape.least},{max(shape.least, ENOUGH)}}})")


def at_prefix(text: str, position: int) -> list[Span]:
    """The token whose prefix stands at that place, if one does."""
    if not free_before(text, position):
        return []
    if text.startswith(JWT_HEAD, position):
        jwt = _JWT.match(text, position)
        if jwt is not None and _json_header(jwt[0].split(".", 1)[0]):
            return [Span(position, jwt.end(), "jwt")]
    pattern, some = _starting().get(text[position], (None, ()))
    quick = None if pattern is None else pattern.match(text, position)
    if quick is None or quick.lastindex is None:
        return []
    for shape in some[quick.lastindex - 1 :]:
        # Most fall at a look at the beginning, which spares reading on.
        begins = _beginning(shape).match(text, position)
        if begins is None or not _plausible(shape, begins[1]):
            continue
        match = _body(shape).match(text, position)
        if match is None:
            continue
        body, end = match[1], match.end()
        if not shape.exact:
            stripped = body.rstrip(".,=-" if "=" not in shape.alphabet else ".,-")
            end -= len(body) - len(stripped)
            body = stripped
        if _issued(shape, body, text, position):
            token = Span(position, end, shape.family)
            return [token, *_beside(text, end)] if shape.family == "aws" else [token]
    return []


def _beside(text: str, position: int) -> list[Span]:
    """The secret key of an AWS key id, where it stands on the same line: a column of a CSV file, the next field."""
    limit = text.find("\n", position, position + 120)
    match = _AWS_SECRET.search(text, position, limit if limit >= 0 else min(len(text), position + 120))
    if match is None or not _drawn(match[0]) or set(match[0]) <= _HEX:
        return []
    return [Span(match.start(), match.end(), "aws")]


def at_infix(text: str, position: int) -> list[Span]:
    """The token that has its mark at that place."""
    for shape, forward, backward in _inside().get(text[position], ()):
        match = forward.match(text, position)
        if match is None or (shape.least >= 5 and degenerate(match[1][:ENOUGH])):
            continue
        low = max(0, position - 80)
        head = text[low:position]
        before = backward.search(head)
        if before is None or (shape.least < 5 and degenerate(before[0][:ENOUGH])):
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
    if before == "\\" and text[position : position + 1] in _ESCAPES:
        return False  # the letter belongs to the escape
    if not (before.isascii() and before.isalnum()):
        return before != "+" or not text[max(0, position - 12) : position - 1].isalnum()
    return _ESCAPE.search(text, max(0, position - 16), position) is not None


def _plausible(shape: Shape, body: str) -> bool:
    return _judged(body[:ENOUGH], shape.mixed)


@lru_cache(maxsize=256)
def _judged(body: str, mixed: bool) -> bool:
    return not degenerate(body) and (not mixed or _drawn(body))


def _issued(shape: Shape, body: str, text: str, start: int) -> bool:
    if len(body) < shape.least or not _plausible(shape, body):
        return False
    # Inside base64 (an image, a digest) anything can come up by chance.
    return not (
        text[start - 1 : start] == "/"
        and re.fullmatch(r"[A-Za-z0-9+/]{24}", text[max(0, start - 24) : start]) is not None
    )


def _drawn(body: str) -> bool:
    mixed = _DIGIT.search(body) is not None and _LETTER.search(body) is not None
    return (mixed or len(body) >= 24) and not wordy(body)


def _json_header(head: str) -> bool:
    try:
        return base64.urlsafe_b64decode(head[: len(head) // 4 * 4]).lstrip().startswith(b"{")
    except (binascii.Error, ValueError):
        return False
