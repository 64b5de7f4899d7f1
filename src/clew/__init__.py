"""Clew keeps LLM agents working past the end of their context window, and loses nothing."""

from __future__ import annotations

__version__ = "0.1.0"
