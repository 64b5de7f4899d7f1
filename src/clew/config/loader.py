"""Settings from where they are kept: environment over file over defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.config import yamltree
from clew.config.keys import build, flatten
from clew.config.layers import Finding, Layer, Plain
from clew.config.paths import config_path
from clew.config.relations import broken
from clew.config.schema import Settings, unused
from clew.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings and where they came from.

    `source` is the file that was read, if there is one; `origins` has the file and line, or the variable, of every key
    that isn't a default; `problems` is empty unless the settings were only examined.
    """

    settings: Settings
    notes: tuple[Finding, ...] = ()
    source: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Finding, ...] = ()


def load(path: str | Path | None = None, env: Mapping[str, str] | None = None) -> Loaded:
    """Settings of a file (default: the one `config_path` names) under the environment (default: this process's).

    Without a file at the default place the defaults hold; a file that was named must exist. ConfigError lists every
    problem, each with its key, line and what was probably meant.
    """
    return accepted(examine(path, env))


def examine(path: str | Path | None = None, env: Mapping[str, str] | None = None) -> Loaded:
    """As `load`, with problems in the result; still ConfigError for a file that isn't YAML or can't be read."""
    env = os.environ if env is None else env
    named = path is not None or bool(env.get("CLEW_CONFIG", "").strip())
    file = config_path(env) if path is None else Path(path).expanduser()
    text = yamltree.load_text(file)
    if text is None and named:
        raise ConfigError(f"{file}: no such file")
    return examine_text(text, file, env)


def examine_text(text: str | None, file: Path, env: Mapping[str, str]) -> Loaded:
    """As `examine`, of a text that stands or will stand in `file`; None is no file."""
    written = Layer(Settings, env=env)
    root = yamltree.compose(text, str(file)) if text is not None else None
    if root is not None:
        written.walk(yamltree.Located(str(file)), root)
    environment = Layer(Settings)
    environment.read_environment(env)
    return _combined([written, environment], file if text is not None else None)


def from_mapping(changes: Mapping[str, Any], *, lenient: bool = False) -> Loaded:
    """Settings of a mapping, nested or with dotted keys, over the defaults; no file and no `CLEW_*` variable is read.

    A lenient one may be a whole Hermes configuration: other programs' keys are then left alone.
    """
    layer = Layer(Settings, strict=not lenient)
    layer.walk(Plain(), changes)
    return accepted(_combined([layer], None))


def resolve(config: Settings | Mapping[str, Any] | str | Path | None, env: Mapping[str, str] | None = None) -> Settings:
    """The settings a caller means: a value as it is, a mapping over the defaults, a file, or None for the user's own."""
    if isinstance(config, Settings):
        return config
    if isinstance(config, Mapping):
        return from_mapping(config).settings
    return load(config, env).settings


def accepted(loaded: Loaded) -> Loaded:
    """The same, or ConfigError when there are problems."""
    if loaded.problems:
        first, *others = (str(problem) for problem in loaded.problems)
        raise ConfigError(
            "\n".join([first, *others]),
            hint="`clew config validate` lists problems; docs/reference/configuration.md every key",
        )
    return loaded


def _combined(layers: list[Layer], source: Path | None) -> Loaded:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        values |= layer.values
        origins |= layer.where
    settings = build(Settings, values)
    problems = [problem for layer in layers for problem in layer.problems]
    notes = [note for layer in layers for note in layer.notes]
    for relation in broken(settings):
        key = next((k for k in relation.keys if k in origins), relation.keys[0])
        (notes if relation.advisory else problems).append(Finding(relation.text, key, origins.get(key, "")))
    notes += _without_effect(settings, origins)
    return Loaded(settings, tuple(notes), source, origins, tuple(problems))


def _without_effect(settings: Settings, origins: Mapping[str, str]) -> list[Finding]:
    """A note for each key that was changed and that nothing acts on: silence would promise that something does."""
    defaults = flatten(Settings())
    changed = [name for name, value in flatten(settings).items() if unused(name) and value != defaults[name]]
    return [Finding("is read, but nothing acts on it yet", name, origins.get(name, "")) for name in changed]
