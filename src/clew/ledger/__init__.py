"""Typed facts from messages, incrementally, each with the message it came from."""

from clew.ledger.builder import Builder, of
from clew.ledger.facts import Ledger

__all__ = ["Builder", "Ledger", "of"]
