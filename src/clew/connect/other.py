"""Any other program: the variables that the vendors' SDKs read."""

from __future__ import annotations

from collections.abc import Sequence

from clew.connect.client import Once


def other(arguments: Sequence[str], url: str) -> Once:
    """The command as it is, with both SDKs' base URLs in its environment."""
    return Once(tuple(arguments), {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1"})
