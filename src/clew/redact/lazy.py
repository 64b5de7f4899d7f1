"""Regular expressions that are compiled when they are first used, so that importing the package costs next to nothing."""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    """Becomes, method by method, the pattern it stands for; after the first use a call costs what it always costs."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for method in ("match", "search", "fullmatch", "finditer", "findall", "split", "sub"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, but compiled at its first use."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
