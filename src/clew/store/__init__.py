"""Where everything is kept: one protocol, several backends."""

from __future__ import annotations

from clew.store.base import Store
from clew.store.records import NewSession, Original, Session, SessionFilter, Stored
from clew.store.url import open_store

__all__ = ["NewSession", "Original", "Session", "SessionFilter", "Store", "Stored", "open_store"]
