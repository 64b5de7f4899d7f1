"""A summary that the check accepts for any ledger: it names what the ledger names."""

from __future__ import annotations

from clew.handoff import template as t
from clew.testing.model import record


def good(ledger=None):
    """A record that claims nothing but the ledger's own commands."""
    commands = [c.text for c in ledger.commands[:6]] if ledger is not None else []
    lines = "\n".join(f"{n}. RUN {c} — 1 lines [tool: bash]" for n, c in enumerate(commands, 1))
    return record(
        {t.GOAL: "Fix the rounding in src/cart.py.", t.ACTIONS: lines or "1. READ src/cart.py — done [tool: read]"}
    )
