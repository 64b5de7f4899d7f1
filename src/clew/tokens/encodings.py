"""OpenAI's encodings from package data: no network, loaded on first use.

A `.bpe.zst` file is a zstandard frame of: the number of tokens (4 bytes, little endian), one byte of length for each,
then all of them end to end, in rank order. The ranks are OpenAI's (MIT); a test rebuilds the published files from ours
and compares their SHA-256.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew.errors import ConfigError

if TYPE_CHECKING:
    import tiktoken

O200K = "o200k_base"
CL100K = "cl100k_base"
ENCODINGS = (O200K, CL100K)
ALIASES: Mapping[str, str] = MappingProxyType({"o200k_harmony": O200K, "o200k": O200K, "cl100k": CL100K})

_O200K_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_O200K_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERNS = {
    O200K: "|".join(
        (
            rf"[^\r\n\p{{L}}\p{{N}}]?{_O200K_UPPER}*{_O200K_LOWER}+{_CONTRACTION}",
            rf"[^\r\n\p{{L}}\p{{N}}]?{_O200K_UPPER}+{_O200K_LOWER}*{_CONTRACTION}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    CL100K: r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"
    r"\s*[\r\n]|\s+(?!\S)|\s",
}


def resolve(name: str) -> str:
    """The encoding that stands behind a name or alias."""
    found = ALIASES.get(name, name)
    if found not in ENCODINGS:
        raise ConfigError(f"no encoding named {name!r}", hint=f"known: {', '.join((*ENCODINGS, *ALIASES))}")
    return found


def tokens_by_rank(name: str) -> list[bytes]:
    """Every mergeable token of an encoding; its position is its rank."""
    import zstandard  # with tiktoken, the heavy part: only a process that counts exactly pays for it

    packed = files("clew").joinpath("data", f"{resolve(name)}.bpe.zst").read_bytes()
    data = zstandard.ZstdDecompressor().decompress(packed)
    count = int.from_bytes(data[:4], "little")
    at, out = 4 + count, []
    for length in data[4 : 4 + count]:
        out.append(data[at : at + length])
        at += length
    return out


_loading = Lock()


@lru_cache(maxsize=len(ENCODINGS))
def _load(name: str) -> tiktoken.Encoding:
    import tiktoken

    ranks = {token: rank for rank, token in enumerate(tokens_by_rank(name))}
    # No special tokens: in what people and tools write, "<|endoftext|>" is text, and providers count it as such.
    return tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


def encoding(name: str) -> tiktoken.Encoding:
    """The encoding itself, loaded once a process. It knows no special tokens: text never raises."""
    known = resolve(name)
    with _loading:  # threads that need it at the same moment would each load their own
        return _load(known)
