"""`set`: a key's value checked, written into the user's file, and the file replaced in one step."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.config import yamltree
from clew.config.aliases import ALIASES
from clew.config.edit import edited
from clew.config.fields import Secret
from clew.config.key import Key
from clew.config.keys import flatten, keys_of, unknown
from clew.config.layers import Finding
from clew.config.loader import examine_text
from clew.config.paths import config_path
from clew.config.schema import Settings
from clew.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Assigned:
    """What `assign` wrote, and what there is to tell about it."""

    path: Path
    key: str
    value: Any
    notes: tuple[Finding, ...]


def find_key(name: str) -> Key:
    """The key of this name or alias; ConfigError with the nearest one for any other."""
    keys = keys_of(Settings)
    alias = ALIASES.get(name)
    key = keys.get(alias.key if alias else name)
    if key is None:
        raise ConfigError(f"{name}: {unknown(Settings, name)}", hint="`clew config show` lists every key")
    return key


def assign(name: str, text: str, path: str | Path | None = None, env: Mapping[str, str] | None = None) -> Assigned:
    """Write a key into the settings file, creating it if need be; everything else in it stays as it is.

    Refused with ConfigError: an unknown key, a value it doesn't accept, one that brings a new problem with other keys, a
    credential in plain text (it belongs in an environment variable, named as `${NAME}`).
    """
    env = os.environ if env is None else env
    key = find_key(name)
    value = _parsed(key, name, text)
    file = Path(os.path.realpath(config_path(env) if path is None else Path(path).expanduser()))
    old = yamltree.load_text(file)
    before = examine_text(old, file, env)
    new = edited(old or "", tuple(key.name.split(".")), value.text if isinstance(value, Secret) else value, str(file))
    after = examine_text(new, file, env)
    known = {(problem.key, problem.text) for problem in before.problems}
    fresh = [str(problem) for problem in after.problems if (problem.key, problem.text) not in known]
    if fresh:
        raise ConfigError("\n".join(fresh), hint="nothing was written")
    replace(file, old, new)
    notes = [*after.problems]
    if name != key.name:
        notes.append(Finding(f"written as {key.name}", name))
    if not after.problems and flatten(after.settings)[key.name] != value:
        notes.append(Finding(f"is written, but {after.origins[key.name]} still decides", key.name))
    return Assigned(file, key.name, value, tuple(notes))


def replace(path: Path, old: str | None, new: str) -> None:
    """Put `new` in the file's place in one step, readable by its owner only; refused if the file isn't `old` any more."""
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".config-", suffix=".tmp")  # created as 0600
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        if yamltree.load_text(path) != old:
            raise ConfigError(f"{path}: was changed meanwhile; nothing was written", hint="try again")
        Path(temporary).replace(path)
        temporary = None
    except (OSError, UnicodeEncodeError) as e:
        raise ConfigError(f"{path}: can't be written: {getattr(e, 'strerror', None) or e}") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _parsed(key: Key, name: str, text: str) -> Any:
    alias = ALIASES.get(name)
    if alias and alias.variable:
        text = "${" + text.strip() + "}"
    try:
        value = key.parse(text)
    except ValueError as e:
        raise ConfigError(f"{name}: {e}") from None
    if isinstance(value, Secret) and value.variable is None:
        raise ConfigError(
            f"{key.name}: a credential isn't written in plain text",
            hint=f"put it in an environment variable and write its name: clew config set {key.name} '${{NAME}}'",
        )
    return value
