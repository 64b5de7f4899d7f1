"""Requests to be marked: long enough that a cache would keep them."""

from __future__ import annotations

from clew.caching import spots
from clew.handoff.template import ACTIONS, Sections, closing_text, paged
from clew.transcript import Span, without_cache_marks
from clew.wire import get

LONG = "The harbour office keeps a ledger of every ship that came in. " * 120
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
OPENROUTER = "https://openrouter.ai/api/v1"


def anthropic(messages, system="Be brief. " + LONG, tools=(), **rest):
    body = {"model": "claude-sonnet-4-6", "max_tokens": 100, "messages": messages, **rest}
    if system is not None:
        body["system"] = system
    if tools:
        body["tools"] = list(tools)
    return get("anthropic").request(body)


def chat(messages, system="Be brief. " + LONG, **rest):
    first = [{"role": "system", "content": system}] if system is not None else []
    return get("openai-chat").request({"model": "anthropic/claude-sonnet-4.6", "messages": [*first, *messages], **rest})


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


def turns(n):
    return [user(f"question {i} {LONG}") if i % 2 == 0 else said(f"answer {i}") for i in range(n)]


def marks(request):
    """Places and lives, read with the code that counts the client's."""
    return [((s.section, s.index, s.block), t) for s, t in spots.found(request)]


def bare(request):
    """The request's JSON without marks, every lone text block as its text, and adjacent texts of a message joined."""
    value = get(request.wire).render(request)
    value.pop("cache_control", None)
    value["tools"] = [without_cache_marks(t) for t in value.get("tools", [])]
    for holder, key in [(value, "system"), *((m, "content") for m in value["messages"])]:
        if key in holder:
            holder[key] = joined(holder[key])
    return value


def joined(content):
    if not isinstance(content, list):
        return content
    out = []
    for b in without_cache_marks(content):
        plain = isinstance(b, dict) and b.keys() == {"type", "text"}
        if plain and out and isinstance(out[-1], dict) and out[-1].keys() == {"type", "text"}:
            out[-1] = {"type": "text", "text": out[-1]["text"] + b["text"]}
        else:
            out.append(b)
    return out[0]["text"] if len(out) == 1 and isinstance(out[0], dict) and out[0].keys() == {"type", "text"} else out


def handoff(pages):
    """The texts of a handoff with so many pages."""
    texts = paged([f"User: part {i}. {LONG}\n1. Read harbour.py" for i in range(pages)], recall="clew recall REF")
    closing = closing_text(Sections({"Goal": f"after {pages}"}), banner=not pages)
    assert not pages or f"## {ACTIONS}" in texts[0]
    return [*texts, closing]


def compacted(wire, pages, tail):
    """A view after an epoch, as the engine assembles it, and the span of its handoff."""
    from clew.assemble import assemble

    w = get(wire)
    head = [] if wire == "anthropic" else [w.message({"role": "system", "content": "Be brief. " + LONG})]
    made = assemble(w, head, handoff(pages), [w.message(m) for m in tail], alternates=wire == "anthropic")
    values = [m.value for m in made.messages]
    request = anthropic(values) if wire == "anthropic" else chat(values, system=None)
    return request, Span(len(head), len(head) + pages + 1)
