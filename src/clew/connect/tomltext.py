"""A key at the root and a table of a TOML file, changed in its text. The caller checks what came out: lines inside
multi-line strings are told apart, but not every way of writing TOML is foreseen.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from clew.errors import ConfigError

_HEADER = re.compile(r"^\s*\[")
_QUOTES = re.compile(r'"""|\'\'\'')


def read(text: str) -> dict[str, Any]:
    """The value of a file's text; ConfigError where it is no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise ConfigError(f"not TOML: {e}", hint="repair the file, or move it away") from e


def put_root(text: str, key: str, value: str) -> str:
    """The text with a string under a key that stands before every table."""
    lines = text.splitlines(keepends=True)
    at = _root_line(lines, key)
    if at is None:
        return f"{key} = {json.dumps(value)}\n{text}"
    lines[at] = re.sub(r"""=\s*("[^"]*"|'[^']*')""", lambda _: f"= {json.dumps(value)}", lines[at], count=1)
    return "".join(lines)


def remove_root(text: str, key: str) -> str:
    """The text without a key at the root."""
    lines = text.splitlines(keepends=True)
    at = _root_line(lines, key)
    return text if at is None else "".join(lines[:at] + lines[at + 1 :])


def put_table(text: str, name: str, values: Mapping[str, Any]) -> str:
    """The text with a table of strings and booleans, in the place of one that is there, else at its end."""
    body = "".join(f"{k} = {json.dumps(v)}\n" for k, v in values.items())
    lines = text.splitlines(keepends=True)
    start, end = _table(lines, name)
    if start is not None:
        return "".join([*lines[: start + 1], body, *(["\n"] if end < len(lines) else []), *lines[end:]])
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}[{name}]\n{body}"


def remove_table(text: str, name: str) -> str:
    """The text without a table, and without the blank line before it."""
    lines = text.splitlines(keepends=True)
    start, end = _table(lines, name)
    if start is None:
        return text
    if start and not lines[start - 1].strip() and end == len(lines):
        start -= 1
    return "".join(lines[:start] + lines[end:])


def _root_line(lines: list[str], key: str) -> int | None:
    pattern = re.compile(rf"""^\s*(?:{key}|"{key}"|'{key}')\s*=""")
    for i, outside in enumerate(_outside(lines)):
        if outside and _HEADER.match(lines[i]):
            return None
        if outside and pattern.match(lines[i]):
            return i
    return None


def _table(lines: list[str], name: str) -> tuple[int | None, int]:
    start = None
    for i, outside in enumerate(_outside(lines)):
        if not outside or not _HEADER.match(lines[i]):
            continue
        if start is not None:
            return start, i
        if re.match(rf"^\s*\[\s*{re.escape(name)}\s*\]", lines[i]):
            start = i
    return start, len(lines)


def _outside(lines: list[str]) -> list[bool]:
    """For each line whether it begins outside of a multi-line string."""
    out, inside = [], ""
    for line in lines:
        out.append(not inside)
        for quotes in _QUOTES.findall(line):
            if not inside:
                inside = quotes
            elif quotes == inside:
                inside = ""
    return out
