"""Figures as people read them: short, with a unit, and never more exact than they are."""

from __future__ import annotations

_UNITS = ((1_000_000_000_000, "T"), (1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K"))


def tokens(n: float) -> str:
    """1,234,567 as 1.23M, 12,345 as 12.3K, 999 as 999."""
    size = abs(n)
    for unit, letter in _UNITS:
        if size >= unit * 0.9995:
            value = n / unit
            digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
            text = f"{value:.{digits}f}"
            return (text.rstrip("0").rstrip(".") if "." in text else text) + letter
    return f"{n:.0f}"


def percent(part: float, whole: float) -> str:
    """A share; one that is not nothing is never shown as 0%, one that is not all never as 100%."""
    if not whole:
        return "0%"
    value = 100 * part / whole
    if 0 < value < 1:
        return "<0.1%" if value < 0.1 else f"{value:.1f}%" if value < 0.95 else "1%"
    if 99 < value < 100:
        return f"{min(value, 99.9):.1f}%"
    return f"{value:.0f}%"


def money(usd: float) -> str:
    """US dollars, with cents; small amounts with the digits that tell something."""
    if usd and abs(usd) < 0.0001:
        return "<$0.0001"
    return f"${usd:,.2f}" if abs(usd) >= 0.01 or not usd else f"${usd:.4f}"


def size(n: float) -> str:
    """Bytes as KB, MB, GB of 1,000."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if n >= unit:
            return f"{n / unit:.1f} {name}"
    return f"{n:.0f} B"


def waited(seconds: float) -> str:
    """A span of time: 45 s, 12 min, 3.5 h, 2 days."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.0f} days"


def plural(n: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def cut(text: str, width: int) -> str:
    """The text on one line, its end cut in the open."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: max(0, width - 1)] + "…"


def short_path(text: str, width: int) -> str:
    """A path loses its beginning, at a separator where one is near; anything else its end."""
    flat = " ".join(text.split())
    if len(flat) <= width or " " in flat or ("/" not in flat and "\\" not in flat):
        return cut(flat, width)
    kept = flat[len(flat) - width + 1 :]
    at = min((i for i in (kept.find("/"), kept.find("\\")) if i >= 0), default=-1)
    return "…" + (kept[at:] if 0 <= at < width // 2 else kept)
