"""What the provider counts and what its prefix cache does: tokens of every block, and the usage of every request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from clew import jsonio
from clew.catalog import Model
from clew.economics import Block, CacheState, Request, Ttl, price
from clew.jsonio import Json
from clew.testing.upstream.values import Usage
from clew.tokens import Counter
from clew.transcript import Message, without_cache_marks
from clew.wire import Request as Body


@dataclass(slots=True)
class Meter:
    """Counts with a hidden `bias`, as a provider's own tokenizer differs from anyone's estimate; one cache for each
    API key, kept by the clock it is given.
    """

    clock: Callable[[], float]
    bias: float = 1.0
    _caches: dict[str, CacheState] = field(default_factory=dict)
    _known: dict[tuple[str, str], int] = field(default_factory=dict)

    def prompt(self, body: Body, model: Model) -> tuple[int, int]:
        """The tokens of a whole request, and those of its tools."""
        blocks = self._blocks(body, model)
        tools = sum(b.tokens for b in blocks[: len(body.tools)])
        return sum(b.tokens for b in blocks), tools

    def text(self, text: str, model: Model) -> int:
        """The tokens of what the model says."""
        return max(1, round(Counter.of(model).text(text) * self.bias)) if text else 0

    def use(self, tenant: str, body: Body, model: Model, output: int, reasoning: int) -> tuple[Usage, str]:
        """The usage of a request that was answered, and the cache's reason for it."""
        request = Request.of(self._blocks(body, model))
        state, bill = price(self._caches.get(tenant, CacheState()), request, model, self.clock(), output)
        self._caches[tenant] = state
        usage = Usage(bill.uncached, bill.read, bill.written_5m, bill.written_1h, output, reasoning)
        return usage, str(bill.why)

    def _blocks(self, body: Body, model: Model) -> list[Block]:
        counter = Counter.of(model)
        out = [self._block(t, model, partial(counter.tools, [t])) for t in body.tools]
        system = body.system if isinstance(body.system, list) else [body.system] if body.system else []
        out += [self._block(s, model, partial(counter.system, [s])) for s in system]
        for message in body.messages:
            out += self._of_message(message, model, counter)
        whole = body.rest.get("cache_control") if body.wire == "anthropic" else None
        if whole and out:
            out[-1] = Block(out[-1].key, out[-1].tokens, _ttl({"cache_control": whole}))
        return out

    def _of_message(self, message: Message, model: Model, counter: Counter) -> list[Block]:
        content = message.value.get("content")
        if message.wire == "anthropic" and isinstance(
            content, str
        ):  # the same text in a block is the same to the cache
            content = [{"type": "text", "text": content}]
        if message.wire == "openai-chat" and isinstance(content, list):
            return [self._of_chat(message, content, model, counter)]
        if message.wire != "anthropic" or not isinstance(content, list) or len(content) != len(message.parts):
            return [self._block(message.value, model, partial(counter.message, message))]
        return [
            self._block({"role": message.role, **block}, model, partial(_part, counter, message, i))
            for i, block in enumerate(content)
        ]

    def _of_chat(self, message: Message, content: list[Json], model: Model, counter: Counter) -> Block:
        """A chat message is one block to the cache; marks stand on its parts, as OpenRouter takes them. A lone text part
        is the same as the text itself.
        """
        value, lone = message.value, content[0] if len(content) == 1 else None
        if isinstance(lone, dict) and set(lone) - {"cache_control"} == {"type", "text"}:
            value = {**value, "content": lone["text"]}
        block = self._block(value, model, partial(counter.message, message))
        return replace(block, breakpoint=next((t for part in content if (t := _ttl(part))), None))

    def _block(self, value: Json, model: Model, count: Callable[[], int]) -> Block:
        key = jsonio.digest(jsonio.canonical(without_cache_marks(value)))
        known = self._known.get((model.name, key))
        if known is None:
            known = self._known[model.name, key] = round(count() * self.bias)
        return Block(key, known, _ttl(value))


def _part(counter: Counter, message: Message, i: int) -> int:
    return counter.parts(message)[i]


def _ttl(value: Json) -> Ttl | None:
    mark = value.get("cache_control") if isinstance(value, dict) else None
    if not isinstance(mark, dict):
        inner = value.get("content") if isinstance(value, dict) and value.get("type") == "tool_result" else None
        return next((t for b in inner if (t := _ttl(b))), None) if isinstance(inner, list) else None
    return "1h" if mark.get("ttl") == "1h" else "5m"
