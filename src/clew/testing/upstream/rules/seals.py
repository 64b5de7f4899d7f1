"""Signatures of thinking and the encryption of reasoning: made here, and known again when they come back."""

from __future__ import annotations

import base64
import binascii
import hashlib

_TAG = 12  # bytes that name the item
_PROOF = 20
_HEAD = "gAAAA"


class Seals:
    """A signature binds the words it was given with; encrypted content is whole or refused, and belongs to one item."""

    def __init__(self, seed: int) -> None:
        self._key = f"seal {seed}".encode()

    def signature(self, thinking: str) -> str:
        """Anthropic's signature of a thinking block, about as long as the thinking."""
        text = thinking.encode("utf-8", "surrogatepass")
        return base64.b64encode(self._drawn(b"sign" + text, 40 + len(text) // 2)).decode()

    def signed(self, thinking: str, signature: str) -> bool:
        return signature == self.signature(thinking)

    def encrypted(self, item: str, text: str) -> str:
        """OpenAI's encrypted content of the reasoning item with this id."""
        tag = self._drawn(b"item" + item.encode(), _TAG)
        filling = self._drawn(
            b"fill" + text.encode("utf-8", "surrogatepass"), len(text.encode("utf-8", "surrogatepass"))
        )
        return _HEAD + base64.b64encode(tag + self._drawn(tag + filling, _PROOF) + filling).decode()

    def decrypts(self, content: str, item: str | None) -> bool:
        """Whether it is whole and, where the client still names the item, that item's."""
        try:
            raw = base64.b64decode(content.removeprefix(_HEAD), validate=True)
        except binascii.Error:
            return False
        tag, proof, filling = raw[:_TAG], raw[_TAG : _TAG + _PROOF], raw[_TAG + _PROOF :]
        if proof != self._drawn(tag + filling, _PROOF):
            return False
        return item is None or tag == self._drawn(b"item" + item.encode(), _TAG)

    def _drawn(self, what: bytes, size: int) -> bytes:
        return hashlib.shake_256(self._key + b"\0" + what).digest(size)
