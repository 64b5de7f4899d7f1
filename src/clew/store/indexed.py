"""The text a message is found under, in every backend."""

from __future__ import annotations

import re

from clew.transcript import Message

_PRIVATE = re.compile(r"[\ue000-\uf8ff]")  # the indexes mark scopes with these
_LEADS = (b"\xee", b"\xef")  # the bytes that their UTF-8 forms begin with


def indexed(message: Message) -> str:
    """Its words, and its calls with their arguments."""
    pieces = [message.text]
    pieces += [f"{c.name} {c.arguments}" for c in message.calls]
    text = "\n".join(p for p in pieces if p).replace("\0", " ")  # where one stands, a tokenizer would stop reading
    if text.isascii():
        return text
    data = text.encode("utf-8", "replace")
    text = data.decode()
    return _PRIVATE.sub(" ", text) if any(lead in data for lead in _LEADS) else text


def clean(text: str) -> str:
    """The text without what has no UTF-8 form; databases refuse lone surrogates."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
