"""What can be said of a model, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per million tokens. The write prices are those of the provider's ordinary and its long cache life."""

    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float


@dataclass(frozen=True, slots=True)
class CacheRules:
    """How the provider's prefix cache behaves.

    `kind`: entries are made where the request marks them ("explicit"), by the provider ("automatic"), or never.
    `hits`: a later request reads up to an earlier one's "breakpoint", or as far as both agree, in steps of `step`.
    `lookback`: how many blocks a breakpoint searches, itself included; 0 means all of them. Lives are in seconds.
    """

    kind: Literal["explicit", "automatic", "none"] = "none"
    hits: Literal["breakpoint", "step"] = "step"
    minimum: int = 1024
    step: int = 1
    lookback: int = 0
    max_breakpoints: int = 0
    ttl: float = 300
    long_ttl: float = 0


@dataclass(frozen=True, slots=True)
class Quirks:
    """What the provider insists on in a conversation's shape."""

    alternation: bool = False  # user and assistant must take turns
    first_user: bool = False  # the first message must be the user's
    system_mid: bool = False  # a system message may stand after the first one
    image_in_tool_result: bool = False
    foreign_tools: bool = False  # calls to tools that the request doesn't list are accepted
    prefill: bool = False  # the last message may be the assistant's
    drops_reasoning: bool = False  # reasoning of earlier turns leaves the prompt when the user speaks again
    call_id: str = ""  # a pattern that a call's id must match whole; empty: anything


@dataclass(frozen=True, slots=True)
class Model:
    """One model. `family` picks the token ratio, `image_rule` the price of a picture.

    `max_output` is 0 where the provider states none apart from the window. `long_prices` hold for a whole request
    whose input is over `long_over` tokens. `guessed` says that the figures are assumptions.
    """

    name: str
    provider: str
    family: str
    window: int
    max_output: int
    prices: Prices
    cache: CacheRules = CacheRules()
    quirks: Quirks = Quirks()
    image_rule: str = "flat"
    reasoning_billed: bool = False
    long_over: int = 0
    long_prices: Prices | None = None
    retires: str = ""
    guessed: bool = False

    def prices_at(self, input_tokens: int) -> Prices:
        """The prices of a request with so many tokens of input."""
        return self.long_prices if self.long_prices and input_tokens > self.long_over else self.prices
