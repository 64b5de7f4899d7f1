"""The counter that everything asks: a value that says how a model counts, and the next value once usage is reported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from clew import jsonio
from clew.catalog import Model
from clew.jsonio import Json
from clew.tokens import images
from clew.tokens.exact import count_text
from clew.tokens.families import Family, family
from clew.tokens.message import Tally, by_part, pictures, tally
from clew.tokens.rough import rough_text
from clew.tokens.tools import tools_tally
from clew.transcript import Message

Reasoning: TypeAlias = Literal["all", "turn", "none"]

_REPLY = 3  # what opens the model's turn
_LIE = 4.0  # a report this many times off is no usage of this request
_STEP = 1.25  # what one report can claim at most
_SPAN = 2.0  # how far the ratio may go from the family's
_SMALLEST = 100  # frames and hidden reminders outweigh the text of smaller growth
_LARGEST = 8_000  # one report weighs no more than this
_PRIOR = 6_000  # tokens of evidence that the family's own ratio stands for
_MEMORY = 60_000  # tokens of evidence after which old reports fade


@dataclass(frozen=True, slots=True)
class Counter:
    """How one model counts. `learned` multiplies the family's ratio; `evidence` is the tokens it was learned from.

    `reasoning` says what of it is in a prompt: all, that of the current turn (since the user last spoke), or none.
    """

    name: str = "other"
    image_rule: str = "flat"
    reasoning: Reasoning = "all"
    learned: float = 1.0
    evidence: float = 0.0

    @classmethod
    def of(cls, model: Model) -> Counter:
        """The counter for a model of the catalog."""
        kept: Reasoning = "all"
        if not model.reasoning_billed:
            kept = "none"
        elif model.quirks.drops_reasoning:
            kept = "turn"
        return cls(model.family, model.image_rule, kept)

    @property
    def family(self) -> Family:
        return family(self.name)

    @property
    def encoding(self) -> str:
        return self.family.encoding

    @property
    def ratio(self) -> float:
        """This model's tokens for one of the encoding."""
        return self.family.ratio * self.learned

    def text(self, text: str) -> int:
        """The tokens of bare text."""
        return round(count_text(text, self.encoding) * self.ratio)

    def rough(self, text: str) -> int:
        """An estimate of the same without a vocabulary, many times as fast."""
        return round(rough_text(text) * self.ratio)

    def message(self, message: Message) -> int:
        """The tokens of one message with its frame; its reasoning too unless none is kept. Cached by content."""
        return self._sum(tally(message, self.family, self.image_rule), thought=self.reasoning != "none")

    def parts(self, message: Message) -> tuple[int, ...]:
        """The tokens of each part of a message, its frame with the first; to the rounding, their sum is `message`."""
        thought = self.reasoning != "none"
        return tuple(self._sum(t, thought=thought) for t in by_part(message, self.family, self.image_rule))

    def messages(self, messages: Sequence[Message]) -> int:
        """The tokens of a conversation as a request would hold it, without system and tools that stand outside it."""
        spoke = 0
        if self.reasoning == "turn":
            spoke = max((i for i, m in enumerate(messages) if m.is_user_turn), default=0)
        total = _REPLY
        for i, m in enumerate(messages):
            thought = self.reasoning == "all" or (self.reasoning == "turn" and i >= spoke)
            total += self._sum(tally(m, self.family, self.image_rule), thought=thought)
        return total

    def system(self, system: Json) -> int:
        """The tokens of a system prompt that stands outside the messages: a string, blocks, or nothing."""
        if not system:
            return 0
        given = system if isinstance(system, list) else [system]
        texts = [b if isinstance(b, str) else b.get("text") if isinstance(b, dict) else None for b in given]
        words = sum(count_text(t, self.encoding) for t in texts if isinstance(t, str))
        shown = sum(images.tokens(self.image_rule, None) for _ in pictures(given))
        return self._sum(Tally(words, self.family.message + shown))

    def tools(self, tools: Iterable[Json]) -> int:
        """The tokens of the tool definitions."""
        return self._sum(tools_tally(tools, self.family))

    def value(self, value: Json) -> int:
        """The tokens of a JSON value shown to the model as compact JSON."""
        return self.text(jsonio.dumps(value).decode("utf-8", "replace"))

    def report(self, counted: int, reported: int) -> Counter:
        """The counter after a provider said `reported` where this one had said `counted`: of a whole request with
        cached input included, or better of what was added since the last one, where nothing unseen is in it.

        What can't be true is ignored (nothing or less, four times off, too little to tell); a single report moves the
        ratio by a quarter at most, and all of them together by a factor of two.
        """
        if counted < _SMALLEST or reported <= 0 or not 1 / _LIE < reported / counted < _LIE:
            return self
        claim = min(_STEP, max(1 / _STEP, reported / counted))
        weight = min(counted, _LARGEST)
        share = weight / (self.evidence + _PRIOR + weight)
        learned = min(_SPAN, max(1 / _SPAN, self.learned * claim**share))
        return replace(self, learned=learned, evidence=min(_MEMORY, self.evidence + weight))

    def _sum(self, t: Tally, *, thought: bool = True) -> int:
        text, fixed = t.text, t.fixed
        if thought:
            text, fixed = text + t.thought_text, fixed + t.thought_fixed
        return round(text * self.ratio) + fixed


def _named(name: str) -> Counter:
    return Counter(name)


def count_message(message: Message, family_name: str = "gpt-o200k") -> int:
    """The tokens of one message for a family, its pictures at a flat price."""
    return _named(family_name).message(message)


def count_tools(tools: Iterable[Json], family_name: str = "gpt-o200k") -> int:
    """The tokens of tool definitions for a family."""
    return _named(family_name).tools(tools)


def count_system(system: Json, family_name: str = "gpt-o200k") -> int:
    """The tokens of a system prompt for a family."""
    return _named(family_name).system(system)
