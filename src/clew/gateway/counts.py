"""What the gateway counts of itself, for health, status and logs. Nothing of what passed is in it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping


class Counts:
    """Named counters, usable from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def add(self, name: str, n: int = 1) -> None:
        with self._lock:
            self._counts[name] += n

    def all(self) -> Mapping[str, int]:
        with self._lock:
            return dict(sorted(self._counts.items()))
