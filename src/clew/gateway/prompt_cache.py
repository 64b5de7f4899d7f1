"""Prompt caching on the way out, and what it did: marks or a key where the provider takes them, and after the answer
what was read and written beside what was foretold.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter as Sums
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clew.caching import NO_EFFECT, Effect, after, describe, keyed, mark, sent
from clew.catalog import Model
from clew.config import Settings
from clew.economics import Ttl
from clew.gateway.models import Models
from clew.gateway.routes import KNOWN, Route
from clew.jsonio import Json
from clew.transcript import Span
from clew.wire import Request
from clew.wire.usage import Usage

logger = logging.getLogger("clew.gateway")

_SESSIONS = 128  # whose last request is kept to compare the next one with
_SHOWN = 20  # sessions, in the status
_WARNINGS = 20  # the newest
_LINES = 50  # of models and upstreams, what is said of each


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that was answered: what went out, what the client had sent, of which session, after how many epochs."""

    session: tuple[str, str]  # tenant and id
    shown: Request
    client: Request
    epochs: int


class PromptCache:
    """One worker's. Usable from several threads; two answers of one session come one after the other."""

    def __init__(self, settings: Settings, models: Models, clock: Callable[[], float]) -> None:
        self._on = settings.prompt_caching.enabled
        self._ttl: Ttl = "1h" if settings.prompt_caching.cache_ttl == "1h" else "5m"
        self._models = models
        self._clock = clock
        self._lock = threading.Lock()
        self._watched: OrderedDict[tuple[str, str], tuple[Effect, int]] = OrderedDict()
        self._sums: Sums[str] = Sums()
        self._warnings: deque[str] = deque(maxlen=_WARNINGS)
        self._lines: dict[tuple[str, str], str] = {}

    def marked(self, shown: Request, route: Route, session: str, handoff: Span | None) -> Request:
        """The request with cache marks or a cache key; itself where nothing is to be added. `handoff` are its messages
        that hold one.
        """
        if not self._on:
            return shown
        model = self._models.get(shown.model)
        upstream = spoken_to(route)
        self._tell(model, shown.wire, upstream, route.upstream)
        shown = mark(shown, model, ttl=self._ttl, base=handoff, upstream=upstream)
        return keyed(shown, model, session, upstream=upstream)

    def answered(self, done: Answered, usage: Usage) -> Mapping[str, float]:
        """Takes in what the provider says it read, wrote and charged in full. What to add to the session's sums."""
        model = self._models.get(done.shown.model)
        with self._lock:
            effect, epochs = self._watched.pop(done.session, (NO_EFFECT, done.epochs))
        client = done.client if done.client is not done.shown else None
        this = sent(done.shown, model, client, previous=effect.last)
        grown, changed = after(effect, this, usage, model, self._clock(), expected=epochs != done.epochs)
        figures = {k: getattr(grown, k) - getattr(effect, k) for k in _FIGURES} | {"output": usage.output}
        with self._lock:
            self._watched[done.session] = grown, done.epochs
            while len(self._watched) > _SESSIONS:
                self._watched.popitem(last=False)
            self._sums.update(figures)
            if changed is not None:
                self._warnings.append(f"{done.session[1]}: {changed}")
        if changed is not None:
            logger.warning("prompt cache of session %s: %s", done.session[1], changed)
        return figures

    def all(self) -> dict[str, Json]:
        """For the status: what is said of each model, this worker's sums, its newest sessions and warnings."""
        with self._lock:
            said: list[Json] = sorted(set(self._lines.values()))
            newest = list(self._watched.items())[-_SHOWN:]
            sessions: dict[str, Json] = {s: {k: getattr(e, k) for k in _FIGURES} for (_, s), (e, _) in newest}
            warned: list[Json] = list(self._warnings)
            return {"said": said, "sums": dict(sorted(self._sums.items())), "sessions": sessions, "warnings": warned}

    def _tell(self, model: Model, wire: str, upstream: str, name: str) -> None:
        """Whether caching is on is said once of each model at each upstream."""
        key = (model.name, f"{wire} {name}")
        if key in self._lines or len(self._lines) >= _LINES:
            return
        line = self._lines[key] = describe(model, wire, self._ttl, upstream)
        logger.info("%s", line)


_FIGURES = ("requests", "read", "written", "uncached", "forecast_read", "forecast_written", "forecast_uncached")


def spoken_to(route: Route) -> str:
    """Whose API an upstream speaks: one that has a known provider's name is taken for it, wherever it stands."""
    return KNOWN.get(route.upstream, route.url)


def overview(settings: Settings) -> str:
    """For the start-up, before any model is known: whether requests will carry marks, and why."""
    if settings.serve.mode == "observe":
        return "nothing is added: requests go out as they came"
    if not settings.prompt_caching.enabled:
        return "nothing is added (prompt_caching.enabled: false); a client's own marks and keys pass"
    ttl = settings.prompt_caching.cache_ttl
    return (
        f"on: Claude is marked ({ttl}) on its own API and at OpenRouter, OpenAI gets a cache key, others need nothing"
    )
