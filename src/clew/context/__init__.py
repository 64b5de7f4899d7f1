"""The object people use, and the one call without state."""

from __future__ import annotations

from clew.context.context import Context
from clew.context.once import Compressed, compress
from clew.context.originals import Hit

__all__ = ["Compressed", "Context", "Hit", "compress"]
