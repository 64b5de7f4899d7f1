"""What the catalogue knows of the models that requests name, looked up once."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict

from clew.catalog import Model, lookup
from clew.config import Settings

_KEPT = 256


class Models:
    """By name. Usable from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Model] = OrderedDict()

    def get(self, name: str) -> Model:
        """The model, or a guess; the warning about a guess is left to the status page."""
        name = name or "unknown"
        found = self._held.get(name)
        if found is not None:
            return found
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self._held[name] = lookup(name, self._settings.models)
            while len(self._held) > _KEPT:
                self._held.popitem(last=False)
        return found
