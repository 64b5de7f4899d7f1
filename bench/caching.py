"""What cache marks save, and where they stand: `python -m bench.caching`.

The generated session through a window of 24,000 tokens, on both wires, billed by the cache model: the weight of all input
in tokens of uncached input, over that input. No network, no key; the same figures everywhere.

`python -m bench.caching --gateway` sends real sessions ($CLEW_BENCH_DIR/sessions or ../shared/bench/sessions) through the real
gateway, request by request over HTTP, to an upstream with a simulated provider cache, in a window of 64,000 tokens. It adds up
what a request had sent, the next one sent again, and was billed in full for: it should be nothing, but at an epoch.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from clew import Context
from clew.caching import mark, sent
from clew.catalog import Model, lookup
from clew.config import from_mapping
from clew.economics import CacheState, price
from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing.session import generate
from clew.testing.upstream import Reply, Say, Upstream, running
from clew.transcript import Message
from clew.wire import Request, get
from clew.wire.convert import convert

MODEL = lookup("claude-sonnet-4-6")
OPENROUTER = "https://openrouter.ai/api/v1"
WAYS = ("no marks", "system and the last three", "system, the last page and the last two")


ROOT = Path(__file__).resolve().parents[1]
SESSIONS = Path(os.environ.get("CLEW_BENCH_DIR", ROOT.parent / "shared" / "bench")) / "sessions"
WINDOW = 64_000
PATHS = {"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions"}
# Whose cache is simulated: the name the upstream goes by, the wire, the model.
PROVIDERS = [
    ("anthropic", "anthropic", "claude-sonnet-4-6"),
    ("openrouter", "openai-chat", "anthropic/claude-sonnet-4.6"),
    ("openai", "openai-chat", "gpt-5"),
]


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--gateway", action="store_true")
    given.add_argument("--most", type=int, default=1_000, help="requests of a session")
    given.add_argument("--only", default="", help=f"one of {', '.join(p[0] for p in PROVIDERS)}")
    args = given.parse_args()
    if args.gateway:
        through_gateway(args.most, args.only)
        return
    for wire in ("anthropic", "openai-chat"):
        for way in WAYS:
            share, epochs = played(wire, way)
            print(f"{wire:12} {way:40} {share:.3f} of the input's price ({epochs} epochs)")


def through_gateway(most: int, only: str) -> None:
    files = sorted(SESSIONS.glob("*.json"))
    print(f"{len(files)} sessions; tokens, as the simulated provider counts them")
    for name, wire, model in PROVIDERS:
        if only not in ("", name):
            continue
        sums: Counter[str] = Counter()
        for file in files:
            sums += Counter(sent_through(json.loads(file.read_text()), name, wire, model, most))
        prompt = sums["read"] + sums["written"] + sums["uncached"]
        print(
            f"{name:10} {sums['requests']:5} requests, {sums['refused']} refused, {sums['epochs']:4} epochs; "
            f"{prompt / 1e6:6.1f}M sent: {sums['read'] / prompt:.1%} read, {sums['written'] / prompt:.1%} written, "
            f"{sums['uncached'] / prompt:.1%} uncached; sent before and billed in full: {sums['again']} between epochs "
            f"(in {sums['pairs']} requests), {sums['at epochs']} at {sums['breaks']} epochs",
            flush=True,
        )


def sent_through(session: dict, name: str, wire: str, model: str, most: int) -> dict[str, int]:
    """One session through a gateway of its own."""
    known = lookup(model)
    with running(Upstream(lambda _: Reply((Say("ok"),)), window=WINDOW)) as up:
        made = {"serve": {"port": 0, "upstreams": {name: up.url}}, "models": {model: {"window": WINDOW}}}
        with running(Serving(from_mapping(made).settings, open_store("memory:"))) as gateway:
            place = urlsplit(gateway.url)
            line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=300)
            headers = {"content-type": "application/json", "x-clew-session": "one", "authorization": "Bearer bench"}
            headers |= {"x-api-key": "bench", "anthropic-version": "2023-06-01"} if wire == "anthropic" else {}
            for raw in itertools.islice(requests(session["messages"], wire, model), most):
                line.request("POST", PATHS[wire], raw, headers)
                got = line.getresponse()
                answer = got.read()
                if got.status != 200:
                    raise SystemExit(f"{session['id']}: {got.status} {answer[:300]!r}")
            line.close()
            epochs = gateway.gateway.counts.all().get("epochs", 0)
        return counted(up, known) | {"epochs": epochs, "refused": len(up.refused)}


def requests(messages: list, wire: str, model: str) -> Iterator[bytes]:
    """The bodies that an agent sent: all before each turn of the model's."""
    lead = next((i for i, m in enumerate(messages) if m["role"] not in ("system", "developer")), 0)
    # A system message in the middle is refused by these providers; whoever recorded it spoke to another.
    log = [_filled(m | {"role": "user"} if m["role"] == "system" else m) for m in messages[lead:]]
    head: dict = {"model": model}
    if wire == "anthropic":
        system = "\n".join(
            m.text for m in get("openai-chat").request({"model": "m", "messages": messages[:lead]}).messages
        )
        read = get("openai-chat").request({"model": "m", "messages": log}).messages
        log = [m.value for m in convert(read, "openai-chat", "anthropic").messages]
        head |= {"max_tokens": 1_000} | ({"system": system} if system else {})
    else:
        log = messages[:lead] + log
    for n, message in enumerate(log):
        if message["role"] == "assistant" and n and log[n - 1]["role"] != "assistant":
            yield json.dumps(head | {"messages": log[:n]}).encode()


def _filled(message: dict) -> dict:
    """Without empty texts, which are refused as well."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return message | {"content": [b for b in content if b.get("type") != "text" or b["text"].strip()]}


def counted(up: Upstream, model: Model) -> dict[str, int]:
    """What was billed how, and how much of it had been sent by the request before."""
    done = [(a.request.messages, r.usage) for a, r in zip(up.asks, (r for r in up.records if r.usage), strict=True)]
    out = Counter({"requests": len(done)})
    known: dict[bytes, str] = {}

    def keys(messages: Sequence[Message]) -> list[str]:
        return [known.get(m.raw) or known.setdefault(m.raw, key(m)) for m in messages]

    for _, usage in done:
        out.update(read=usage.read, written=usage.written_5m, uncached=usage.uncached)
    for (before, paid), (now, usage) in itertools.pairwise(done):
        # What the provider could have kept: of its smallest size, in its steps.
        kept = paid.prompt // model.cache.step * model.cache.step if paid.prompt >= model.cache.minimum else 0
        same = len(now) >= len(before) and keys(now[: len(before)]) == keys(before)
        if same:
            out.update(again=max(0, kept - usage.read), pairs=1)
        else:
            out.update({"at epochs": max(0, min(kept, usage.prompt) - usage.read), "breaks": 1})
    return out


def key(message: Message) -> str:
    """The same for messages that are the same to a provider's cache: without marks, a lone text as such."""
    value = get(message.wire).message(message.value).value
    content = value.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    bare = [{k: v for k, v in b.items() if k != "cache_control"} if isinstance(b, dict) else b for b in blocks or ()]
    return json.dumps({**value, "content": bare}, sort_keys=True)


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
