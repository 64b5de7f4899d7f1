"""A YAML file as nodes with their lines, read within limits: nothing in a file can make Clew hang, grow or crash."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clew.errors import ConfigError

if TYPE_CHECKING:
    from types import ModuleType

    from yaml.nodes import MappingNode, Node, ScalarNode

MAX_BYTES = 1_000_000
MAX_DEPTH = 40
MAX_NODES = 20_000
_TAG = "tag:yaml.org,2002:"


def load_text(path: Path) -> str | None:
    """The file's text, None if there is no such file; ConfigError for anything that can't be one."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError(f"{path}: not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as e:
        raise ConfigError(f"{path}: can't be read: {e.strerror or e}") from None
    except ValueError as e:  # a path with a NUL
        raise ConfigError(f"not a path: {e}") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES:,} bytes", hint="a settings file is a few kilobytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text", hint="save the file in UTF-8") from None


def compose(text: str, name: str) -> MappingNode | None:
    """The root mapping, None for an empty file. `name` is how messages call the file."""
    yaml = _yaml()
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = text.removeprefix("\ufeff")
    try:
        _measure(yaml.parse(text, Loader=loader), name, yaml)
        node: Node | None = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as e:
        raise ConfigError(f"{name}{_place(e)}: not YAML: {_reason(e, text)}") from None
    except UnicodeEncodeError:  # a lone surrogate, which no file can hold
        raise ConfigError(f"{name}: not UTF-8 text") from None
    if node is None or (isinstance(node, yaml.ScalarNode) and node.tag == _TAG + "null"):
        return None
    if not isinstance(node, yaml.MappingNode):
        kind = "a list" if isinstance(node, yaml.SequenceNode) else "a single value"
        raise ConfigError(f"{name}:{node.start_mark.line + 1}: wants keys at the top, got {kind}")
    return cast("MappingNode", node)


def _yaml() -> ModuleType:
    import yaml  # stated reason: reading a file needs it, importing Clew doesn't

    return yaml


def _measure(events: Iterator[Any], name: str, yaml: Any) -> None:
    """Refuse what would overflow the stack or the memory, before anything is built of it."""
    depth = 0
    for count, event in enumerate(events):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or count > 10 * MAX_NODES:
            what = f"nested deeper than {MAX_DEPTH}" if depth > MAX_DEPTH else "too many values"
            raise ConfigError(f"{name}:{event.start_mark.line + 1}: {what}", hint="this is no settings file")


def _place(error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    return f":{mark.line + 1}" if mark else ""


def _reason(error: Any, text: str) -> str:
    """PyYAML's own reason, never its excerpt of the file, which may hold a credential."""
    reason = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable")
    mark = getattr(error, "problem_mark", None)
    lines = text.splitlines()
    if (
        mark
        and mark.line < len(lines)
        and "\t" in lines[mark.line][: len(lines[mark.line]) - len(lines[mark.line].lstrip())]
    ):
        return "a tab in the indentation; YAML wants spaces"
    return reason


@dataclass(slots=True)
class Located:
    """Reads YAML nodes for a layer; every pair knows its file and line.

    What is read is counted, and an alias repeats its node's cost, so that a bomb runs out of budget.
    """

    file: str
    left: int = MAX_NODES

    def pairs(self, node: Any) -> list[tuple[str, str, Any]] | None:
        """The mapping's pairs, those it merges (`<<`) after its own; ValueError when there are too many."""
        return self._pairs(node, 0) if node.id == "mapping" else None

    def value(self, node: Any, depth: int = 0) -> Any:
        """The plain value; ValueError where YAML has one that settings don't (binary, foreign tags, bombs)."""
        self._spend(depth)
        if node.id == "sequence":
            return [self.value(item, depth + 1) for item in node.value]
        if node.id == "scalar":
            return _scalar(node)
        values: dict[str, Any] = {}
        for name, _, child in self._pairs(node, depth):
            if name in values:
                raise ValueError(f"{name!r} stands twice")
            values[name] = self.value(child, depth + 1)
        return values

    def _spend(self, depth: int) -> None:
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            raise ValueError("grows too large when its aliases are followed")

    def _pairs(self, node: MappingNode, depth: int) -> list[tuple[str, str, Any]]:
        own: list[tuple[str, str, Any]] = []
        merged: list[tuple[str, str, Any]] = []
        for key, child in node.value:
            self._spend(depth)
            if key.tag == _TAG + "merge":
                sources = child.value if child.id == "sequence" else [child]
                for source in sources:
                    merged += self._pairs(source, depth + 1) if source.id == "mapping" else []
            else:
                where = f"{self.file}:{key.start_mark.line + 1}"
                own.append((key.value if key.id == "scalar" else "a key that is no text", where, child))
        names = {name for name, _, _ in own}
        unique = {name: (name, where, child) for name, where, child in reversed(merged) if name not in names}
        return own + list(unique.values())


def _scalar(node: ScalarNode) -> Any:
    kind = node.tag.removeprefix(_TAG)
    if kind in ("str", "timestamp"):
        return node.value
    if kind == "null":
        return None
    if kind not in ("bool", "int", "float"):
        raise ValueError(f"wants a plain value, got one tagged {node.tag[:40]}")
    try:
        return getattr(_yaml().constructor.SafeConstructor(), f"construct_yaml_{kind}")(node)
    except (ValueError, KeyError):
        raise ValueError("a value that can't be read") from None
