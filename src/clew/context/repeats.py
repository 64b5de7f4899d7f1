"""Which results the conversation has seen before: what a new one is compared with, without a look back over the log."""

from __future__ import annotations

from collections.abc import Callable

from clew.transcript import Place


class Repeats:
    """Results by their words. `find` gives one that is shown in full, where there is one."""

    def __init__(self) -> None:
        self._latest: dict[str, Place] = {}
        self._points: dict[Place, Place] = {}

    def note(self, text: str, place: Place, points_to: Place | None = None) -> None:
        """Take a result in; `points_to` is the one it is shown as a pointer to."""
        self._latest[text] = place
        if points_to is not None:
            self._points[place] = points_to

    def find(self, text: str, in_full: Callable[[Place], bool]) -> Place | None:
        latest = self._latest.get(text)
        if latest is None or in_full(latest):
            return latest
        target = self._points.get(latest)
        return target if target is not None and in_full(target) else None
