"""What a client changed between two requests of one conversation, apart from adding to its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from clew import jsonio
from clew.jsonio import Json
from clew.record.exchange import Exchange
from clew.transcript import without_cache_marks

What: TypeAlias = Literal["mark added", "mark removed", "changed", "inserted", "removed"]
_GROWING = ("messages", "input")
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `path` is that of the later request (of the earlier one for what was removed)."""

    path: str
    what: What
    before: str = ""
    after: str = ""


def changes(before: Exchange, after: Exchange) -> list[Change]:
    """Every difference between two bodies but the messages that were added at the end."""
    a, b = before.body, after.body
    out: list[Change] = []
    for key in dict.fromkeys((*a, *b)):
        if key not in b:
            out.append(Change(key, "removed", _short(a[key])))
        elif key not in a:
            out.append(Change(key, "inserted", after=_short(b[key])))
        elif key in _GROWING and isinstance(a[key], list) and isinstance(b[key], list):
            out += _list(a[key], b[key], key, growing=True)
        else:
            out += _value(a[key], b[key], key)
    return out


def header_changes(before: Exchange, after: Exchange) -> list[Change]:
    """Request headers that differ, the length of the body aside."""
    a, b = ({k.lower(): v for k, v in e.headers} for e in (before, after))
    out = []
    for name in dict.fromkeys((*a, *b)):
        if name == "content-length" or a.get(name) == b.get(name):
            continue
        what: What = "changed" if name in a and name in b else "removed" if name in a else "inserted"
        out.append(Change(name, what, a.get(name, ""), b.get(name, "")))
    return out


def _value(a: Json, b: Json, path: str) -> Iterator[Change]:
    if a == b and type(a) is type(b):
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys((*a, *b)):
            at = f"{path}.{key}"
            if key == "cache_control" and (key not in a or key not in b):
                yield Change(path, "mark removed" if key in a else "mark added", _short(a.get(key)), _short(b.get(key)))
            elif key not in b:
                yield Change(at, "removed", _short(a[key]))
            elif key not in a:
                yield Change(at, "inserted", after=_short(b[key]))
            else:
                yield from _value(a[key], b[key], at)
    elif isinstance(a, list) and isinstance(b, list):
        yield from _list(a, b, path, growing=False)
    else:
        yield Change(path, "changed", _short(a), _short(b))


def _list(a: list[Json], b: list[Json], path: str, *, growing: bool) -> Iterator[Change]:
    """Items are matched by content, so that one that was put in between doesn't make all after it look changed."""
    matcher = SequenceMatcher(None, [_digest(v) for v in a], [_digest(v) for v in b], autojunk=False)
    for op, a1, a2, b1, b2 in matcher.get_opcodes():
        if op == "equal":  # but for their marks
            for i, j in zip(range(a1, a2), range(b1, b2), strict=True):
                yield from _value(a[i], b[j], f"{path}[{j}]")
            continue
        paired = min(a2 - a1, b2 - b1)
        for k in range(paired):
            yield from _value(a[a1 + k], b[b1 + k], f"{path}[{b1 + k}]")
        for i in range(a1 + paired, a2):
            yield Change(f"{path}[{i}]", "removed", _short(a[i]))
        if not (growing and b2 == len(b) and a2 == len(a)):
            for j in range(b1 + paired, b2):
                yield Change(f"{path}[{j}]", "inserted", after=_short(b[j]))


def _digest(value: Json) -> str:
    """By what the model reads: a text that stands bare or alone in a block is the same text."""
    value = without_cache_marks(value)
    content = value.get("content") if isinstance(value, dict) else None
    if isinstance(content, str):
        value = {**value, "content": [{"type": "text", "text": content}]}
    return jsonio.digest(jsonio.canonical(value))


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else jsonio.dumps(value).decode("utf-8", "replace")
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
