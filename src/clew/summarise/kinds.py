"""Which class of failure it is: one table for what providers answer, one for what the network does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from clew.jsonio import Json

# What the provider says decides before its status: many answer 400 or 429 for everything. The first that matches.
_SAYINGS: Mapping[str, tuple[str, ...]] = {
    "overflow": (
        r"context[_ ](?:length|window|size)", r"maximum context", r"prompt is too long", r"too many (?:input )?tokens",
        r"input is too long", r"reduce the length", r"max_prompt_tokens",
        r"exceed\w* the (?:available )?(?:context|model'?s? (?:max|context))",
    ),
    "quota": (
        r"insufficient[_ ](?:quota|funds|balance|credit)", r"exceeded your current quota", r"billing", r"credit balance",
        r"payment required", r"out of credits", r"spend(?:ing)? limit",
    ),
    "not_found": (
        r"model[_ ]not[_ ](?:found|exist)", r"no such model", r"unknown model", r"invalid model", r"no endpoints found",
        r"model .{0,80}(?:does not exist|not found|is not available)", r"decommissioned",
    ),
    "auth": (
        r"invalid[_ ](?:api[_ ]?key|x-api-key|token)", r"incorrect api key", r"authentication", r"unauthori[sz]ed",
        r"permission[_ ](?:error|denied)", r"missing api key", r"no api key", r"expired (?:token|key)",
    ),
    "rate_limit": (r"rate[_ -]?limit", r"too many requests", r"tokens per min", r"requests per (?:min|day)", r"slow down"),
    "server": (
        r"overloaded", r"temporarily unavailable", r"server[_ ](?:error|busy)", r"internal error", r"no capacity",
        r"loading model",
    ),
    "refused": (r"content[_ ](?:filter|policy|management)", r"safety (?:system|policy)", r"flagged"),
}  # fmt: skip
SAID = tuple((kind, re.compile("|".join(patterns), re.IGNORECASE)) for kind, patterns in _SAYINGS.items())

STATUS: Mapping[int, str] = {
    401: "auth", 402: "quota", 403: "auth", 404: "not_found", 405: "not_found", 408: "timeout", 410: "not_found",
    413: "overflow", 421: "network", 425: "rate_limit", 429: "rate_limit", 504: "timeout", 524: "timeout", 522: "network", 523: "network",
}  # fmt: skip

# By name, since naming the classes of http.client and ssl would load them. The first class in the exception's order.
RAISED: Mapping[str, str] = {
    "TimeoutError": "timeout", "timeout": "timeout", "gaierror": "network", "herror": "network", "SSLError": "network",
    "RemoteDisconnected": "network", "ConnectionError": "network", "IncompleteRead": "stream", "BadStatusLine": "network",
    "LineTooLong": "network", "InvalidURL": "not_found", "HTTPException": "stream", "JSONDecodeError": "json",
    "UnicodeError": "json", "OSError": "network",
}  # fmt: skip

ADVICE: Mapping[str, str] = {
    "auth": "check the summariser's credential",
    "quota": "the provider's quota or credit is used up",
    "rate_limit": "the provider asks for fewer requests; it is tried again later",
    "not_found": "check the model's name and base_url",
    "timeout": "raise auxiliary.compression.timeout, or choose a faster model",
    "network": "check base_url and the network",
    "json": "base_url may not be an API: something there answered with another kind of text",
    "overflow": "set auxiliary.compression.context_length to the model's window: then it is served in pieces",
    "no_provider": "set auxiliary.compression.provider and its credential, or leave them out to use the ledger alone",
}


def of_status(status: int, said: str) -> str:
    """The kind of an answer that is no success."""
    if status < 500 or status in (503, 529):
        found = next((kind for kind, pattern in SAID if pattern.search(said)), None)
        if found is not None and not (status == 401 and found != "auth"):
            return found
    return STATUS.get(status, "server" if status >= 500 else "other")


def of_message(said: str) -> str:
    """The kind of an error told inside a stream, which has no status of its own."""
    return next((kind for kind, pattern in SAID if pattern.search(said)), "server")


def of_exception(error: BaseException) -> str:
    """The kind of what the network or a library raised."""
    return next((RAISED[c.__name__] for c in type(error).__mro__ if c.__name__ in RAISED), "other")


def message_of(body: Json) -> str:
    """What an error body says: code, type and message, in whichever of the common shapes."""
    return " ".join(dict.fromkeys(_words(body)))[:600]


def _words(body: Json, depth: int = 0) -> Iterator[str]:
    if isinstance(body, str):
        yield body
    elif isinstance(body, list) and body and depth < 4:
        yield from _words(body[0], depth + 1)
    elif isinstance(body, dict) and depth < 4:
        for key in ("code", "type", "status", "message", "detail", "title", "error", "metadata", "raw"):
            value = body.get(key)
            if value not in (None, "error"):
                yield from _words(value, depth + 1)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds the provider asks to wait, from lower-case headers: milliseconds, seconds or a date."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (then - now).total_seconds()) if then.tzinfo is not None else None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,7}(?:\.\d+)?", text.strip()) else None
