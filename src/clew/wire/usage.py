"""What providers report as used, in one shape: every spelling read, none believed where its numbers contradict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from clew.jsonio import Json

_INSIDE = ("usage", "usageMetadata", "usage_metadata")
_CACHE_READ = ("cache_read_input_tokens", "cacheReadInputTokens")
_CACHE_WRITE = ("cache_creation_input_tokens", "cacheWriteInputTokens")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `input` is what was neither read from nor written to a cache; `output` holds `reasoning`."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        """Everything the model read, whatever it cost."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def cache_write(self) -> int:
        return self.cache_write_5m + self.cache_write_1h


def read(value: Json, wire: str = "") -> Usage | None:
    """The usage in a usage object, or in a body, event or chunk that holds one; None where none is told.

    `wire` decides what `input_tokens` means: Anthropic's leaves cached tokens out, Responses' includes them.
    Missing, negative and non-numeric counts are 0; a part that is larger than its whole is cut to it.
    """
    found = _find(value)
    if found is None:
        return None
    if "promptTokenCount" in found or "candidatesTokenCount" in found:
        return _gemini(found)
    if "prompt_tokens" in found or "completion_tokens" in found:
        return _inclusive(found, "prompt_tokens", "completion_tokens")
    if "inputTokens" in found or "outputTokens" in found:
        return _exclusive(found, "inputTokens", "outputTokens")
    if "input_tokens" in found or "output_tokens" in found:
        if wire == "anthropic" or (not wire and _looks_anthropic(found)):
            return _exclusive(found, "input_tokens", "output_tokens")
        return _inclusive(found, "input_tokens", "output_tokens")
    return None


def merged(earlier: Json, later: Json) -> Json:
    """Two usage objects of one response, as a stream reports them. The later one wins, but its nulls tell nothing and
    counts, which only ever grow, don't go back: some proxies end a stream with zeros.
    """
    if not isinstance(earlier, dict) or not isinstance(later, dict):
        return later if isinstance(later, dict) else earlier
    result = dict(earlier)
    for key, value in later.items():
        known = result.get(key)
        if _is_number(known) and _is_number(value):
            result[key] = max(known, value)
        elif value is not None or key not in result:
            result[key] = value
    return result


def _find(value: Json) -> Mapping[str, Json] | None:
    for _ in range(3):  # an event holds a response, a response holds its usage
        if not isinstance(value, dict):
            return None
        inner = next((value[k] for k in _INSIDE if isinstance(value.get(k), dict)), None)
        if inner is not None:
            return dict(inner)
        nested = value.get("response", value.get("message"))
        if not isinstance(nested, dict):
            return value
        value = nested
    return None


def _count(found: Mapping[str, Json], *keys: str) -> int:
    for key in keys:
        n = found.get(key)
        if _is_number(n) and math.isfinite(n):
            return max(int(n), 0)
    return 0


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _details(found: Mapping[str, Json], *keys: str) -> Mapping[str, Json]:
    return next((found[k] for k in keys if isinstance(found.get(k), dict)), {})


def _looks_anthropic(found: Mapping[str, Json]) -> bool:
    return any(k in found for k in (*_CACHE_READ, *_CACHE_WRITE, "cache_creation"))


def _writes(found: Mapping[str, Json], total: int) -> tuple[int, int]:
    """Cache writes for 5 minutes and for 1 hour. What the breakdown doesn't name is of the default kind, 5 minutes."""
    split = _details(found, "cache_creation", "cacheCreation")
    hour = _count(split, "ephemeral_1h_input_tokens")
    five = _count(split, "ephemeral_5m_input_tokens")
    return max(total - hour, five), hour


def _exclusive(found: Mapping[str, Json], prompt: str, output: str) -> Usage:
    """Counts beside each other: Anthropic, Bedrock."""
    five, hour = _writes(found, _count(found, *_CACHE_WRITE))
    out = _count(found, output)
    reasoning = _count(_details(found, "output_tokens_details"), "thinking_tokens", "reasoning_tokens")
    return Usage(_count(found, prompt), _count(found, *_CACHE_READ), five, hour, out, min(reasoning, out))


def _inclusive(found: Mapping[str, Json], prompt: str, output: str) -> Usage:
    """Counts inside a total: OpenAI and all who speak its format, each with cache counts at a place of their own."""
    total = _count(found, prompt)
    inside = _details(found, "prompt_tokens_details", "input_tokens_details")
    read_ = _count(inside, "cached_tokens") or _count(
        found, "cached_input_tokens", "prompt_cache_hit_tokens", "cached_tokens", *_CACHE_READ
    )
    if not total and "prompt_cache_miss_tokens" in found:
        total = read_ + _count(found, "prompt_cache_miss_tokens")
    read_ = min(read_, total)
    written = _count(inside, "cache_write_tokens", "cache_creation_tokens") or _count(found, *_CACHE_WRITE)
    five, hour = _writes(found, min(written, total - read_))
    if five + hour > total - read_:
        hour = min(hour, total - read_)
        five = total - read_ - hour
    out = _count(found, output)
    reasoning = _count(
        _details(found, "completion_tokens_details", "output_tokens_details"), "reasoning_tokens"
    ) or _count(found, "reasoning_output_tokens", "reasoning_tokens")
    if reasoning and _count(found, "total_tokens") == total + out + reasoning:
        out += reasoning  # some count the reasoning beside the completion; their total gives it away
    return Usage(total - read_ - five - hour, read_, five, hour, out, min(reasoning, out))


def _gemini(found: Mapping[str, Json]) -> Usage:
    total = _count(found, "promptTokenCount") + _count(found, "toolUsePromptTokenCount")
    cached = min(_count(found, "cachedContentTokenCount"), total)
    thoughts = _count(found, "thoughtsTokenCount")
    return Usage(total - cached, cached, 0, 0, _count(found, "candidatesTokenCount") + thoughts, thoughts)
