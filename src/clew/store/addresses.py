"""Content addresses as bytes, and the range of addresses that a short reference may stand for."""

from __future__ import annotations

import base64
import binascii

from clew.errors import StoreCorrupt, UnknownReference
from clew.transcript import REFERENCE

SHORT, WHOLE = 12, 32


def to_bytes(address: str) -> bytes:
    """The 20 bytes of an address."""
    if len(address) != WHOLE:
        raise ValueError(f"not a content address: {address!r}")
    try:
        return base64.b32decode(address.upper())
    except binascii.Error as e:
        raise ValueError(f"not a content address: {address!r}") from e


def from_bytes(raw: bytes) -> str:
    if not isinstance(raw, bytes):
        raise StoreCorrupt(f"{raw!r} stands where an address should", hint="run `clew store check --repair`")
    return base64.b32encode(raw).decode().lower()


def parse(reference: str) -> str:
    """The letters of a reference, short or whole; UnknownReference where it can be none."""
    letters = reference.strip().removeprefix(REFERENCE).lower()
    if not SHORT <= len(letters) <= WHOLE or letters.strip("abcdefghijklmnopqrstuvwxyz234567"):
        raise UnknownReference(f"{reference!r} is no reference", hint=f"one looks like {REFERENCE}k3v7q2m7x4ab")
    return letters


def span(letters: str) -> tuple[bytes, bytes]:
    """The lowest and the highest address that begin with these letters."""
    return to_bytes(letters.ljust(WHOLE, "a")), to_bytes(letters.ljust(WHOLE, "7"))
