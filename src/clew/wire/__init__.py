"""Bytes to transcript and back, for every format an agent speaks; nothing is lost on the way."""

from __future__ import annotations

from clew.wire.base import Request, Wire
from clew.wire.detect import WIRES, detect, get


def system_text(request: Request) -> str:
    """The words of a request's system prompt, wherever its format keeps it."""
    return get(request.wire).system_text(request)


__all__ = ["WIRES", "Request", "Wire", "detect", "get", "system_text"]
