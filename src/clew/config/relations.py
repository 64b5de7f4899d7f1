"""What several settings must hold together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.config.schema import Settings


@dataclass(frozen=True, slots=True)
class Relation:
    """Keys that depend on each other; an advisory one gives a note where it doesn't hold, no problem."""

    keys: tuple[str, ...]
    text: str
    holds: Callable[[Settings], bool]
    advisory: bool = False


RELATIONS = (
    Relation(
        ("silent.truncation.head_lines", "silent.truncation.tail_lines", "silent.truncation.max_lines"),
        "head_lines and tail_lines together may not exceed max_lines",
        lambda s: s.silent.truncation.head_lines + s.silent.truncation.tail_lines <= s.silent.truncation.max_lines,
    ),
    Relation(
        ("compression.summary_min_tokens", "compression.summary_max_tokens"),
        "summary_min_tokens may not exceed summary_max_tokens",
        lambda s: s.compression.summary_min_tokens <= s.compression.summary_max_tokens,
    ),
    Relation(
        ("compression.threshold_floor", "compression.threshold_ceiling"),
        "threshold_floor may not exceed threshold_ceiling",
        lambda s: (
            s.compression.threshold_ceiling is None or s.compression.threshold_floor <= s.compression.threshold_ceiling
        ),
    ),
    Relation(
        ("silent.compress.min_context_percent", "silent.compress.max_context_percent"),
        "min_context_percent may not exceed max_context_percent",
        lambda s: s.silent.compress.min_context_percent <= s.silent.compress.max_context_percent,
    ),
    Relation(
        ("serve.host", "serve.token"),
        "a host other machines can reach needs serve.token",
        lambda s: s.serve.token is not None or s.serve.host in ("127.0.0.1", "localhost", "::1"),
    ),
    Relation(
        ("redaction.keep_originals",),
        "only true works so far: the store holds originals as they are; keep it on an encrypted disk",
        lambda s: s.redaction.keep_originals,
    ),
    Relation(
        ("compression.hygiene_threshold", "compression.threshold"),
        "hygiene is the safety net above the threshold; below it, it compacts first",
        lambda s: s.compression.hygiene_threshold >= s.compression.threshold,
        advisory=True,
    ),
)


def broken(settings: Settings) -> list[Relation]:
    """The relations that don't hold."""
    return [relation for relation in RELATIONS if not relation.holds(settings)]
