"""A request body cut into its members and messages, each as the bytes that arrived."""

from __future__ import annotations

import json
from dataclasses import dataclass

from clew.errors import TooLarge, WireError
from clew.jsonio import Json

MAX_DEPTH = 200
_DECODER = json.JSONDecoder()
_BLANK = " \t\n\r"


@dataclass(frozen=True, slots=True)
class Body:
    """A JSON object: its value, each member's own bytes, and those of the elements of one member that is a list."""

    value: dict[str, Json]
    fields: dict[str, bytes]
    items: tuple[bytes, ...]


def check_depth(value: Json) -> None:
    """Raises TooLarge where lists and objects are nested more than MAX_DEPTH deep; itself it needs no depth."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise TooLarge(f"JSON nested more than {MAX_DEPTH} deep", hint="no provider takes such a body: flatten it")


def split(body: bytes, list_key: str) -> Body:
    """The body's members; WireError where it is no JSON object in UTF-8."""
    try:
        text = body.decode()
        parsed = _members(text, list_key)
    except RecursionError as e:
        raise TooLarge(f"JSON nested more than {MAX_DEPTH} deep", hint="no provider takes such a body") from e
    except IndexError as e:
        raise WireError("the JSON ends too early", hint="was the body cut off?") from e
    except ValueError as e:
        raise WireError(f"not a JSON body: {e}", hint="a request body is one JSON object in UTF-8") from e
    check_depth(parsed.value)
    return parsed


def _members(text: str, list_key: str) -> Body:
    value: dict[str, Json] = {}
    fields: dict[str, bytes] = {}
    items: list[bytes] = []
    i = _skip(text, 0)
    if text[i] != "{":
        raise ValueError("it does not start with {")
    i = _skip(text, i + 1)
    while text[i] != "}":
        key, i = _DECODER.raw_decode(text, i)
        i = _skip(text, i)
        if not isinstance(key, str) or text[i] != ":":
            raise ValueError(f"expected a name and a colon at character {i}")
        start = _skip(text, i + 1)
        # A name given twice: the last one counts, as in any JSON reader.
        if key == list_key and text[start] == "[":
            value[key], items, i = _elements(text, start)
        else:
            value[key], i = _DECODER.raw_decode(text, start)
            fields[key] = text[start:i].encode()
            if key == list_key:
                items = []
        i = _next(text, _skip(text, i), "}")
    if text[i + 1 :].strip(_BLANK):
        raise ValueError(f"more after the object's end at character {i + 1}")
    return Body(value, fields, tuple(items))


def _elements(text: str, i: int) -> tuple[list[Json], list[bytes], int]:
    values, raws = [], []
    i = _skip(text, i + 1)
    while text[i] != "]":
        value, end = _DECODER.raw_decode(text, i)
        values.append(value)
        raws.append(text[i:end].encode())
        i = _next(text, _skip(text, end), "]")
    return values, raws, i + 1


def _next(text: str, i: int, close: str) -> int:
    """Past the comma to the next element, or at the closing bracket."""
    if text[i] == close:
        return i
    if text[i] != ",":
        raise ValueError(f"expected a comma or {close} at character {i}")
    i = _skip(text, i + 1)
    if text[i] == close:
        raise ValueError(f"a comma too many at character {i}")
    return i


def _skip(text: str, i: int) -> int:
    while text[i] in _BLANK:
        i += 1
    return i
