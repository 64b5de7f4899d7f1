"""Times as people write them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from clew.errors import InputError

_AGO = re.compile(r"(\d+)\s*(m|min|h|d|w|y)")
_SECONDS = {"m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31_557_600}


def moment(text: str, now: float, *, end: bool = False) -> float:
    """`3d` (m, h, d, w, y ago), `today`, `yesterday`, `2026-11-18`, `2026-11-18T10:30`, with a zone or in the local one.
    A day means its beginning, or with `end` its end.
    """
    word = text.strip().lower()
    if found := _AGO.fullmatch(word):
        return now - int(found[1]) * _SECONDS[found[2]]
    if word in ("today", "yesterday"):
        day = datetime.fromtimestamp(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        day -= timedelta(days=word == "yesterday")
        return _of_day(day, end=end)
    try:
        at = datetime.fromisoformat(text.strip())
        return (
            _of_day(at.astimezone(), end=end) if len(text.strip()) == len("2026-11-18") else at.astimezone().timestamp()
        )
    except (ValueError, OverflowError, OSError):
        raise InputError(f"{text!r} is no time", hint="3d, 12h, yesterday, 2026-11-18 or 2026-11-18T10:30") from None


def _of_day(day: datetime, *, end: bool) -> float:
    return (day + timedelta(days=1, microseconds=-1000) if end else day).timestamp()
