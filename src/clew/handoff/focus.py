"""What matters next: a focus that was given, or the names of the newest request. It steers which names and lines stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.ledger.names import Line, names_in
from clew.ledger.topics import words

_DIRECT, _NEAR = 4.0, 2.5  # log odds a given focus adds: to a name it holds, to one that stands in a line with it
_RECENT = 0.5  # the same for names of the newest request
_STEM = 5  # letters of a word that have to be the same


@dataclass(frozen=True, slots=True)
class Focus:
    """Stems to look for, and how much they count. Empty, it changes nothing."""

    stems: frozenset[str] = frozenset()
    given: bool = False

    def touches(self, text: str) -> bool:
        """Whether a text speaks of it."""
        low = text.lower()
        return any(stem in low for stem in self.stems)

    def of(self, name: str) -> float:
        """What it adds to the score of a name."""
        if not self.stems or not self.touches(name):
            return 0.0
        return _DIRECT if self.given else _RECENT

    def near(self, lines: Iterable[Line]) -> dict[str, float]:
        """Names that stand in a line with it, with what that adds to their score; only for one that was given."""
        if not self.given:
            return {}
        return {name: _NEAR for line in lines if self.touches(line.text) for name, _, _ in line.names}

    def first(self, lines: Sequence[str]) -> list[str]:
        """The lines, those that speak of a given focus before the others."""
        return sorted(lines, key=lambda x: not self.touches(x)) if self.given else list(lines)


NO_FOCUS = Focus()


def focus_of(given: str, newest_request: str) -> Focus:
    """The focus someone gave, else the newest request's names."""
    if given.strip():
        names = names_in(given)
        rest = given
        for name in sorted(names, key=len, reverse=True):
            rest = rest.replace(name, " ")
        plain = {w[:_STEM] for x in words(rest) for w in re.split(r"[^\w]+", x) if len(w) > 2}
        return Focus(frozenset(plain | {n.lower().rsplit("/", 1)[-1] for n in names}), given=True)
    return Focus(frozenset(n.lower() for n in names_in(newest_request[:2_000])))
