"""Secrets in what is gathered: how many of which family, where; only their masks are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

from clew.inspect.label import Label
from clew.inspect.values import KIND_NAMES, Kind, Secrets, Sighting
from clew.redact import find, redact
from clew.transcript import Image, Part, ToolCall, ToolResult

_PLACES = 5
_SHORTEST = 8


@dataclass(slots=True)
class _Family:
    count: int = 0
    different: set[bytes] = field(default_factory=set)
    places: list[Sighting] = field(default_factory=list)


class Watch:
    """Looks at texts as they come."""

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}

    def part(self, part: Part, label: Label, kind: Kind, line: int) -> None:
        if isinstance(part, Image):
            return
        text = part.arguments if isinstance(part, ToolCall) else part.text
        if isinstance(part, (ToolCall, ToolResult)):
            verb = "call of" if isinstance(part, ToolCall) else "result of"
            where = f"{verb} {label.tool or 'an unknown tool'}" + (f": {label.target}" if label.target else "")
        else:
            where = KIND_NAMES[kind]
        self.look(text, where, line, code=label.is_code)

    def look(self, text: str, where: str, line: int, *, code: bool = False) -> None:
        if len(text) < _SHORTEST:
            return
        for found in find(text, code_file=code):
            family = self._families.setdefault(found.family, _Family())
            family.count += 1
            # Kept for counting only, in memory, and never shown.
            family.different.add(
                blake2b(text[found.start : found.end].encode("utf-8", "replace"), digest_size=8).digest()
            )
            if len(family.places) < _PLACES:
                family.places.append(Sighting(found.mask, redact(where, force=True), line))

    def families(self) -> tuple[Secrets, ...]:
        """The families found, the most frequent first."""
        rows = (Secrets(name, f.count, len(f.different), tuple(f.places)) for name, f in self._families.items())
        return tuple(sorted(rows, key=lambda s: (-s.count, s.family)))
