"""Marks on what the engine really sends: the generated session through several epochs, on both wires, with a provider's
cache beside it.
"""

from __future__ import annotations

import pytest

from clew import Context
from clew.caching import NO_EFFECT, after, mark, sent
from clew.catalog import lookup
from clew.economics import CacheState, price
from clew.testing.session import generate
from clew.wire import get
from clew.wire.convert import convert
from clew.wire.usage import Usage
from tests.caching.requests import OPENROUTER, anthropic, bare, chat, marks

SONNET = lookup("claude-sonnet-4-6")


def messages(wire):
    """The session's messages, and its system prompt where the format keeps that outside."""
    whole = get("openai-chat").request({"model": "m", "messages": generate(3, turns=14).messages})
    if wire == "openai-chat":
        return [m.value for m in whole.messages], None
    other = convert(whole.messages[1:], "openai-chat", "anthropic")
    return [m.value for m in other.messages], whole.messages[0].text


@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
def test_through_epochs_nothing_that_is_stored_is_billed_anew_but_what_an_epoch_rewrote(wire):
    listed, system = messages(wire)
    context = Context(window=24_000, wire=wire, recall="command", clock=lambda: 1_770_000_000.0)
    effect, state, now, found, outlived, page = NO_EFFECT, CacheState(), 0.0, [], [], None
    for message in listed:
        context.append(message)
        if message["role"] == "assistant":
            continue
        epochs = len(context.epochs)
        view = [m.value for m in context.view_messages()]
        new = len(context.epochs) > epochs
        request = anthropic(view, system=system) if wire == "anthropic" else chat(view, system=None)
        base = context.epochs[-1].base.handoff if context.epochs else None
        marked = mark(request, SONNET, base=base, upstream=OPENROUTER)
        assert bare(marked) == bare(request)
        assert len(marks(marked)) <= 4
        now += 20
        this = sent(marked, SONNET, previous=effect.last)
        state, bill = price(state, this.priced, SONNET, now, 50)
        usage = Usage(bill.uncached, bill.read, bill.written_5m, bill.written_1h, 50)
        effect, warning = after(effect, this, usage, SONNET, now, expected=new)
        found += [warning] if warning else []
        if new and page in this.priced.chains:
            outlived.append(bill.read - this.priced.upto(this.priced.chains.index(page) + 1))
        page = page_chain(marked, this)
        assert (page is not None) == bool(context.epochs)
    assert len(context.epochs) >= 3
    assert found == []
    assert effect.share_read > 0.6
    assert outlived, "no page outlived an epoch in this session"
    assert min(outlived) >= 0


def page_chain(request, this):
    """The hash of the prefix that ends with the marked page; None without one."""
    for (section, message, block), _ in marks(request):
        content = request.messages[message].value["content"] if section == 2 else []
        if isinstance(content, list) and content and "## Completed Actions" in content[block].get("text", ""):
            names = (f"messages[{message}].content[{block}]", f"messages[{message}]")
            return this.priced.chains[next(i for i, n in enumerate(this.names) if n in names)]
    return None
