"""Settings: frozen values, read from `config.yaml` and the environment, with the key names of Hermes and HMC."""

from __future__ import annotations

from clew.config.fields import Secret
from clew.config.layers import Finding
from clew.config.loader import Loaded, examine, from_mapping, load, resolve
from clew.config.paths import analytics_path, config_path, home, store_url
from clew.config.schema import Settings

__all__ = [
    "Finding",
    "Loaded",
    "Secret",
    "Settings",
    "analytics_path",
    "config_path",
    "examine",
    "from_mapping",
    "home",
    "load",
    "resolve",
    "store_url",
]
