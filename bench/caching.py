"""What cache marks save, and where they stand: `python -m bench.caching`.

The generated session through a window of 24,000 tokens, on both wires, billed by the cache model: the weight of all input
in tokens of uncached input, over that input. No network, no key; the same figures everywhere.
"""

from __future__ import annotations

from clew import Context
from clew.caching import mark, sent
from clew.catalog import lookup
from clew.economics import CacheState, price
from clew.testing.session import generate
from clew.wire import Request, get
from clew.wire.convert import convert

MODEL = lookup("claude-sonnet-4-6")
OPENROUTER = "https://openrouter.ai/api/v1"
WAYS = ("no marks", "system and the last three", "system, the last page and the last two")


def main() -> None:
    for wire in ("anthropic", "openai-chat"):
        for way in WAYS:
            share, epochs = played(wire, way)
            print(f"{wire:12} {way:40} {share:.3f} of the input's price ({epochs} epochs)")


def played(wire: str, way: str) -> tuple[float, int]:
    whole = get("openai-chat").request({"model": "m", "messages": generate(3, turns=14).messages})
    log = whole.messages if wire == "openai-chat" else convert(whole.messages[1:], "openai-chat", "anthropic").messages
    context = Context(window=24_000, wire=wire, recall="command", clock=lambda: 1_770_000_000.0)
    state, weight, tokens = CacheState(), 0.0, 0
    for n, message in enumerate(log):
        context.append(message.value)
        if message.role == "assistant":
            continue
        request = body(wire, [m.value for m in context.view_messages()], whole.messages[0].text)
        base = context.epochs[-1].base.handoff if context.epochs and way == WAYS[2] else None
        marked = request if way == WAYS[0] else mark(request, MODEL, base=base, upstream=OPENROUTER)
        state, bill = price(state, sent(marked, MODEL).priced, MODEL, 20.0 * n)
        weight, tokens = weight + bill.weight, tokens + bill.input
    return weight / tokens, len(context.epochs)


def body(wire: str, messages: list, system: str) -> Request:
    value = {"model": "claude-sonnet-4-6", "messages": messages}
    return get(wire).request(value if wire == "openai-chat" else {**value, "max_tokens": 1, "system": system})


if __name__ == "__main__":
    main()
