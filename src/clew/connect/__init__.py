"""The clients' own setting files: pointed at Clew, and back again to the byte."""

from __future__ import annotations

from clew.connect.claude import Claude
from clew.connect.client import Client, Once
from clew.connect.codex import Codex
from clew.connect.files import Done, Plan, connect, current, plan, undo
from clew.connect.opencode import OpenCode
from clew.connect.other import other
from clew.connect.pi import Pi

CLIENTS: dict[str, Client] = {c.name: c for c in (Claude(), Codex(), OpenCode(), Pi())}

__all__ = ["CLIENTS", "Client", "Done", "Once", "Plan", "connect", "current", "other", "plan", "undo"]
