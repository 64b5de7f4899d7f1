"""Private keys: PEM, OpenSSH, PGP, PuTTY; whole, cut off at either end, escaped into one line, behind a line gutter."""

from __future__ import annotations

from clew.redact.found import Span
from clew.redact.lazy import lazy

FAMILY = "private-key"
ANCHORS = ("PRIVATE KEY", "Private-Lines:")

_BEGIN = lazy(r"-{2,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}$")
_END = lazy(r"-{2,5} ?END (?:[A-Z0-9]{1,12} ){0,3}$")
_CLOSE = lazy(r" ?(?:BLOCK ?)?-{2,5}")
# Between the pieces of a key: line ends (also escaped), quotes and pluses of string literals, line numbers, diff marks.
_MARK = r"(?:[^\S\n]*+(?:[|:→-]|\\+u2192)|[ \t]*\t|\\+t)"
_GUTTER = rf"(?:(?:[\w.\-][\w./\-]{{0,120}}[:-](?=\d{{1,6}}[:-]))?+[^\S\n]*+\d{{1,6}}{_MARK})?+"
_GAP = rf"(?:\\+n{_GUTTER}|\\+[rt]|\n{_GUTTER}(?:-(?!-))?|&#(?:10|13|x[AaDd]);|[\s\"'`,+|>\\#*;])"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject|X-[\w-]{1,30}):[^\n\\]{0,120}+"
_CHUNK = r"(?:[A-Za-z0-9+/=]|\\+/){20,}+"
_LAST = rf"(?:{_GAP}*+[A-Za-z0-9+/=]{{1,19}}+)?+{_GAP}*+-{{2,5}} ?END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)? ?-{{2,5}}"
_BODY = lazy(rf"{_GAP}*+(?:{_HEADER}{_GAP}++){{0,12}}{_CHUNK}(?:{_GAP}++{_CHUNK})*+(?:{_LAST})?")
_LINES = lazy(
    rf" ?\d{{1,4}}{_GAP}++{_CHUNK}(?:{_GAP}++{_CHUNK})*+(?:{_GAP}++[A-Za-z0-9+/]{{1,19}}={{0,2}}(?=\s|\\|$))?"
)

# The same grammar read backwards, from an END whose BEGIN was cut away.
_MARK_BACK = r"(?:(?:[|:→-]|2912u\\+)[^\S\n]*+|\t|t\\+)\d{1,6}[^\S\n]*+"
_GAP_BACK = rf"(?:-?(?:{_MARK_BACK})?(?:\n|n\\+)|[nrt]\\+|[\s\"'`,+|>\\#*;])"
_CHARS_BACK = r"(?:[nrt](?!\\)|[A-Zabcdefghijklmopqsuvwxyz0-9+/=])"
_CHUNK_BACK = rf"{_CHARS_BACK}{{20,}}+"
_BODY_BACK = lazy(
    rf"{_GAP_BACK}*+(?:{_CHARS_BACK}{{1,19}}+{_GAP_BACK}++)?+{_CHUNK_BACK}(?:{_GAP_BACK}++{_CHUNK_BACK})*+"
)
_BACK = 20_000

_QUOTE = lazy(r"\\*[\"'`]")
_PIECE = lazy(_CHUNK)

# A line after which a key may go on, or before an END; a stream holds such lines until it knows.
_OPEN_LINE = lazy(
    rf"{_GUTTER}[\s\"'`,+|>\\#*;-]*+(?:[A-Za-z0-9+/=]{{0,19}}+|{_HEADER})(?:\\+[nrt]|[\s\"'`,+|>\\#*;-])*+"
)
_OPEN_END = lazy(r"[A-Za-z0-9+/=]{20}(?:\\+[nrt]|[\s\"'`,+|>\\#*;-])*+\Z")


def at_private_key(text: str, position: int) -> list[Span]:
    """The key whose BEGIN or END line says PRIVATE KEY at that place."""
    if text.startswith("Private-Lines:", position):
        body = _LINES.match(text, position + len("Private-Lines:"))
        return [] if body is None else [Span(position + len("Private-Lines:"), body.end(), FAMILY)]
    close = _CLOSE.match(text, position + len("PRIVATE KEY"))
    if close is None:
        return []
    low = max(0, position - 50)
    begin = _BEGIN.search(text, low, position)
    if begin is not None:
        body = _BODY.match(text, close.end())
        return [] if body is None else _between_quotes(text, begin.start(), body.end())
    end = _END.search(text, low, position)
    if end is None:
        return []
    window = text[max(0, end.start() - _BACK) : end.start()]
    back = _BODY_BACK.match(window[::-1])
    if back is None:
        return []
    return _between_quotes(text, end.start() - len(back[0]), close.end())


def _between_quotes(text: str, start: int, end: int) -> list[Span]:
    """One span; or, where the key is spread over several string literals, one in each, so that they stay literals."""
    if _QUOTE.search(text, start, end) is None:
        return [Span(start, end, FAMILY)]
    bounds = [start, *(place for m in _QUOTE.finditer(text, start, end) for place in m.span()), end]
    pieces = zip(bounds[::2], bounds[1::2], strict=True)
    return [Span(low, high, FAMILY) for low, high in pieces if _PIECE.search(text, low, high) is not None]


def may_go_on(line: str) -> bool:
    """Whether a key may run over the end of that line into the next."""
    return (
        "PRIVATE KEY" in line
        or "Private-Lines" in line
        or _OPEN_LINE.fullmatch(line) is not None
        or _ends_in_chunk(line)
    )


def _ends_in_chunk(line: str) -> bool:
    tail = line.rstrip("\"'`,+|>\\#*;- \t\r\n")
    return _OPEN_END.search(line, max(0, len(tail) - 24)) is not None
