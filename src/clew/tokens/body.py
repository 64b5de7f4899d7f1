"""A request body that nobody has parsed, estimated: for the preflight of a gateway that must answer at once.

Nothing is parsed. Pictures and documents in base64 are found by the keys they stand under and priced as what they are;
sealed reasoning is priced by its length; JSON's own escapes are undone before the rest is weighed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.tokens import images, pixels
from clew.tokens.families import FAMILIES
from clew.tokens.rough import rough_bytes, sampled
from clew.tokens.sealed import document_tokens, encrypted_tokens, signature_tokens

_SHORTEST = 256  # a blob is no blob below this
_KEYS = (b'"data"', b'"file_data"', b'"signature"', b'"encrypted_content"', b'"result"', b'"thoughtSignature"')
_VALUE = re.compile(rb'\s*:\s*"')
_DATA_URL = re.compile(rb'(?<!\\)"data:([\w/.+-]*)(?:;[\w=.-]+)*;base64,\Z')
_BLOB = re.compile(rb"[A-Za-z0-9+/=_-]{%d}" % _SHORTEST)
_CONTROL = re.compile(rb"\\u00[01][0-9a-fA-F]")
_TWO_BYTES = re.compile(rb"\\u0[0-7][0-9a-fA-F]{2}")
_THREE_BYTES = re.compile(rb"\\u[0-9a-fA-F]{4}")


def rough_body(body: bytes, image_rule: str = "flat") -> int:
    """About the tokens of a whole request in JSON, system and tools included, as o200k_base would count them.

    Never raises: a truncated body or one that isn't JSON is weighed as the text it is.
    """
    total, at, rest = 0, 0, []
    for start, end, tokens in _blobs(body, image_rule):
        rest.append(body[at:start])
        total, at = total + tokens, end
    rest.append(body[at:])
    sample, scale = sampled(b"".join(rest))
    return total + round(rough_bytes(_unescaped(sample)) * scale)


def _blobs(body: bytes, image_rule: str) -> Iterator[tuple[int, int, int]]:
    """Where base64 stands that isn't text, in order, and what it costs."""
    found = sorted(_starts(body))
    after = 0
    for start, key in found:
        if start < after or not _BLOB.match(body, start):
            continue
        after = body.find(b'"', start)
        after = len(body) if after < 0 else after
        yield start, after, _price(key, body, start, after, image_rule)


def _starts(body: bytes) -> Iterator[tuple[int, bytes]]:
    for key in _KEYS:
        at = body.find(key)
        while at >= 0:
            value = _VALUE.match(body, at + len(key))
            if value:
                yield value.end(), key
            at = body.find(key, at + len(key))
    at = body.find(b";base64,")
    while at >= 0:
        start = at + len(b";base64,")
        # A data URL inside a text is text to the model; one that is a whole JSON string is a picture or a file.
        if _DATA_URL.search(body[max(0, start - 120) : start]):
            yield start, b"url"
        at = body.find(b";base64,", start)


def _price(key: bytes, body: bytes, start: int, end: int, image_rule: str) -> int:
    if key in (b'"signature"', b'"thoughtSignature"'):
        return signature_tokens(end - start, FAMILIES["claude-4.7"])
    if key == b'"encrypted_content"':
        return encrypted_tokens(end - start)
    head = body[start : min(end, start + (1 << 18))].decode("ascii", "replace")
    if head.startswith("JVBERi0"):  # %PDF-
        return document_tokens(end - start)
    return images.tokens(image_rule, pixels.of_base64(head))


def _unescaped(body: bytes) -> bytes:
    if b"\\" not in body:
        return body
    # Escaped backslashes first, kept as a byte that no JSON holds: what follows one is no escape.
    body = body.replace(b"\\\\", b"\0").replace(b"\\n", b"\n").replace(b'\\"', b'"').replace(b"\\t", b"\t")
    if b"\\u" in body:
        body = _CONTROL.sub(b"!", body)
        body = _TWO_BYTES.sub(b"\xd0\xb0", body)
        body = _THREE_BYTES.sub(b"\xe4\xb8\xad", body)
    return body.replace(b"\0", b"\\")
