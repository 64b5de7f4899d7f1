"""The model call that writes a handoff: provider clients, their failures by class, and how a prompt in pieces is run.

Importing it opens no connection and loads no HTTP; the first call does.
"""

from __future__ import annotations

from clew.summarise.base import Cancel, Reply, Summariser
from clew.summarise.pieces import run
from clew.summarise.spec import from_spec

__all__ = ["Cancel", "Reply", "Summariser", "from_spec", "run"]
