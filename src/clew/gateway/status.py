"""What the gateway says of itself: alive, ready, and what it has done so far."""

from __future__ import annotations

from collections.abc import Mapping

from clew import __version__
from clew.config import Settings
from clew.errors import StoreError
from clew.gateway.counts import Counts
from clew.gateway.openapi import description
from clew.gateway.overflow import Learned
from clew.gateway.prompt_cache import PromptCache
from clew.jsonio import Json
from clew.store import Store

HEALTH, READY, STATUS, OPENAPI = "/health", "/ready", "/clew/status", "/clew/openapi.json"
PATHS = frozenset({HEALTH, READY, STATUS, OPENAPI})


def answer(
    path: str, store: Store, counts: Counts, learned: Learned, cache: PromptCache, settings: Settings
) -> tuple[int, Mapping[str, Json]]:
    """The status code and JSON of one of `PATHS`. Ready is a gateway whose store answers; requests pass without, too."""
    if path == HEALTH:
        return 200, {"status": "ok", "version": __version__}
    if path == OPENAPI:
        return 200, description()
    trouble = _store_trouble(store)
    if path == READY:
        return (503, {"status": "store down", "why": trouble}) if trouble else (200, {"status": "ready"})
    return 200, {
        "version": __version__,
        "mode": settings.serve.mode,
        "recall": settings.serve.recall,
        "store": trouble or "ok",
        "upstreams": sorted(settings.serve.upstreams),
        "counts": dict(counts.all()),
        "learned windows": learned.all(),
        "prompt cache": cache.all(),
    }


def _store_trouble(store: Store) -> str:
    try:
        store.sessions(limit=1)
    except StoreError as e:
        return e.message
    return ""
