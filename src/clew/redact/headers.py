"""`Authorization` and cookies: a header whose value has parts, some of them secret."""

from __future__ import annotations

import base64
import binascii
import itertools
import re

from clew.redact.found import ENOUGH, REACH, Span
from clew.redact.lazy import lazy
from clew.redact.values import literal, opaque, standin, wordy

_SCHEME = lazy(r"(?P<scheme>[A-Za-z][\w+\-]{1,30})(?:[ \t]{1,4}|%20|\+)(?=[^\s=:,;])")
_CREDENTIAL = lazy(r"(?:[^\s\"'`,;<>\\(){}\[\]&]++|\\(?![nrtu\"'\\]))++")
_PARTS = lazy(
    r"\b(?P<name>response|opaque|cnonce|oauth_token|oauth_signature|Signature|Credential|token|mac)=(?P<q>\\*\"?)(?P<value>[^\s\"\\,&]{6,1024})"
)
_PAIR = lazy(r"(?P<name>[A-Za-z0-9_.\-$%]{1,80})=(?P<value>[^\s;\"'`,<>\\]{1,4096})")
_FIELD = lazy(
    r"[\"'](?P<name>[A-Za-z0-9_.\-$%]{1,80})\\*[\"'][ \t]{0,4}:[ \t]{0,4}\\*[\"'](?P<value>[^\s;\"'`,<>\\]{1,4096})"
)
_ATTRIBUTES = frozenset(["path", "domain", "expires", "max-age", "samesite", "version", "priority", "comment"])
_SENSITIVE = lazy(
    r"sess|sid|token|auth|jwt|csrf|xsrf|key|secret|pass|login|remember|user|connect\.|id$|ticket|sso|sig", re.IGNORECASE
)
_KNOWN = frozenset(["bearer", "basic", "token", "apikey", "api-key", "negotiate", "ntlm", "bot", "jwt", "oauth", "digest", "dpop", "key",
                    "sso-key", "ssws", "genie-key", "geniekey", "aws4-hmac-sha256", "sharedkey", "hawk", "mac", "splunk", "api-token", "user", "private"])  # fmt: skip
_STANDALONE = lazy(r"bearer(?: |%20)([A-Za-z0-9._~+/=\-]{16,4096})", re.IGNORECASE)
_BASIC = lazy(r"basic ([A-Za-z0-9+/]{8,1024}={0,2})", re.IGNORECASE)
FAMILY = "authorization"
_MOST_PAIRS = 50


def authorization(text: str, start: int, quote: str | None) -> list[Span]:
    """The credential in a header's value that begins at `start`; its scheme stays."""
    scheme = _SCHEME.match(text, start)
    name = scheme["scheme"].lower() if scheme is not None else ""
    if name in {"digest", "oauth", "aws4-hmac-sha256", "hawk", "mac"}:
        limit = min(_line_end(text, start), start + REACH // 4)
        return [Span(m.start("value"), m.end("value"), FAMILY) for m in _PARTS.finditer(text, start, limit)]
    known = scheme is not None and name in _KNOWN
    if scheme is not None and not known and (other := _unheard(text, scheme.end())):
        return other
    match = _CREDENTIAL.match(text, begin := scheme.end() if scheme is not None and known else start, begin + REACH)
    if match is None:
        return []
    whole = match[0].rstrip(".:")
    value = whole[:ENOUGH]
    if not literal(value):
        return []
    if name == "basic" or (scheme is not None and not known and _basic(value)):
        good = len(value) >= 6 and (_basic(value) or opaque(value))
    elif known:
        good = len(value) >= 6 and not (wordy(value) and not any(c.isdigit() for c in value)) and value[-1] != "."
    else:
        # Without a scheme it may as well be a variable.
        good = (
            opaque(value) and (quote is not None or scheme is None) and not value.startswith(("req.", "self.", "this."))
        )
    return [Span(match.start(), match.start() + len(whole), FAMILY)] if good else []


def _unheard(text: str, start: int) -> list[Span]:
    """What a scheme of a vendor's own is followed by, where only a credential can be that."""
    match = _CREDENTIAL.match(text, start, start + REACH)
    value = match[0][:ENOUGH] if match is not None else ""
    if match is None or len(value) < 20 or not literal(value) or not opaque(value) or "/" in value[:1]:
        return []
    whole = match[0].rstrip(".:")
    return [Span(match.start(), match.start() + len(whole), FAMILY)]


def bearer(text: str, position: int) -> list[Span]:
    """`Bearer …` with no header before it."""
    match = _STANDALONE.match(text, position)
    if match is None:
        return []
    value = match[1].rstrip(".")
    return (
        [Span(match.start(1), match.start(1) + len(value), FAMILY)]
        if literal(value[:ENOUGH]) and opaque(value[:ENOUGH])
        else []
    )


def basic(text: str, position: int) -> list[Span]:
    """`Basic …` with no header before it, where what follows really is `user:password`."""
    match = _BASIC.match(text, position)
    return [Span(match.start(1), match.end(1), FAMILY)] if match is not None and _basic(match[1]) else []


def cookie(text: str, start: int, quote: str | None) -> list[Span]:
    """The values of a cookie header's pairs; small ones that no session could hang on stay (`theme=dark`)."""
    limit = _line_end(text, start)
    if quote is not None:
        closed = text.find(quote[-1], start, limit)
        limit = closed if closed >= 0 else limit
    pairs = _FIELD if text.startswith("{", start) else _PAIR
    return [
        Span(pair.start("value"), pair.end("value"), "cookie")
        for pair in itertools.islice(pairs.finditer(text, start, limit), _MOST_PAIRS)
        if secret_pair(pair["name"], pair["value"])
    ]


def secret_pair(name: str, value: str) -> bool:
    """Whether that cookie is one a session could hang on."""
    value = value[:ENOUGH]
    if name.lower() in _ATTRIBUTES or not literal(value):
        return False
    if _SENSITIVE.search(name) is not None and len(value) >= 6 and not (value.isalpha() and wordy(value)):
        return True
    return len(value) >= 12 and opaque(value) and not standin(value)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start, start + REACH)
    escaped = text.find("\\n", start, start + REACH)
    ends = [e for e in (end, escaped, len(text), start + REACH) if e >= 0]
    return min(ends)


def _basic(value: str) -> bool:
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain[1:] and all(32 <= c < 127 or c >= 0xC2 for c in plain)
