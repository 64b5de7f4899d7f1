"""Data as lines a reader can quote from: one line an object, `key=value` side by side.

Tools of support and operations answer with JSON on one long line; a piece cut out of that says little, a whole object says
what belongs together.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew import jsonio
from clew.jsonio import Json

_LONG = 200  # characters of a line worth taking apart
_LARGEST = 400_000  # characters of JSON that are parsed here
_WIDTH = 320  # characters of a line
_VALUE = 120  # characters of one value


def quotable(text: str) -> str:
    """The text with data on one long line taken apart; anything else as it is."""
    if text[:1] not in "{[" or not _LONG < len(text) < _LARGEST or text.count("\n") > len(text) // 2_000:
        return text
    try:
        value = jsonio.exact(text)
    except ValueError:
        return text
    return "\n".join(_lines(value, ""))


def _lines(value: Json, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        plain = {k: v for k, v in value.items() if not isinstance(v, (dict, list)) or _short(v)}
        yield from _folded(name, plain)
        for k, v in value.items():
            if k not in plain:
                yield from _lines(v, str(k))
    elif isinstance(value, list):
        for v in value:
            yield from _lines(v, name)
    else:
        yield from (f"{name}: {s}" if name else s for s in str(value).split("\n"))


def _short(value: Json) -> bool:
    """A list of a few plain values is one too."""
    return isinstance(value, list) and all(not isinstance(v, (dict, list)) for v in value) and len(str(value)) < _VALUE


def _folded(name: str, plain: dict[str, Json]) -> Iterator[str]:
    lead = f"{name}: " if name else ""
    line = lead
    for k, v in plain.items():
        text = str(v)
        if "\n" in text or len(text) > _VALUE:
            yield from (f"{k}: {s}" for s in text.split("\n"))
            continue
        piece = f"{k}={', '.join(map(str, v)) if isinstance(v, list) else text}"
        if len(line) + len(piece) > _WIDTH and line != lead:
            yield line
            line = lead
        line += piece if line == lead else f" {piece}"
    if line != lead:
        yield line
