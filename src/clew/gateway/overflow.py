"""An upstream's answer that says the request is too long, in each provider's words; and what is learned from it."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass

_N = r"(\d[\d,_]*)"
# Whether it is about length at all.
_SAID = re.compile(
    r"context_length_exceeded|exceed_context_size|context_window_exceeded|request_too_large"
    r"|(?:prompt|input|request|context)(?: is)? too (?:long|large)|too many tokens: size limit|prompt exceeds max length"
    r"|context (?:window|size|length|limit)[^.]{0,60}(?:exceed|too (?:long|large|small)|but the request)"
    r"|(?:exceed|(?:long|great|larg)er than|over|too large for)[^.]{0,60}context (?:window|size|length|limit)"
    r"|loaded with (?:a )?context length|context length is only|maximum context length|configured context size"
    r"|exceed\w* (?:the )?(?:maximum (?:allowed )?(?:prompt|input) length|maximum number of tokens|maximum size)"
    r"|exceed\w* (?:the |model )*token limit|maximum prompt length is|message size \d+ exceeds limit"
    r"|token count[^.]{0,40}(?:exceed|only supports up to)|input tokens exceed|range of input length should be"
    r"|reduce (?:the length of (?:the |your )?|your )(?:input |)(?:messages|prompt|input)"
    r"|`inputs`[^.]{0,40} must (?:be <=|have less than)|'(?:messages|input)\b[^']*': string too long",
    re.IGNORECASE,
)
# The window, and what was asked for. The first that is found holds; of parts of the prompt the sum.
_LIMIT = tuple(
    re.compile(p, re.IGNORECASE)
    for p in (
        rf"tokens > {_N}",
        rf"context limit: [\d,_]+ \+ [\d,_]+ > {_N}",
        rf"context (?:length|size|window|limit)(?: is| of| only|:| \(n_ctx:)* \(?{_N}",
        rf"n_ctx\W{{1,4}}{_N}",
        rf"{_N} maximum context length",
        rf"maximum (?:allowed )?(?:prompt|input) length (?:is|of) {_N}",
        rf"maximum number of tokens allowed \(?{_N}",
        rf"token limit: {_N}",
        rf"limit (?:is|of) {_N}",
        rf"only supports up to {_N}",
        rf"must (?:be <=|have less than) {_N}",
        rf"range of input length should be \[\d+, ?{_N}",
    )
)
_PARTS = re.compile(
    rf"{_N} (?:tokens )?(?:of (?:text|image|tool) input|(?:in|from) (?:the|your) (?:input )?(?:messages|prompt|functions|tools))",
    re.IGNORECASE,
)
_ASKED = tuple(
    re.compile(p, re.IGNORECASE)
    for p in (
        rf"too long: {_N}",
        rf"context limit: {_N}",
        rf"(?:prompt|request|you|input|messages?|inputs)\b[^.]{{0,20}}?(?:contains|has|passed|resulted in)(?: about)? {_N}",
        rf"(?:request|input|length)(?: length)? \(?{_N}(?: tokens)?\)?(?: is longer| exceeds?)",
        rf"token count(?: of| is)? \(?{_N}",
        rf"requested:?(?: about| a total of)? {_N}",
        rf"current length is {_N}",
        rf"n_prompt_tokens\W{{1,4}}{_N}",
        rf"given: {_N}",
    )
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
    if status != 413 and not _SAID.search(text):
        return None
    limit = next((_number(found[1]) for p in _LIMIT if (found := p.search(text))), 0)
    asked = sum(map(_number, _PARTS.findall(text)))
    asked = asked or next((_number(found[1]) for p in _ASKED if (found := p.search(text))), 0)
    return Overflow(limit if limit >= SMALLEST else 0, asked)


def _number(text: str) -> int:
    return int(re.sub(r"[,_]", "", text))


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
