"""What can't be read is priced by its length: signatures, encrypted reasoning, documents."""

from __future__ import annotations

from clew.tokens.families import Family

_ENCRYPTION_BYTES = 650  # what surrounds the reasoning in an encrypted item
_PAGE_BYTES, _PAGE = 50_000, 2_000


def signature_tokens(length: int, family: Family) -> int:
    """Thinking behind a signature of so many characters; its text, where there is one, is only a summary of it."""
    return round(max(0, length - family.seal_frame) * family.seal)


def encrypted_tokens(length: int) -> int:
    """Reasoning inside an encrypted item of so many base64 characters."""
    return max(0, length * 3 // 4 - _ENCRYPTION_BYTES) // 4


def document_tokens(length: int) -> int:
    """A PDF in so many base64 characters: 2,000 a page and a page for every 50 KB, an assumption."""
    return _PAGE * max(1, round(length * 3 / 4 / _PAGE_BYTES))
