"""Where everything is kept: one protocol, several backends."""

from __future__ import annotations

from clew.store.base import Store
from clew.store.records import NewSession, Session, Stored

__all__ = ["NewSession", "Session", "Store", "Stored"]
