"""The text of a message's part, and of a whole message, as a person would read it."""

from __future__ import annotations

from clew.transcript import Image, Message, Part, ToolCall


def text_of(part: Part) -> str:
    if isinstance(part, ToolCall):
        return part.arguments
    if isinstance(part, Image):
        return part.data or part.url
    return part.text


def part_text(message: Message, part: int) -> str:
    return text_of(message.parts[part]) if 0 <= part < len(message.parts) else ""


def readable(message: Message) -> str:
    """Its words where it is words alone; else its JSON, so that nothing of it is left out."""
    if message.text and not message.calls:
        return message.text
    return message.raw.decode("utf-8", "replace")
