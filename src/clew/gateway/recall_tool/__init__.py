"""Recall as a tool that the gateway answers itself: offered, called in the middle of a turn, never seen by the client."""

from __future__ import annotations

from clew.gateway.recall_tool.join import Join, Said
from clew.gateway.recall_tool.kept import Kept
from clew.gateway.recall_tool.offer import offered, unfit, why_not
from clew.gateway.recall_tool.splice import mark_of

__all__ = ["Join", "Kept", "Said", "mark_of", "offered", "unfit", "why_not"]
