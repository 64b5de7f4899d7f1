"""One source of settings (a file, the environment, a mapping) read into accepted values, with everything wrong in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from clew.config.aliases import ALIASES, HERMES_ONLY, SHARED, Alias
from clew.config.fields import REFERENCE
from clew.config.key import Key, nearest
from clew.config.keys import keys_of, sections_of, unknown

PREFIX = "CLEW_"
DEEP = "__"  # between the parts of a name; keys themselves have single underscores only


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to tell about a setting: a problem, or a note."""

    text: str
    key: str = ""
    where: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, self.key, self.text) if part)


class Reader(Protocol):
    """What the walk needs of a tree, whatever it is made of."""

    def pairs(self, node: Any) -> list[tuple[str, str, Any]] | None:
        """(key, where, child) for a mapping, duplicates included; None for anything else. May raise ValueError."""

    def value(self, node: Any) -> Any:
        """The plain value of a node; ValueError says why there is none."""


@dataclass(slots=True)
class Layer:
    """What one source says; a key's own name wins over its aliases. A strict one has no part that is another program's."""

    root: type
    env: Mapping[str, str] | None = None  # what `${NAME}` in a text stands for; None leaves texts as they are
    strict: bool = False
    direct: dict[str, Any] = field(default_factory=dict)
    aliased: dict[str, Any] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)
    problems: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)

    @property
    def values(self) -> dict[str, Any]:
        """Accepted values by dotted name."""
        return self.aliased | self.direct

    def walk(self, reader: Reader, node: Any, section: str = "", at: str = "") -> None:
        """Read a section: its keys, its sections, and what is no key of Clew's."""
        try:
            pairs = reader.pairs(node)
            single = pairs is None and reader.value(node) is not None
        except ValueError as e:
            self.problems.append(Finding(str(e), section, at))
            return
        if single:
            self.problems.append(Finding("wants keys beneath it, got a single value or a list", section, at))
        if pairs is None:
            return
        seen: dict[str, str] = {}
        for part, where, child in pairs:
            name = f"{section}.{part}" if section else part
            if "." in part and not self.strict:
                self.problems.append(Finding("has a dot in it: write nested keys", name, where))
                continue
            if not self._is_mine(name, section):
                self._foreign(name, section, where)
                continue
            if part in seen:
                self.problems.append(Finding(f"stands twice; the first is at {seen[part]}", name, where))
                continue
            seen[part] = where
            if name in sections_of(self.root) and not (name in ALIASES and reader.pairs(child) is None):
                self.walk(reader, child, name, where)
            else:
                self._read(reader, child, name, where)

    def read_environment(self, env: Mapping[str, str]) -> None:
        """CLEW_SECTION__KEY for section.key; an empty variable is an unset one."""
        single = {name.replace(".", "_"): name for name in keys_of(self.root)}
        for variable in sorted(v for v in env if v.startswith(PREFIX)):
            text, name = env[variable], variable[len(PREFIX) :].lower().replace(DEEP, ".")
            where = f"environment variable {variable}"
            if not text.strip():
                continue
            if DEEP in variable:
                self._put(name, where, text, from_text=True)
            elif name in single and "." in single[name]:
                proper = PREFIX + single[name].upper().replace(".", DEEP)
                self.notes.append(Finding(f"is not read; did you mean {proper}?", "", where))
        if env.get("HMC_DB_PATH", "").strip():
            self._keep("silent.analytics.db_path", env["HMC_DB_PATH"], "environment variable HMC_DB_PATH", aliased=True)

    def _is_mine(self, name: str, section: str) -> bool:
        known = name in keys_of(self.root) or name in sections_of(self.root) or name in ALIASES or name in HERMES_ONLY
        return known or self.strict or section not in SHARED

    def _foreign(self, name: str, section: str, where: str) -> None:
        """A key that is another program's, unless it looks like a slip."""
        names = (*keys_of(self.root), *sections_of(self.root))
        mine = {n.rpartition(".")[2]: n for n in names if n and n.rpartition(".")[0] == section}
        slip = mine.get(nearest(name.rpartition(".")[2], list(mine)), "")
        if slip:
            self.notes.append(Finding(f"is not Clew's and is not read; did you mean {slip}?", name, where))

    def _read(self, reader: Reader, node: Any, name: str, where: str) -> None:
        try:
            value = reader.value(node)
        except ValueError as e:
            self.problems.append(Finding(str(e), name, where))
            return
        self._put(name, where, value)

    def _put(self, name: str, where: str, value: Any, *, from_text: bool = False) -> None:
        if name in HERMES_ONLY:
            return
        alias = ALIASES.get(name)
        target = alias.key if alias else name
        key = keys_of(self.root).get(target)
        if key is None:
            self.problems.append(Finding(unknown(self.root, name), name, where))
            return
        if alias and alias.deprecated:
            self.notes.append(Finding(f"is deprecated; read as {target}", name, where))
        if alias and (value is None or value == ""):
            return
        try:
            accepted = key.parse(value) if from_text else key.accept(self._expanded(key, alias, value))
        except ValueError as e:
            self.problems.append(Finding(str(e), name, where))
            return
        self._keep(target, accepted, where, aliased=alias is not None)

    def _keep(self, name: str, value: Any, where: str, *, aliased: bool) -> None:
        if aliased:
            self.aliased[name] = value
            self.where.setdefault(name, where)
        else:
            self.direct[name] = value
            self.where[name] = where

    def _expanded(self, key: Key, alias: Alias | None, value: Any) -> Any:
        """`${NAME}` in a text stands for the environment's value; a secret keeps the reference until it is used."""
        if alias and alias.variable and isinstance(value, str):
            return "${" + value.strip() + "}"
        if key.kind == "secret" or self.env is None:
            return value
        return expand(value, self.env)


def expand(value: Any, env: Mapping[str, str]) -> Any:
    """`${NAME}` replaced in every text within; ValueError where the environment has none."""
    if isinstance(value, str):
        missing = next((m[1] for m in REFERENCE.finditer(value) if m[1] not in env), None)
        if missing:
            raise ValueError(f"the environment variable {missing} is not set")
        return REFERENCE.sub(lambda m: env[m[1]], value)
    if isinstance(value, Mapping):
        return {k: expand(v, env) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [expand(v, env) for v in value]
    return value


class Plain:
    """Reads nested or dotted mappings of plain values."""

    def pairs(self, node: Any) -> list[tuple[str, str, Any]] | None:
        """A dotted key stands for the nesting it names."""
        if not isinstance(node, Mapping):
            return None
        return [(str(key), "", value) for key, value in node.items()]

    def value(self, node: Any) -> Any:
        """Plain values are their own."""
        return node
