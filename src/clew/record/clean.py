"""Keys out of what is written down: credentials in headers and addresses always, and whatever looks like a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, urlsplit

from clew.jsonio import Json
from clew.record.exchange import Headers
from clew.redact import redact
from clew.redact.names import Holds, as_query, holds

REMOVED = "[removed]"
_ACCOUNT = frozenset(
    ["chatgpt-account-id", "openai-organization", "openai-project", "anthropic-organization-id", "x-goog-user-project"]
)
# A session's or a cache's id is what a recording is for; it opens nothing.
_IDENTITY = re.compile(
    r"(?:prompt_cache_key|session|conversation|thread|request|response|item|call|user|device)(?:_?id|_?key)?$"
)
_SHORTEST = 6  # no secret is shorter


def headers(given: Iterable[tuple[str, str]]) -> Headers:
    """The headers with the values of credentials removed; which ones were sent stays visible."""
    return tuple((k, REMOVED if _is_key(k) else redact(v, force=True)) for k, v in given)


def path(raw: str) -> str:
    """The address with credentials in its query removed."""
    parts = urlsplit(raw)
    if not parts.query:
        return raw
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if not any(as_query(k) for k, _ in pairs):
        return raw
    kept = "&".join(f"{quote(k)}={REMOVED if as_query(k) else quote(v)}" for k, v in pairs)
    return f"{parts.path}?{kept}"


def body(value: Json) -> Json:
    """The value with the secrets in its strings masked, and strings under a secret's name removed."""
    if isinstance(value, str):
        return redact(value, force=True) if len(value) >= _SHORTEST else value
    if isinstance(value, list):
        return [body(v) for v in value]
    if isinstance(value, dict):
        return {k: REMOVED if isinstance(v, str) and v and _is_secret(k, v) else body(v) for k, v in value.items()}
    return value


def _is_key(name: str) -> bool:
    low = name.lower()
    found = holds(low.removeprefix("proxy-"))
    return low in _ACCOUNT or found in {Holds.AUTHORIZATION, Holds.COOKIE, Holds.TOKEN, Holds.SECRET, Holds.PASSWORD}


def _is_secret(name: str, value: str) -> bool:
    """Whether a name says that its string is a credential."""
    if _IDENTITY.search(name) or " " in value or len(value) < _SHORTEST:
        return False
    return holds(name) in {Holds.PASSWORD, Holds.SECRET, Holds.TOKEN, Holds.AUTHORIZATION}
