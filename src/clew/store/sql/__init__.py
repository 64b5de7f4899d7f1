"""SQL lives in `.sql` files; statements that code names stand under a `-- name:` line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def named(dialect: str, file: str) -> Mapping[str, str]:
    """The named statements of one file."""
    pieces = _NAME.split(_text(dialect, file))
    return {name: body.strip().rstrip(";") for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


@cache
def migrations(dialect: str) -> tuple[tuple[int, str], ...]:
    """The numbered files, in order."""
    files = sorted(p.name for p in resources.files(__package__).joinpath(dialect).iterdir())
    return tuple((int(n[:4]), _text(dialect, n)) for n in files if n[:4].isdigit() and n.endswith(".sql"))


def _text(dialect: str, file: str) -> str:
    return resources.files(__package__).joinpath(dialect, file).read_text(encoding="utf-8")
