"""The size of a picture in pixels from the first bytes of its file, without decoding it."""

from __future__ import annotations

import binascii
import struct
from typing import TypeAlias

Size: TypeAlias = tuple[int, int]

_FIRST = 512  # bytes; enough for every format but JPEG and AVIF, whose headers may stand behind metadata
_MOST = 1 << 18
_URLSAFE = str.maketrans("-_", "+/")
_NO_SIZE = frozenset((0xC4, 0xC8, 0xCC))  # JPEG markers among the frame headers that are none


def of_base64(data: str) -> Size | None:
    """Width and height of a picture in base64 (a data URL is understood too); None where they can't be read."""
    if data.startswith("data:"):
        data = data.partition(",")[2]
    for wanted in (_FIRST, _MOST):
        size = of_bytes(_decode(data, wanted))
        if size or len(data) * 3 // 4 <= wanted:
            return size
    return None


def _decode(data: str, wanted: int) -> bytes:
    """About the first `wanted` bytes; empty where it isn't base64."""
    head = data[: wanted * 4 // 3 // 4 * 4].translate(_URLSAFE)
    try:
        return binascii.a2b_base64(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return b""


def of_bytes(head: bytes) -> Size | None:
    """Width and height of PNG, JPEG, GIF, WebP, BMP, AVIF and HEIC; None for anything else or a cut header."""
    try:
        size = _read(head)
    except (struct.error, IndexError):
        return None
    return size if size and size[0] > 0 and size[1] > 0 else None


def _read(head: bytes) -> Size | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        width, height = struct.unpack_from(">II", head, 16)
        return width, height
    if head.startswith(b"\xff\xd8"):
        return _jpeg(head)
    if head[:6] in (b"GIF87a", b"GIF89a"):
        width, height = struct.unpack_from("<HH", head, 6)
        return width, height
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    if head.startswith(b"BM"):
        width, height = struct.unpack_from("<ii", head, 18)
        return width, abs(height)  # a negative height says top-down
    if head[4:8] == b"ftyp":
        return _heif(head)
    return None


def _jpeg(head: bytes) -> Size | None:
    at = 2
    while at + 9 < len(head):
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        elif marker == 1 or 0xD0 <= marker <= 0xD8:  # no payload
            at += 2
        else:
            at += 2 + max(2, int(struct.unpack_from(">H", head, at + 2)[0]))
    return None


def _webp(head: bytes) -> Size | None:
    kind = head[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", head, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X" and len(head) >= 30:
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None


def _heif(head: bytes) -> Size | None:
    """The largest of the sizes it states: thumbnails and tiles have theirs too."""
    best, at = None, head.find(b"ispe")
    while at >= 0 and at + 16 <= len(head):
        width, height = struct.unpack_from(">II", head, at + 8)
        if best is None or width * height > best[0] * best[1]:
            best = (width, height)
        at = head.find(b"ispe", at + 4)
    return best
