"""Many paths in few lines: a folder once, then what lies below it. And the paths of such lines again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

_ALSO = "also changed"
_LINE = re.compile(rf"^- {_ALSO}(?:, below (?P<base>.*?[/\\]))?: (?P<rest>.+)$", re.MULTILINE)
_APART = ", "
_ROOT = 3  # folders by which paths are told to lie in one place: /home/user/project


def also_changed(paths: Sequence[str], room: int, measure: Callable[[str], int]) -> tuple[list[str], frozenset[str]]:
    """Lines that name the paths, the first ones first within about `room` tokens, and those they name."""
    lines: list[str] = []
    named: set[str] = set()
    for base, below in _groups(p for p in paths if _plain(p)):
        line = f"{_ALSO}, below {base}:" if base else f"{_ALSO}:"
        taken: list[str] = []
        left = room - measure(line)
        for path in below:
            cost = measure(path) + 1
            if cost > left:
                break
            left -= cost
            taken.append(path)
        if taken:
            lines.append(f"{line} {_APART.join(taken)}")
            named |= {base + path for path in taken}
            room = left
    return lines, frozenset(named)


def listed(text: str) -> frozenset[str]:
    """The paths that such lines of a text name."""
    return frozenset(
        f"{found['base'] or ''}{below}" for found in _LINE.finditer(text) for below in found["rest"].split(_APART)
    )


def _plain(path: str) -> bool:
    """Whether everybody can tell where it begins and ends in a line of many."""
    return not any(mark in path for mark in (_APART, ": ", "\n")) and path[-1:] not in ("", "/", "\\")


def _groups(paths: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The folder that the paths of one place share, and what lies below it; the place with most of them first."""
    places: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        folders = _folders(path)
        places.setdefault(tuple(folders[: _ROOT + 1]) if _rooted(path) else (), []).append(path)
    for place, together in sorted(places.items(), key=lambda item: -len(item[1])):
        same = takewhile(lambda level: len(set(level)) == 1, zip(*map(_folders, together), strict=False))
        base = "".join(level[0] for level in same) if place else ""
        yield base, [path[len(base) :] for path in together]


def _folders(path: str) -> list[str]:
    """Each folder of a path with its slash; the first is the root's."""
    return re.findall(r"[^/\\]*[/\\]", path)


def _rooted(path: str) -> bool:
    return path[0] in "/\\~" or path[1:2] == ":"
