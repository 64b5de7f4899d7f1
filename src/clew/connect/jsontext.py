"""One value of a JSON file changed in its text, so that a user's comments, order and spacing stay.

Comments and trailing commas are read too, as some clients' files have them: they are blanked out in a copy of the same
length, in which the places are found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew.errors import ConfigError
from clew.jsonio import Json

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    start: int
    value: int
    end: int


def read(text: str) -> Json:
    """The value of a file's text; an empty file is an empty object. ConfigError where it is none."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        return json.loads(_plain(text))
    except ValueError as e:
        raise ConfigError(f"not JSON: {e}", hint="repair the file, or move it away") from e


def put(text: str, path: Sequence[str], value: Json) -> str:
    """The text with a value at a path of keys; objects on the way are made where they are missing."""
    found = read(text)
    if not isinstance(found, dict):
        raise ConfigError("the file holds no JSON object", hint="repair the file, or move it away")
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    plain = _plain(text)
    at = _next(plain, 0)
    for depth, key in enumerate(path):
        members, close = _members(plain, at)
        member = next((m for m in reversed(members) if m.key == key), None)
        if member is None:
            inner = value
            for k in reversed(path[depth + 1 :]):
                inner = {k: inner}
            return _inserted(text, plain, at, members, close, json.dumps(key), inner)
        if depth == len(path) - 1:
            return text[: member.value] + _dumped(value, _indent(text, member.start), "  ") + text[member.end :]
        if plain[member.value] != "{":
            raise ConfigError(f"`{'.'.join(path[: depth + 1])}` is no object", hint="repair the file, or move it away")
        at = member.value
    return text


def remove(text: str, path: Sequence[str]) -> str:
    """The text without a member; as it is where there is none."""
    read(text)
    plain = _plain(text)
    at = _next(plain, 0)
    for depth, key in enumerate(path):
        if at >= len(plain) or plain[at] != "{":
            return text
        members, close = _members(plain, at)
        n = next((i for i in range(len(members) - 1, -1, -1) if members[i].key == key), None)
        if n is None:
            return text
        if depth < len(path) - 1:
            at = members[n].value
            continue
        if len(members) == 1:
            return text[: at + 1] + text[close:]
        if n < len(members) - 1:
            return text[: members[n].start] + text[members[n + 1].start :]
        return text[: members[n - 1].end] + text[members[n].end :]
    return text


def _plain(text: str) -> str:
    """The text with comments, trailing commas and a byte order mark blanked out; every offset stays."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0])

    text = " " + text[1:] if text[:1] == "\ufeff" else text
    # Twice: a comma may be a trailing one only once the comment after it is gone.
    return _TOKEN.sub(blank, _TOKEN.sub(blank, text))


def _members(plain: str, at: int) -> tuple[list[_Member], int]:
    """The members of the object that opens at `at`, and where it closes. The text is known to be JSON."""
    out = []
    at = _next(plain, at + 1)
    while plain[at] != "}":
        start = at
        key, at = _DECODER.raw_decode(plain, at)
        value = _next(plain, _next(plain, at) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        out.append(_Member(key, start, value, end))
        at = _next(plain, end)
        if plain[at] == ",":
            at = _next(plain, at + 1)
    return out, at


def _next(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    return found.end() if found else at


def _inserted(text: str, plain: str, at: int, members: list[_Member], close: int, key: str, value: Json) -> str:
    if not members:
        outer = _indent(text, at)
        inner = outer + "  "
        body = f"{key}: {_dumped(value, inner, '  ')}"
        return f"{text[: at + 1]}\n{inner}{body}\n{outer}{text[close:] if not text[at + 1 : close].strip() else text[at + 1 :]}"
    last = members[-1]
    if "\n" not in plain[at : members[0].start]:
        return f"{text[: last.end]}, {key}: {json.dumps(value)}{text[last.end :]}"
    inner = _indent(text, members[0].start)
    step = inner.removeprefix(_indent(text, at)) or "  "
    return f"{text[: last.end]},\n{inner}{key}: {_dumped(value, inner, step)}{text[last.end :]}"


def _dumped(value: Json, indent: str, step: str) -> str:
    return json.dumps(value, indent=step, ensure_ascii=False).replace("\n", "\n" + indent)


def _indent(text: str, at: int) -> str:
    """The white space that the line of this place begins with."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]
