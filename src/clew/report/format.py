"""One value as text, the same in every rendering."""

from __future__ import annotations

from clew.inspect import figures
from clew.report.model import Format, Value

_TICKS = "▁▂▃▄▅▆▇█"
_ASCII_TICKS = "_.-=+*#%"


def shown(value: Value, how: Format, *, ascii_only: bool = False) -> str:
    """The value as people read it; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return spark(value, ascii_only=ascii_only)
    if isinstance(value, str):
        return " ".join(value.split())
    match how:
        case "tokens":
            return figures.tokens(value)
        case "percent":
            return figures.percent(value, 1)
        case "money":
            return figures.money(value)
        case "bytes":
            return figures.size(value)
        case "seconds":
            return figures.waited(value)
        case _:
            return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def spark(values: tuple[float, ...], width: int = 16, *, ascii_only: bool = False) -> str:
    """A line of small bars; more values than places are averaged."""
    if not values:
        return ""
    most = max(*values, 0)
    ticks = _ASCII_TICKS if ascii_only else _TICKS
    last = len(ticks) - 1
    return "".join(ticks[round(max(v, 0) / most * last) if most else 0] for v in buckets(values, width))


def buckets(values: tuple[float, ...], places: int) -> list[float]:
    """As many values as there are places: the largest of each stretch, so that no peak is lost. Fewer stay as they are."""
    n = len(values)
    if n <= places:
        return list(values)
    return [max(values[i * n // places : max((i + 1) * n // places, i * n // places + 1)]) for i in range(places)]
