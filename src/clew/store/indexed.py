"""The text a message is found under, in every backend."""

from __future__ import annotations

from clew.transcript import Message

PRIVATE = dict.fromkeys(range(57344, 63744), " ")  # the indexes mark scopes with these


def indexed(message: Message) -> str:
    """Its words, and its calls with their arguments."""
    pieces = [message.text]
    pieces += [f"{c.name} {c.arguments}" for c in message.calls]
    return clean("\n".join(p for p in pieces if p)).translate(PRIVATE)


def clean(text: str) -> str:
    """The text without what has no UTF-8 form; databases refuse lone surrogates."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
