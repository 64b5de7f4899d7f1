"""Fixtures small enough to keep: long texts shortened the same way each time, their differences kept."""

from __future__ import annotations

from dataclasses import replace

from clew import jsonio
from clew.jsonio import Json
from clew.record.exchange import Exchange

_SEALED = frozenset(["signature", "encrypted_content", "data"])


def elided(exchange: Exchange, *, longest: int = 400, shown: int = 120, keep: tuple[str, ...] = ()) -> Exchange:
    """The exchange with every string over `longest` characters cut to its two ends and a digest of the whole.

    Equal strings stay equal and different ones different, also where they differ in the middle only. Strings that hold
    one of `keep` are kept whole.
    """

    def text(value: str) -> str:
        if len(value) <= longest or any(k in value for k in keep):
            return value
        mark = f"[… {len(value)} characters, {jsonio.digest(value.encode('utf-8', 'surrogatepass'))[:12]} …]"
        return f"{value[:shown]}{mark}{value[-shown:]}"

    def walk(value: Json) -> Json:
        if isinstance(value, str):
            return text(value)
        if isinstance(value, list):
            return [walk(v) for v in value]
        if isinstance(value, dict):
            return {k: v if k in _SEALED else walk(v) for k, v in value.items()}
        return value

    events = tuple((at, kind, walk(data)) for at, kind, data in exchange.events)
    return replace(exchange, body=walk(exchange.body), answer=walk(exchange.answer), events=events)
