"""A reply in each provider's words: as one body, and as the events of a stream that add up to it."""

from __future__ import annotations

from clew.jsonio import Json
from clew.testing.upstream.speak import anthropic, chat, responses
from clew.testing.upstream.speak.turn import Turn

__all__ = ["Turn", "body", "events"]


def body(turn: Turn) -> Json:
    """The reply without streaming."""
    match turn.ask.wire:
        case "anthropic":
            return anthropic.body(turn)
        case "openai-chat":
            return chat.body(turn)
        case _:
            return responses.body(turn)


def events(turn: Turn) -> list[bytes]:
    """The reply as a stream: each event's bytes, blank line included."""
    match turn.ask.wire:
        case "anthropic":
            return anthropic.events(turn)
        case "openai-chat":
            return chat.events(turn)
        case _:
            return responses.events(turn)
