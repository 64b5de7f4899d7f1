"""Pictures: their size from the header, their price by each provider's rule, wherever they stand in a message."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import pytest

from clew import wire
from clew.tokens import Counter, count_message, image_size, image_tokens, rough_body
from clew.tokens.images import UNKNOWN
from clew.tokens.pixels import of_bytes

CHAT, ANTHROPIC = wire.get("openai-chat"), wire.get("anthropic")


def png(width, height, payload=b""):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", payload) + chunk(b"IEND", b"")


def jpeg(width, height, metadata=0):
    app1 = b"".join(b"\xff\xe1" + struct.pack(">H", 60_000 + 2) + b"\0" * 60_000 for _ in range(metadata))
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\0" * 9
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF" + b"\0" * 10 + app1 + frame + b"\xff\xda" + b"\0" * 20


def webp(kind, payload):
    return b"RIFF" + struct.pack("<I", 12 + len(payload)) + b"WEBP" + kind + struct.pack("<I", len(payload)) + payload


def heif(*sizes):
    boxes = b"".join(struct.pack(">I4sIII", 20, b"ispe", 0, w, h) for w, h in sizes)
    return struct.pack(">I4s4sI", 16, b"ftyp", b"avif", 0) + b"\0\0\0\0meta" + boxes


FILES = {
    "png": png(640, 480),
    "jpeg": jpeg(640, 480),
    "jpeg behind metadata": jpeg(640, 480, metadata=3),
    "gif": b"GIF89a" + struct.pack("<HH", 640, 480) + b"\0" * 20,
    "webp lossy": webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480) + b"\0" * 9),
    "webp lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14) + b"\0" * 9),
    "webp extended": webp(b"VP8X", b"\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")),
    "bmp": b"BM" + b"\0" * 12 + struct.pack("<Iii", 40, 640, -480) + b"\0" * 20,
    "avif": heif((128, 128), (640, 480)),
}


@pytest.mark.parametrize("name", FILES)
def test_sizes_from_the_header(name):
    data = base64.b64encode(FILES[name]).decode()
    assert image_size(data) == (640, 480)
    assert image_size("data:image/x;base64," + data) == (640, 480)
    assert image_size(base64.urlsafe_b64encode(FILES[name]).decode().rstrip("=")) == (640, 480)


@pytest.mark.parametrize("data", ["", "!!!!", "aGVsbG8=", "\u4e2d" * 100, "data:image/png;base64,", "A" * 5000])
def test_what_is_no_picture_has_no_size(data):
    assert image_size(data) is None


@pytest.mark.parametrize("name", FILES)
def test_every_cut_of_a_header_is_read_or_refused(name):
    whole = FILES[name]
    assert {of_bytes(whole[:n]) for n in range(min(len(whole), 300))} <= {None, (640, 480), (128, 128)}


def test_only_the_first_bytes_are_decoded():
    data = base64.b64encode(png(300, 200, b"\x55" * 900)).decode() + "not base64 \u4e2d at all " * 100_000
    assert image_size(data) == (300, 200)


@pytest.mark.parametrize(
    "rule, size, detail, tokens",
    [
        ("claude", (1000, 1000), "", 1334),
        ("claude", (200, 200), "", 54),
        ("claude", (4000, 4000), "", 1600),
        ("claude-large", (4000, 4000), "", 4784),
        ("gpt", (1024, 1024), "", 765),
        ("gpt", (2048, 4096), "high", 1105),
        ("gpt", (4096, 8192), "low", 85),
        ("gpt", (300, 300), "", 255),
        ("gpt-patch", (1024, 1024), "", 1024),
        ("gpt-patch", (1800, 2400), "", 1485),
        ("gpt-patch", (1024, 1024), "low", 256),
        ("gpt-patch", (3200, 3200), "original", 10_000),
        ("gemini", (300, 300), "", 258),
        ("gemini", (960, 540), "", 1548),
        ("qwen", (320, 320), "", 102),
        ("flat", (10, 10), "", UNKNOWN),
        ("no such rule", (10, 10), "", UNKNOWN),
        ("gpt", None, "", UNKNOWN),
        ("claude", None, "", UNKNOWN),
    ],
)
def test_prices(rule, size, detail, tokens):
    assert image_tokens(rule, size, detail) == tokens


BIG = base64.b64encode(png(1000, 1000, b"\x55" * 300_000)).decode()
CHAT_IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + BIG}}
BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BIG}}
CLAUDE = Counter("claude", "claude")


def price(counter, message_wire, value, without):
    return counter.message(message_wire.message(value)) - counter.message(message_wire.message(without))


def test_a_picture_in_a_message_costs_its_pixels_not_its_base64():
    m, bare = {"role": "user", "content": [CHAT_IMAGE]}, {"role": "user", "content": []}
    assert price(Counter("gpt-o200k", "gpt"), CHAT, m, bare) == 765
    low = {"role": "user", "content": [{**CHAT_IMAGE, "image_url": {**CHAT_IMAGE["image_url"], "detail": "low"}}]}
    assert price(Counter("gpt-o200k", "gpt"), CHAT, low, bare) == 85
    remote = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}
    assert price(Counter("gpt-o200k", "gpt"), CHAT, remote, bare) == UNKNOWN
    assert count_message(CHAT.message(m)) == UNKNOWN + count_message(CHAT.message(bare))


def test_a_picture_in_a_tool_result():
    result = {"type": "tool_result", "tool_use_id": "t", "content": [BLOCK]}
    m = {"role": "user", "content": [result]}
    assert price(CLAUDE, ANTHROPIC, m, {"role": "user", "content": [{**result, "content": []}]}) == 1334


def test_a_picture_in_an_envelope():
    envelope = {"_multimodal": True, "content": [{"type": "text", "text": "seen"}, CHAT_IMAGE], "text_summary": "seen"}
    m = {"role": "tool", "tool_call_id": "c", "content": envelope}
    assert price(CLAUDE, CHAT, m, {"role": "tool", "tool_call_id": "c", "content": "seen"}) == 1334


def test_pictures_stashed_beside_the_content_count_once():
    bare = {"role": "user", "content": "look"}
    stashed = {**bare, "_anthropic_content_blocks": [{"type": "text", "text": "look"}, BLOCK]}
    assert price(CLAUDE, CHAT, stashed, bare) == 1334
    both = {
        "role": "user",
        "content": [{"type": "text", "text": "look"}, CHAT_IMAGE],
        "_anthropic_content_blocks": [BLOCK],
    }
    assert price(CLAUDE, CHAT, both, bare) == 1334
    assert price(CLAUDE, CHAT, {**bare, "anthropic_content_blocks": [BLOCK]}, bare) == 1334


def test_a_document_is_priced_by_its_length():
    data = base64.b64encode(b"%PDF-1.7" + b"\0" * 150_000).decode()
    block = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}
    m = {"role": "user", "content": [block]}
    assert price(CLAUDE, ANTHROPIC, m, {"role": "user", "content": []}) == 6000
    assert 6000 <= rough_body(json.dumps({"messages": [m]}).encode()) < 6100


@pytest.mark.parametrize("block", [CHAT_IMAGE, BLOCK, {"inlineData": {"mimeType": "image/png", "data": BIG}}])
def test_an_unseen_body_with_a_picture(block):
    body = json.dumps({"messages": [{"role": "user", "content": [block]}]}, separators=(",", ":")).encode()
    assert 1334 <= rough_body(body, "claude") < 1450
    assert UNKNOWN <= rough_body(body) < UNKNOWN + 120
    assert rough_body(body[: len(body) // 2], "claude") < 1450


def test_base64_that_a_text_holds_is_text_in_an_unseen_body():
    words = json.dumps({"data": BIG[:40_000], "url": "data:image/png;base64," + BIG[:40_000]})
    body = json.dumps({"messages": [{"role": "tool", "content": words}]}).encode()
    assert rough_body(body, "claude") > 30_000
