"""The colours: names that renderers give a value of their own to, told apart by people who see colours differently."""

from __future__ import annotations

from typing import NamedTuple


class Color(NamedTuple):
    """`ansi` for terminals of 256 colours; `light` and `dark` for pages; `fill` and `ascii` where there is no colour."""

    ansi: int
    light: str
    dark: str
    fill: str
    ascii: str


PALETTE: dict[str, Color] = {
    "blue": Color(68, "#3b76b5", "#6aa5e0", "█", "#"),
    "orange": Color(208, "#d9751e", "#f0974a", "▓", "%"),
    "teal": Color(37, "#2a9d8f", "#4fc4b5", "▒", ":"),
    "violet": Color(134, "#8e5bb5", "#b78be0", "x", "x"),
    "green": Color(71, "#4f9a44", "#7cc86f", "+", "+"),
    "red": Color(167, "#c8463f", "#ee7a72", "v", "v"),
    "yellow": Color(178, "#c99a1b", "#e6c04e", "/", "/"),
    "grey": Color(245, "#9aa3ad", "#7c8690", "░", "."),
    "pink": Color(175, "#c9729f", "#e79cc2", "o", "o"),
}
ORDER = tuple(PALETTE)


def color(name: str, position: int) -> Color:
    """The colour of that name, or the one that stands at the position."""
    return PALETTE.get(name) or PALETTE[ORDER[position % len(ORDER)]]
