"""Settings for people and pipes: every way out masks what may be a credential."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clew.config.fields import HIDDEN, Secret
from clew.config.keys import flatten
from clew.config.schema import Settings

_KEYLIKE = re.compile(
    r"(?i)(^|[_.\-])(api[_-]?)?(key|token|secret|password|passwd|auth|authorization|credentials?|cookie)$"
)
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
_QUERY = re.compile(r"(?i)([?&;][^=&;\s]*(?:key|token|secret|password|passwd|sig|signature|code|auth)=)[^&;#\s]+")
_VENDOR = re.compile(
    r"(?i)\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abprs]|hf|pypi|glpat|gsk|nvapi)[-_][A-Za-z0-9_\-]{12,}|\bAIza[\w\-]{20,}|\bAKIA[A-Z0-9]{12,}|\beyJ[\w\-]{10,}\.[\w.\-]+"
)


def masked(value: Any, name: str = "") -> Any:
    """A value that may be printed: credentials hidden by type, by the name they stand under, and by their shape."""
    if isinstance(value, Secret):
        return str(value)
    if isinstance(value, Mapping):
        return {k: masked(v, str(k)) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked(v, name) for v in value]
    if not isinstance(value, str):
        return value
    if _KEYLIKE.search(name):
        return HIDDEN
    value = _USERINFO.sub(HIDDEN + "@", value)
    value = _QUERY.sub(rf"\1{HIDDEN}", value)
    return _VENDOR.sub(HIDDEN, value)


def shown(settings: Settings) -> dict[str, Any]:
    """Every key by dotted name, masked."""
    return {name: masked(value, name.rpartition(".")[2]) for name, value in flatten(settings).items()}


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted names as the sections they stand for."""
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        *sections, last = name.split(".")
        branch = tree
        for section in sections:
            branch = branch.setdefault(section, {})
        branch[last] = value
    return tree
