"""Where Clew keeps its things: `CLEW_HOME`, and what lies in it by default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from clew.errors import ConfigError

if TYPE_CHECKING:
    from clew.config.schema import Settings

FILE = "config.yaml"


def home(env: Mapping[str, str] | None = None) -> Path:
    """`CLEW_HOME`, or `~/.clew`; absolute, not created."""
    return _absolute(_environment(env).get("CLEW_HOME", "").strip() or "~/.clew", "CLEW_HOME")


def config_path(env: Mapping[str, str] | None = None) -> Path:
    """The settings file: `CLEW_CONFIG` (a Hermes file, say), or `config.yaml` under the home."""
    named = _environment(env).get("CLEW_CONFIG", "").strip()
    return _absolute(named, "CLEW_CONFIG") if named else home(env) / FILE


def store_url(settings: Settings, env: Mapping[str, str] | None = None) -> str:
    """The store's URL, the default one spelled out."""
    return settings.store.url or f"sqlite:///{home(env) / 'clew.db'}"


def analytics_path(settings: Settings, env: Mapping[str, str] | None = None) -> Path:
    """The analytics database's path, the default one spelled out."""
    named = settings.silent.analytics.db_path
    return _absolute(named, "silent.analytics.db_path") if named else home(env) / "analytics.db"


def _environment(env: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if env is None else env


def _absolute(text: str, name: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except (RuntimeError, OSError) as e:
        raise ConfigError(f"{name}: no such home folder: {e}") from None
