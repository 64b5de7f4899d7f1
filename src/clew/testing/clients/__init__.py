"""Real agents from npm, run headless against any base URL on loopback: Claude Code, Codex, OpenCode, pi.

    with running(Upstream(Errand())) as upstream:
        place = Place.at(folder, upstream.url)
        done = CODEX.run("errand:alpha steps=10", place)

Each runs in a home of its own, with updates and telemetry off.
"""

from __future__ import annotations

from clew.testing.clients.base import Client, Done, Place
from clew.testing.clients.claude_code import CLAUDE_CODE
from clew.testing.clients.codex import CODEX
from clew.testing.clients.npm import NoNode
from clew.testing.clients.opencode import OPENCODE
from clew.testing.clients.pi import PI

__all__ = ["CLAUDE_CODE", "CLIENTS", "CODEX", "OPENCODE", "PI", "Client", "Done", "NoNode", "Place"]

CLIENTS = (CLAUDE_CODE, CODEX, OPENCODE, PI)
