"""A request as the provider's cache sees it: blocks in wire order (tools, system, messages), and where it may stop."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, TypeAlias

Ttl: TypeAlias = Literal["5m", "1h"]


@dataclass(frozen=True, slots=True)
class Block:
    """One block: a content address (without cache marks), its tokens, and the cache mark it carries, if any.

    "5m" asks for the provider's ordinary life, "1h" for its long one: the names are Anthropic's.
    """

    key: str
    tokens: int
    breakpoint: Ttl | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """Blocks folded into prefixes: `chains[i]` and `totals[i]` are the hash and the tokens of blocks 0 to i.

    Two requests agree up to block i exactly when their `chains[i]` are equal. `marks` are (block, life) in order.
    """

    chains: tuple[bytes, ...] = ()
    totals: tuple[int, ...] = ()
    marks: tuple[tuple[int, Ttl], ...] = ()

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Request:
        return cls().then(blocks)

    def then(self, blocks: Iterable[Block]) -> Request:
        """This request with more blocks at its end; hashes only the new ones."""
        chains, totals, marks = list(self.chains), list(self.totals), list(self.marks)
        chain, total = chains[-1] if chains else b"", self.tokens
        for block in blocks:
            if block.tokens < 0:
                raise ValueError(f"block {block.key!r} has {block.tokens} tokens")
            chain = blake2b(chain + b"\0" + block.key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            total += block.tokens
            if block.breakpoint is not None:
                marks.append((len(chains), block.breakpoint))
            chains.append(chain)
            totals.append(total)
        return Request(tuple(chains), tuple(totals), tuple(marks))

    def until(self, blocks: int) -> Request:
        """Its first so many blocks, with their marks."""
        if blocks >= len(self.chains):
            return self
        return Request(self.chains[:blocks], self.totals[:blocks], tuple(m for m in self.marks if m[0] < blocks))

    def marked(self, marks: Iterable[tuple[int, Ttl]]) -> Request:
        """The same blocks with cache marks at these places instead."""
        found = tuple(sorted(marks))
        if found and not 0 <= found[0][0] <= found[-1][0] < len(self.chains):
            raise ValueError(f"a mark is outside the request's {len(self.chains)} blocks")
        return Request(self.chains, self.totals, found)

    @property
    def tokens(self) -> int:
        """All of the input."""
        return self.totals[-1] if self.totals else 0

    def upto(self, blocks: int) -> int:
        """Tokens of the first so many blocks."""
        return self.totals[blocks - 1] if blocks > 0 else 0

    def shared(self, chains: tuple[bytes, ...]) -> int:
        """How many blocks from the start it has in common with another request's chains."""
        most = min(len(chains), len(self.chains))
        return bisect_left(range(most), 1, key=lambda i: self.chains[i] != chains[i])
