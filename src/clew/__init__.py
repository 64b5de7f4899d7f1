"""Clew keeps LLM agents working past the end of their context window, and loses nothing.

The names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.context import Compressed, Context, Hit, compress
    from clew.engine.values import Epoch, Refusal
    from clew.errors import ClewError, ClewWarning, UnknownReference, WindowTooSmall
    from clew.handoff.receipt import Receipt
    from clew.ledger import Ledger
    from clew.store import Store, open_store
    from clew.strategies.base import Edit
    from clew.summarise import Reply

__version__ = "0.1.0"

_HOMES = {
    "ClewError": "clew.errors",
    "ClewWarning": "clew.errors",
    "Compressed": "clew.context",
    "Context": "clew.context",
    "Edit": "clew.strategies.base",
    "Epoch": "clew.engine.values",
    "Hit": "clew.context",
    "Ledger": "clew.ledger",
    "Receipt": "clew.handoff.receipt",
    "Refusal": "clew.engine.values",
    "Reply": "clew.summarise",
    "Store": "clew.store",
    "UnknownReference": "clew.errors",
    "WindowTooSmall": "clew.errors",
    "compress": "clew.context",
    "open_store": "clew.store",
}

__all__ = [
    "ClewError",
    "ClewWarning",
    "Compressed",
    "Context",
    "Edit",
    "Epoch",
    "Hit",
    "Ledger",
    "Receipt",
    "Refusal",
    "Reply",
    "Store",
    "UnknownReference",
    "WindowTooSmall",
    "compress",
    "open_store",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'clew' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
