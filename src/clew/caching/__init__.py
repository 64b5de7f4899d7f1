"""Cache breakpoints on the wire: where they go, whether they are on, and what they did. Pure functions."""

from __future__ import annotations

from clew.caching.effect import NO_EFFECT, Changed, Effect, Sent, after, sent
from clew.caching.mark import mark
from clew.caching.openai import keyed
from clew.caching.route import Route, describe, route

__all__ = ["NO_EFFECT", "Changed", "Effect", "Route", "Sent", "after", "describe", "keyed", "mark", "route", "sent"]
