"""Paths in a model's text: where one begins and ends, and under which spellings a source may hold it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_EXTENSIONS = (
    "py|pyi|js|mjs|cjs|jsx|ts|tsx|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|lua|sh|bash|md|rst|txt|json|jsonl|ya?ml|"
    "toml|cfg|ini|conf|env|html|css|scss|sql|lock|log|csv|tsv|xml|proto|ipynb|mod|sum|svg|png|jpe?g|pdf|db|zip|gz|tf|vue"
)
_AT_LINE = r"(?:(?::|\#L)\d+(?:-L?\d+)?(?![\w/\\]))?"
# For a verbose pattern. With slashes, at a root, a bare file name with a known ending; with backslashes only where a drive
# or such an ending says that they are no escapes.
PATH = rf"""
    (?:[A-Za-z]:\\[\w.@+\\-]*\w | (?:[\w.@+-]+\\+)+[\w.@+-]*\.(?:{_EXTENSIONS})\b){_AT_LINE}
  | (?<![\w/.…@+-])(?:…|~|\.{{1,2}})?/*(?:[\w.@+-]+/+)+[\w.@+-]*[\w@+-]{_AT_LINE}
  | (?<![\w/.~…])/+[\w.@+-]+\w
  | (?<![\w/.-])[\w-][\w.-]*\.(?:{_EXTENSIONS})(?![A-Za-z0-9]){_AT_LINE}
"""
_LINE = re.compile(r"(?::|#L)(\d+)(?:-L?(\d+))?$")
_UNSPACED = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"  # scripts that put no space around a path
_EDGES = re.compile(rf"^(?:{_UNSPACED})?(.*?)(?:{_UNSPACED})?$", re.DOTALL)


def lined(path: str) -> tuple[str, re.Match[str] | None]:
    """The path without its line, and the match of that."""
    line = _LINE.search(path)
    return (path[: line.start()] if line is not None else path), line


def core(path: str) -> str:
    """The path without the words that a script without spaces runs into it."""
    found = _EDGES.match(path)
    assert found is not None
    return found[1]


def spellings(bare: str) -> Iterator[str]:
    """The path as it stands, and as a source may spell it: one slash for several, none of what a diff, a mention, a list or
    emphasis puts before it.
    """
    plain = re.sub(r"(?<=[^/])/+", "/", re.sub(r"^/+", "/", bare)).replace("/./", "/")
    plain = plain.removeprefix("./").removeprefix("…/").rstrip("/")
    yield plain
    if "\\" in plain:
        single = re.sub(r"\\+", r"\\", plain)
        yield from (single, single.replace("\\", "\\\\"), single.replace("\\", "/"))
    stripped = plain.lstrip("@+-")
    stripped = stripped.strip("_") if stripped.startswith("_") else stripped
    if stripped != plain:
        yield stripped
    if re.match(r"[ab]/\w", plain):
        yield plain[2:]
