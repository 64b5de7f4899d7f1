"""The schema as a flat table: dotted names, built from the dataclasses and turned back into them."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from clew.config.fields import Secret
from clew.config.key import Key, Kind, nearest

S = TypeVar("S")
_KINDS: dict[Any, Kind] = {bool: "bool", int: "int", float: "number", str: "text", Secret: "secret"}


@cache
def keys_of(root: type) -> Mapping[str, Key]:
    """Every leaf beneath a settings class, in the order of the schema."""
    return {key.name: key for key in _leaves(root, "")}


@cache
def sections_of(root: type) -> frozenset[str]:
    """The dotted names that hold keys; the empty one is the root."""
    names = (name.split(".") for name in keys_of(root))
    return frozenset(".".join(parts[:n]) for parts in names for n in range(len(parts)))


def meant(root: type, name: str) -> str:
    """The key or section a wrong name most likely meant, or "": a slip in its section first, then one in its place."""
    known = [*keys_of(root), *sorted(sections_of(root) - {""})]
    section, _, last = name.rpartition(".")
    siblings = {n.rpartition(".")[2]: n for n in known if n.rpartition(".")[0] == section}
    slip = nearest(last, list(siblings))
    if slip:
        return siblings[slip]
    elsewhere = [n for n in known if n.rpartition(".")[2] == last]
    anywhere = {n.rpartition(".")[2]: n for n in reversed(known)}
    return (
        nearest(name, elsewhere, cutoff=0)
        or nearest(name, known, cutoff=0.85)
        or anywhere.get(nearest(last, list(anywhere)), "")
    )


def unknown(root: type, name: str) -> str:
    """What to say of a name that is no key."""
    if name in sections_of(root):
        return "is a section: name a key beneath it"
    slip = meant(root, name)
    return "no such key" + (f"; did you mean {slip}?" if slip else "")


def flatten(settings: Any, prefix: str = "") -> dict[str, Any]:
    """Every leaf's value by dotted name."""
    flat: dict[str, Any] = {}
    for field in dataclasses.fields(settings):
        value, name = getattr(settings, field.name), prefix + field.name
        if _is_leaf(field):
            flat[name] = value
        else:
            flat |= flatten(value, name + ".")
    return flat


def build(root: type[S], flat: Mapping[str, Any], prefix: str = "") -> S:
    """Settings from accepted values by dotted name; what isn't named keeps its default."""
    hints = typing.get_type_hints(root)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(root):  # type: ignore[arg-type]  # S is one of the schema's dataclasses
        name = prefix + field.name
        if not _is_leaf(field):
            values[field.name] = build(hints[field.name], flat, name + ".")
        elif name in flat:
            values[field.name] = flat[name]
    return root(**values)


def _is_leaf(field: dataclasses.Field[Any]) -> bool:
    return "doc" in field.metadata


def _leaves(cls: type, prefix: str) -> list[Key]:
    hints = typing.get_type_hints(cls)
    found: list[Key] = []
    for field in dataclasses.fields(cls):
        name = prefix + field.name
        if not _is_leaf(field):
            found += _leaves(hints[field.name], name + ".")
            continue
        kind, nullable = _kind(hints[field.name])
        default = field.default_factory() if callable(field.default_factory) else field.default
        found.append(Key(name=name, kind=kind, nullable=nullable, default=default, **field.metadata))
    return found


def _kind(hint: Any) -> tuple[Kind, bool]:
    options = typing.get_args(hint)
    if type(None) in options:
        return _kind(next(o for o in options if o is not type(None)))[0], True
    if hint in _KINDS:
        return _KINDS[hint], False
    origin = typing.get_origin(hint)
    return ("texts", False) if origin is tuple else ("map", False)
