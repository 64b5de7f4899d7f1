"""What a picture costs: each provider's rule, from its size in pixels.

The rule names are the catalog's. Where the size can't be known (a URL, an unknown format) every rule says 1,600.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, sqrt
from types import MappingProxyType

from clew.tokens.pixels import Size

UNKNOWN = 1600


def tokens(rule: str, size: Size | None, detail: str = "") -> int:
    """The tokens of one picture. `detail` is OpenAI's: "low", "high", "original", "auto" or nothing."""
    if rule == "gpt" and detail == "low":
        return _TILE_BASE
    price = _RULES.get(rule)
    return UNKNOWN if size is None or price is None else price(*size, detail)


def _area(longest: int, most: int) -> Callable[[int, int, str], int]:
    """Anthropic: shrunk to a longest edge, then one token for 750 pixels, up to a cap."""

    def price(width: int, height: int, _detail: str) -> int:
        shrink = min(1.0, longest / max(width, height))
        return min(most, ceil(width * shrink * height * shrink / 750))

    return price


_TILE_BASE, _TILE = 85, 170


def _tiles(width: int, height: int, _detail: str) -> int:
    """OpenAI up to GPT-5: shrunk into 2,048 square, then to 768 on the short edge, then tiles of 512."""
    shrink = min(1.0, 2048 / max(width, height))
    shrink *= min(1.0, 768 / (min(width, height) * shrink))
    # rounded before the ceiling: 1,536.0000001 pixels are three tiles, not four
    across, down = (ceil(round(edge * shrink, 3) / 512) for edge in (width, height))
    return _TILE_BASE + _TILE * across * down


def _patches(edge: int, most: int, extra: int = 0, original: int = 0) -> Callable[[int, int, str], int]:
    """One token for each patch, the picture shrunk until it has no more than `most`."""

    def price(width: int, height: int, detail: str) -> int:
        cap = original if original and detail == "original" else most
        if detail == "low" and original:
            shrink = min(1.0, 512 / max(width, height))
            width, height = max(1, int(width * shrink)), max(1, int(height * shrink))
        patches = ceil(width / edge) * ceil(height / edge)
        if patches > cap:
            shrink = sqrt(cap * edge * edge / (width * height))
            patches = min(cap, max(1, int(width * shrink / edge)) * max(1, int(height * shrink / edge)))
        return max(1, patches) + extra

    return price


def _gemini(width: int, height: int, _detail: str) -> int:
    """258 when both edges are at most 384; otherwise 258 for each crop of two thirds of the short edge, 256 to 768."""
    if max(width, height) <= 384:
        return 258
    unit = min(768, max(256, int(min(width, height) / 1.5)))
    return 258 * ceil(width / unit) * ceil(height / unit)


_RULES: Mapping[str, Callable[[int, int, str], int]] = MappingProxyType(
    {
        "claude": _area(1568, 1600),
        "claude-large": _area(2576, 4784),
        "gpt": _tiles,
        "gpt-patch": _patches(32, 1536, original=10_000),
        "gemini": _gemini,
        "qwen": _patches(32, 2560, extra=2),
    }
)
RULES = (*_RULES, "flat")
