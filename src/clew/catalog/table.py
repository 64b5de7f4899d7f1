"""The catalog's table: the shipped facts, the user's on top of them, and a careful guess where neither has a line."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from clew.catalog import names
from clew.catalog.model import CacheRules, Model, Prices, Quirks
from clew.errors import ClewWarning, ConfigError

Extra = Mapping[str, Mapping[str, Any]]

_FREE = Prices(0, 0, 0, 0, 0)
_LONG_WINDOW = 1_000_000  # what Claude Code's "[1m]" asks for
_KEYS = {
    "like", "rules", "aliases", "provider", "family", "window", "max_output", "price", "long_over", "long_price",
    "cache", "quirks", "image_rule", "reasoning_billed", "retires",
}  # fmt: skip


def written() -> str:
    """The day the shipped facts were read, as YYYY-MM-DD."""
    return str(_data()["written"])


def models() -> tuple[Model, ...]:
    """Every model in the shipped table, in its order."""
    return tuple(_listed(name) for name in _data()["models"])


def lookup(name: str, extra: Extra | None = None) -> Model:
    """The model called `name`, with or without provider prefix, region, date, tag or quantisation.

    `extra` is the user's own table (`models:` in the configuration). Its fields override the shipped ones;
    `like: NAME` says which model a new one resembles. A name that nobody listed gets a careful guess (`guessed` is
    true) and, once per name, a `ClewWarning` that says how to add it.
    """
    own = _own(name, extra) if extra else None
    if extra and own is not None:
        found = _users(own, extra[own])
    else:
        key = _resolve(name)
        found = _guess(name) if key is None else _listed(key)
    if name.endswith("[1m]"):
        found = replace(found, window=max(found.window, _LONG_WINDOW))
    if own is None and names.self_hosted(name):
        found = replace(found, prices=_FREE, long_prices=None)
    return found


# --- which line


@cache
def _index() -> dict[str, str]:
    table = _data()["models"]
    index = {names.canonical(alias): name for name, e in table.items() for alias in (name, *e.get("aliases", ()))}
    for name in table:
        index.setdefault(names.canonical(name.removesuffix("-latest").removesuffix("-preview")), name)
    return index


def _resolve(name: str) -> str | None:
    index = _index()
    for spelling in names.spellings(name):
        for form in (spelling, names.llama(spelling)):
            if (found := index.get(names.canonical(form))) is not None:
                return found
    return None


def _own(name: str, extra: Extra) -> str | None:
    """The user's entry for `name`: as written first, then by ever shorter spellings."""
    if name in extra:
        return name
    by_form = {names.canonical(alias): k for k, e in extra.items() for alias in (k, *_aliases(k, e))}
    return next((by_form[k] for s in names.spellings(name) if (k := names.canonical(s)) in by_form), None)


def _aliases(name: str, entry: Mapping[str, Any]) -> Sequence[str]:
    found = entry.get("aliases", ()) if isinstance(entry, Mapping) else ()
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise ConfigError(f"models.{name}.aliases must be a list of names")
    return found


# --- from lines to models


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parents[1] / "data" / "models.toml").read_text("utf-8"))


@cache
def _listed(name: str) -> Model:
    return _model(name, _whole(_data()["models"][name]))


def _rules(name: str) -> dict[str, Any]:
    own = _data()["rules"][name]
    return _merged(_rules(own["like"]), own) if "like" in own else own


def _whole(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A line with what its rules say filled in."""
    return _merged(_rules(entry["rules"]), entry)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` on top of `base`, one level into tables."""
    out = dict(base)
    for key, value in over.items():
        below = out.get(key)
        out[key] = {**below, **value} if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return out


def _prices(row: Sequence[float]) -> Prices:
    """[input, output, read, write, write for an hour]; what is missing from the right follows from its left."""
    price_in, price_out, *rest = row
    read = rest[0] if rest else price_in
    write = rest[1] if len(rest) > 1 else price_in
    return Prices(price_in, price_out, read, write, rest[2] if len(rest) > 2 else write)


def _model(name: str, e: Mapping[str, Any], *, guessed: bool = False) -> Model:
    return Model(
        name=name,
        provider=e["provider"],
        family=e["family"],
        window=e["window"],
        max_output=e["max_output"],
        prices=_prices(e["price"]),
        cache=CacheRules(**e.get("cache", {})),
        quirks=Quirks(**e.get("quirks", {})),
        image_rule=e.get("image_rule", "flat"),
        reasoning_billed=e.get("reasoning_billed", False),
        long_over=e.get("long_over", 0),
        long_prices=_prices(e["long_price"]) if "long_price" in e else None,
        retires=str(e.get("retires", "")),
        guessed=guessed,
    )


# --- the user's own lines, and guesses


def _users(name: str, entry: Mapping[str, Any]) -> Model:
    _check(name, entry)
    like = entry.get("like", name)
    key = _resolve(like)
    if key is None and "like" in entry:
        raise ConfigError(
            f"models.{name}.like names {like!r}, which is not in the catalog", hint="see `models` in the docs"
        )
    table = _data()
    base = _whole(table["models"][key] if key else table["guess"][names.family(name)])
    return _model(name, _merged(base, entry))


def _check(name: str, entry: Mapping[str, Any]) -> None:
    """Every key known and of a type that makes a model, or an error that names it."""
    if not isinstance(entry, Mapping):
        raise ConfigError(f"models.{name} must be a table of fields")
    known = {"": _KEYS, "cache": {f.name for f in fields(CacheRules)}, "quirks": {f.name for f in fields(Quirks)}}
    for table, keys in known.items():
        part = entry.get(table, {}) if table else entry
        if not isinstance(part, Mapping):
            raise ConfigError(f"models.{name}.{table} must be a table of fields")
        for key in part:
            if key not in keys:
                place = ".".join(p for p in ("models", name, table, str(key)) if p)
                raise ConfigError(f"{place} is not known", hint="known are " + ", ".join(sorted(keys)))
    for key in ("price", "long_price"):
        row = entry.get(key, [0, 0])
        if isinstance(row, str) or not isinstance(row, Sequence) or not 2 <= len(row) <= 5 or not _amounts(row):
            raise ConfigError(
                f"models.{name}.{key} must be 2 to 5 prices: input, output, read, write, write for an hour"
            )
    for key in ("window", "max_output", "long_over"):
        value = entry.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int) or value < (1 if key == "window" else 0):
            raise ConfigError(f"models.{name}.{key} must be a whole number of tokens")


def _amounts(row: Sequence[Any]) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) and x >= 0 for x in row)


@cache
def _guess(name: str) -> Model:
    """Cached, so that the warning comes once per name."""
    kind = names.family(name)
    found = _model(name, _whole(_data()["guess"][kind]), guessed=True)
    warnings.warn(
        f"{name!r} is not in Clew's catalog (of {written()}); taking it for "
        f"{'a ' + kind + ' model' if kind != 'other' else 'a small local model'} with a window of {found.window:,} "
        f"tokens. Add it to config.yaml:\n  models:\n    {name!r}: "
        f"{{window: {found.window}, max_output: {found.max_output}, "
        f"price: [{found.prices.input:g}, {found.prices.output:g}, {found.prices.cache_read:g}]}}",
        ClewWarning,
        stacklevel=3,
    )
    return found
