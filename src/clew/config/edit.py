"""One key of a YAML text changed and nothing else: comments, order and spelling of the rest stay as the user wrote them.

The text is cut and joined at the places the parser names; then both texts are read and compared node by node, so that an
edit that would mean anything else is refused. (A round-trip YAML library would bring a second parser for this alone.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from clew.config import yamltree
from clew.errors import ConfigError

Node: TypeAlias = Any  # PyYAML's: its stubs don't tell the kinds apart by `id`

INDENT = "  "
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = re.compile(r"(?i)true|false|yes|no|on|off|y|n|null|none")


def edited(text: str, path: tuple[str, ...], value: Any, name: str) -> str:
    """The text with `value` at `path`. ConfigError where that can't be done by lines; the file is then the user's to edit."""
    mark, body = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    newline = "\r\n" if "\r\n" in body else "\n"
    before = yamltree.compose(body, name)
    for candidate in _candidates(body, before, path, rendered(value), newline):
        try:
            after = yamltree.compose(candidate, name)
        except ConfigError:
            continue
        if _differs_only_at(before, after, path):
            return mark + candidate
    raise ConfigError(
        f"{name}: {'.'.join(path)} can't be changed without touching other lines", hint="edit the file by hand"
    )


def rendered(value: Any) -> str:
    """A value on one line, the same in block and flow style."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        digits = repr(value)
        return digits if "." in digits else digits.replace("e", ".0e")  # YAML 1.1 reads 1e-05 as text
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and not _WORDS.fullmatch(value)
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{rendered(str(k))}: {rendered(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(rendered, value)) + "]"
    return str(value)


def _candidates(text: str, root: Node, path: tuple[str, ...], value: str, newline: str) -> list[str]:
    """Texts to try, the neatest first."""
    if root is None:
        return [_appended(text, _block(path, value, "", newline), newline)]
    node: Node = root
    for depth, part in enumerate(path):
        found = [(key, child) for key, child in node.value if key.value == part] if node.id == "mapping" else []
        if not found:
            missing = path[depth:]
            inside = _inserted(text, node, missing, value, newline)
            if depth == 0 and not node.flow_style:
                return [_appended(text, newline + _block(missing, value, "", newline), newline), *inside]
            return inside
        key, child = found[0]
        if depth == len(path) - 1:
            return [_replaced(text, key, child, value)]
        if child.id == "scalar" and child.tag.endswith(":null"):
            return _opened(text, key, child, path[depth + 1 :], value, newline)
        node = child
    return []


def _block(path: tuple[str, ...], value: str, indent: str, newline: str) -> str:
    """The lines of a new key, with the sections that lead to it."""
    lines = [f"{indent}{INDENT * n}{part}:" for n, part in enumerate(path)]
    return newline.join(lines) + " " + value + newline


def _inline(path: tuple[str, ...], value: str) -> str:
    """The same in flow style."""
    for part in reversed(path):
        value = f"{{{part}: {value}}}"
    return value


def _appended(text: str, block: str, newline: str) -> str:
    if not text.strip():
        block = block.lstrip()
    return text + (newline if text and not text.endswith("\n") else "") + block


def _inserted(text: str, node: Node, path: tuple[str, ...], value: str, newline: str) -> list[str]:
    """A new key at the end of a section that has others."""
    if node.id != "mapping":
        return []
    if node.flow_style:
        brace = node.end_mark.index - 1
        places = [_end(text, node.value[-1][1], node.value[-1][0]), brace] if node.value else [brace]
        return [text[:at] + (", " if node.value else "") + _inline(path, value)[1:-1] + text[at:] for at in places]
    last_key, last = node.value[-1]
    at = text.find("\n", _end(text, last, last_key))
    block = _block(path, value, " " * node.value[0][0].start_mark.column, newline)
    return [_appended(text, block, newline) if at < 0 else text[: at + 1] + block + text[at + 1 :]]


def _opened(text: str, key: Node, child: Node, path: tuple[str, ...], value: str, newline: str) -> list[str]:
    """A first key in an empty section."""
    start, end = child.start_mark.index, child.end_mark.index
    inline = _replaced(text, key, child, _inline(path, value))
    text = text[:start].rstrip(" ") + text[end:] if end > start else text
    block = _block(path, value, " " * key.start_mark.column + INDENT, newline)
    at = text.find("\n", key.end_mark.index)
    return [_appended(text, block, newline) if at < 0 else text[: at + 1] + block + text[at + 1 :], inline]


def _replaced(text: str, key: Node, child: Node, value: str) -> str:
    start, end = child.start_mark.index, child.end_mark.index
    if child.id != "scalar" and not child.flow_style:
        return _without_items(text, key, child, value)
    if start == end:
        colon = text.index(":", key.end_mark.index) + 1
        return text[:colon] + " " + value + text[colon:]
    if text[start:end].endswith("\n"):  # a block scalar ends with its line
        value += "\r\n" if text[start:end].endswith("\r\n") else "\n"
    return text[:start] + value + text[end:]


def _without_items(text: str, key: Node, child: Node, value: str) -> str:
    """A list or section in block style gives way to a value on its key's line; comments among its lines stay."""
    colon = text.index(":", key.end_mark.index) + 1
    head = text.rfind("\n", 0, child.start_mark.index) + 1
    stop = text.find("\n", _end(text, child, key)) + 1 or len(text)
    if head <= colon:
        return text
    kept = [
        line for line in text[head:stop].splitlines(keepends=True) if not line.strip() or line.lstrip().startswith("#")
    ]
    return text[:colon] + " " + value + text[colon:head] + "".join(kept) + text[stop:]


def _end(text: str, node: Node, key: Node, depth: int = 0) -> int:
    """Where a node's own text ends: block collections and texts claim the blank lines and comments after them."""
    if node.start_mark.index < key.end_mark.index or depth > yamltree.MAX_DEPTH:  # an alias: its node stands elsewhere
        return int(key.end_mark.index)
    if node.id == "scalar" or node.flow_style:
        return len(text[: node.end_mark.index].rstrip("\r\n"))
    last = node.value[-1]  # a block collection has one at least
    return _end(text, last[1], last[0], depth + 1) if node.id == "mapping" else _end(text, last, key, depth + 1)


def _differs_only_at(a: Node, b: Node, path: tuple[str, ...]) -> bool:
    """Whether b is a but for what stands at `path`; sections that lead there may be new."""
    if not path:
        return True
    if b is None or b.id != "mapping":
        return False
    if a is None or (a.id == "scalar" and a.tag.endswith(":null")):
        others_a: list[Any] = []
        own_a: list[Any] = []
    elif a.id == "mapping":
        others_a = [pair for pair in a.value if pair[0].value != path[0]]
        own_a = [pair for pair in a.value if pair[0].value == path[0]]
    else:
        return False
    others_b = [pair for pair in b.value if pair[0].value != path[0]]
    own_b = [pair for pair in b.value if pair[0].value == path[0]]
    if len(own_b) != 1 or len(own_a) > 1 or len(others_a) != len(others_b):
        return False
    seen: set[tuple[int, int]] = set()
    same = all(_equal(x, y, seen) for p, q in zip(others_a, others_b, strict=True) for x, y in zip(p, q, strict=True))
    return same and _differs_only_at(own_a[0][1] if own_a else None, own_b[0][1], path[1:])


def _equal(a: Node, b: Node, seen: set[tuple[int, int]]) -> bool:
    """Equal nodes; pairs already under comparison count as equal, so that aliases cost nothing and cycles end."""
    if (id(a), id(b)) in seen:
        return True
    seen.add((id(a), id(b)))
    if a.id != b.id or a.tag != b.tag:
        return False
    if a.id == "scalar":
        return bool(a.value == b.value)
    flat_a = [n for pair in a.value for n in pair] if a.id == "mapping" else a.value
    flat_b = [n for pair in b.value for n in pair] if b.id == "mapping" else b.value
    return len(flat_a) == len(flat_b) and all(_equal(x, y, seen) for x, y in zip(flat_a, flat_b, strict=True))
