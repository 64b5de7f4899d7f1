"""An upstream's answer that says the request is too long, in each provider's words; and what is learned from it."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass

_N = r"(\d[\d,_]*)"
# Each with the names of its groups, as far as it tells them: the limit, and what was asked for.
_TOLD: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), tuple(names.split()))
    for pattern, names in (
        (rf"prompt is too long: {_N} tokens > {_N}", "asked limit"),
        (rf"input length and `?max_tokens`? exceed context limit: {_N} \+ \d+ > {_N}", "asked limit"),
        (rf"maximum context length is {_N} tokens.{{0,80}}?(?:requested|resulted in)(?: about)? {_N}", "limit asked"),
        (rf"maximum prompt length is {_N} but the request contains {_N}", "limit asked"),
        (rf"prompt token count of {_N} exceeds the limit of {_N}", "asked limit"),
        (rf"input token count \(?{_N}\)? exceeds the maximum number of tokens allowed \(?{_N}", "asked limit"),
        (rf"Prompt contains {_N} tokens.{{0,60}}?too large for model with {_N}", "asked limit"),
        (rf"\(?{_N}\)? tokens?\)? exceeds? the available context size \(?{_N}", "asked limit"),
        (rf"exceeds? the available context size \(?{_N}", "limit"),
        (rf"loaded with (?:a )?context length of only {_N}", "limit"),
        (rf"exceeded model token limit: {_N}", "limit"),
        (rf"maximum context length (?:is|of) {_N}", "limit"),
    )
)
_SAID = re.compile(
    r"context_length_exceeded|exceed_context_size|context_window_exceeded|model_context_window_exceeded|string_above_max"
    r"|exceeds? the (?:model'?s? )?(?:available )?context (?:window|size|length)|input is too long|prompt is too long"
    r"|reduce the length of the (?:messages|prompt|input)|context (?:window|size|length)[^.]{0,30}exceeded"
    r"|prompt exceeds max length|too many tokens: size limit|request_too_large|exceeds the maximum size"
    r"|exceed context limit|tokens? (?:count )?exceeds the maximum number of tokens",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate.?limit|tokens per min|\bTPM\b", re.IGNORECASE)
_STATUSES = frozenset({400, 413, 422, 500})
SMALLEST = 1_000  # a limit under this is a misreading


@dataclass(frozen=True, slots=True)
class Overflow:
    """`limit` is the window that the answer names, `asked` the tokens it says the request has; 0 where it doesn't."""

    limit: int = 0
    asked: int = 0


def read(status: int, body: bytes) -> Overflow | None:
    """What an error answer says of the request's length; None where it is about something else."""
    if status not in _STATUSES:
        return None
    text = body[:20_000].decode("utf-8", "replace")
    if _RATE.search(text):
        return None
    for pattern, names in _TOLD:
        if found := pattern.search(text):
            told = {n: int(re.sub(r"[,_]", "", found[i])) for i, n in enumerate(names, 1)}
            limit = told.get("limit", 0)
            return Overflow(limit if limit >= SMALLEST else 0, told.get("asked", 0))
    return Overflow() if status == 413 or _SAID.search(text) else None


def in_stream(piece: bytes) -> Overflow | None:
    """The same, of the beginning of a stream that carries nothing but the error."""
    if b"error" not in piece or b"_delta" in piece or b".delta" in piece or b"content_block" in piece:
        return None
    return read(400, piece) if _SAID.search(piece[:20_000].decode("utf-8", "replace")) else None


class Learned:
    """Windows that upstreams told us of, by upstream and model. Usable from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._windows: dict[tuple[str, str], int] = {}

    def window(self, upstream: str, model: str) -> int:
        """0 where nothing was learned."""
        return self._windows.get((upstream, model), 0)

    def learn(self, upstream: str, model: str, limit: int) -> None:
        with self._lock:
            self._windows[upstream, model] = limit

    def all(self) -> dict[str, int]:
        with self._lock:
            return {f"{upstream}/{model}": n for (upstream, model), n in self._windows.items()}
