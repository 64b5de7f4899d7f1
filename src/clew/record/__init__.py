"""Recorded traffic: a relay that changes nothing and writes what passed, and readers for what it wrote.

Importing it loads no server; `clew.record.relay` does (extra `gateway`).
"""

from __future__ import annotations

from clew.record.elide import elided
from clew.record.exchange import Exchange, read, write

__all__ = ["Exchange", "elided", "read", "write"]
