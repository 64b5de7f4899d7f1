"""How well and how fast Clew counts: `python bench/tokens.py [BENCH_DIR]` prints what `docs/reference/tokens.md` states.

growth   what was added between two successive requests, counted, against what the provider's usage says; every report
         corrects the counter that made the next count. Left out: growth with pictures, attachments or injected context
         that the file doesn't hold as it was sent (what the user says, plans, tools that are loaded), compactions.
rough    the estimate against the exact count, by kind of text
speed    exact, rough and body
"""

from __future__ import annotations

import base64
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from clew import wire
from clew.catalog import lookup
from clew.tokens import Counter, count_text, encoding, rough_body, rough_text
from clew.transcript import Message

BENCH = Path(os.environ.get("CLEW_BENCH_DIR", Path(__file__).resolve().parents[2] / "shared" / "bench"))


@dataclass
class Step:
    """What one reply and the results that followed it added to the next request."""

    model: str
    total: int
    reasoning: int | None = None  # tokens of thought, where the file says so but hides them
    added: list[Message] = field(default_factory=list)
    unseen: bool = False
    replied: bool = False


def claude_code(lines: list[dict]) -> Iterator[list[Step]]:
    """The steps of a Claude Code file's main chain."""
    anthropic, steps, current = wire.get("anthropic"), [], None
    for line in lines:
        kind, message = line.get("type"), line.get("message")
        if line.get("isSidechain"):
            continue
        if kind == "assistant" and message["model"] != "<synthetic>":
            if current is None or current != message["id"]:
                u = message["usage"]
                total = (
                    u["input_tokens"] + u.get("cache_creation_input_tokens", 0) + u.get("cache_read_input_tokens", 0)
                )
                steps.append(Step(message["model"], total))
                current = message["id"]
            steps[-1].added.append(anthropic.message({"role": "assistant", "content": message["content"]}))
            # The client writes the plan into the file's call and loads tools beside the conversation.
            steps[-1].unseen |= any(b.get("name") in ("ExitPlanMode", "ToolSearch") for b in message["content"])
        elif steps and kind == "user":
            steps[-1].added.append(anthropic.message(message))
            steps[-1].unseen |= not isinstance(message["content"], list) or any(
                b["type"] != "tool_result" for b in message["content"]
            )
        elif steps and (kind == "attachment" or line.get("subtype") == "compact_boundary"):
            steps[-1].unseen = True
    yield steps


def codex(lines: list[dict]) -> Iterator[list[Step]]:
    """The steps of a Codex rollout, one list for each stretch without a compaction."""
    responses, steps, model, fed = wire.get("openai-responses"), [], "gpt-5", True
    for line in lines:
        payload = line.get("payload") or {}
        kind = payload.get("type")
        if line["type"] == "turn_context":
            model = payload.get("model", model)
        elif line["type"] == "compacted" or kind == "turn_aborted":
            yield steps
            steps, fed = [], True
        elif kind == "token_count" and payload.get("info") and steps:
            u = payload["info"]["last_token_usage"]
            if not steps[-1].total:
                steps[-1].total, steps[-1].reasoning = u["input_tokens"], u["reasoning_output_tokens"]
        elif line["type"] == "response_item":
            output = kind in ("reasoning", "function_call", "custom_tool_call", "web_search_call") or (
                kind == "message" and payload["role"] == "assistant"
            )
            if output and fed:
                steps.append(Step(model, 0))
            fed = not output
            if not steps:
                continue
            if kind == "reasoning":
                continue  # its encrypted content was removed from the files: `reasoning` stands for it
            steps[-1].added.append(responses.message(payload))
            steps[-1].unseen |= kind == "web_search_call" or (kind == "message" and payload["role"] != "assistant")
    yield steps


def errors(path: Path, unknown: bool = False) -> tuple[str, list[tuple[float, float, int]], Counter]:
    """The model, and for each growth its relative error uncorrected and corrected, and its size.

    `unknown` counts as if nothing were known of the model.
    """
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    stretches = list(codex(lines) if any(x["type"] == "session_meta" for x in lines) else claude_code(lines))
    model = next(s.model for steps in stretches for s in steps)
    first = learned = Counter.of(lookup(model))
    if unknown:
        first = learned = Counter("other", reasoning=first.reasoning)
    out = []
    for steps in stretches:
        for step, following in pairwise(steps):
            grown = following.total - step.total
            pictures = any(b'"image' in m.raw for m in step.added)
            if step.unseen or pictures or grown <= 0 or not step.total or not following.total:
                continue
            # A reply arrives in several lines: its frame is paid once.
            frames = first.family.message * sum(m.role == "assistant" for m in step.added[1:])
            if step.reasoning is not None:
                frames = -(step.reasoning if first.reasoning != "none" else 0)
            plain = sum(map(first.message, step.added)) - frames
            fixed = sum(map(learned.message, step.added)) - frames
            out.append((plain / grown - 1, fixed / grown - 1, grown))
            learned = learned.report(fixed, grown)
    return model, out, learned


def at(values: list[float], share: float) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]


def growth(bench: Path) -> None:
    print(f"{'file':32}{'model':18}{'n':>4}  uncorrected: p50, p95, sum   corrected: p50, p95, sum   ratio")
    every: list[tuple[float, float, int]] = []
    blind: list[tuple[float, float, int]] = []
    for path in sorted((bench / "native").glob("*.jsonl")):
        model, found, learned = errors(path)
        every += found
        blind += errors(path, unknown=True)[1]
        print(f"{path.stem:32}{model:18}{len(found):4}  {_row(found)}   {learned.ratio:.3f}")
    print(f"{'all':50}{len(every):4}  {_row(every)}")
    print(f"{'all, as models nobody listed':50}{len(blind):4}  {_row(blind)}")
    large = [e for e in every if e[2] >= 1000]
    print(f"{'growth of 1,000 tokens and more':50}{len(large):4}  {_row(large)}")


def _row(found: list[tuple[float, float, int]]) -> str:
    grown = sum(n for *_, n in found)
    cells = []
    for i in (0, 1):
        off = [abs(e[i]) for e in found]
        total = sum(e[i] * e[2] for e in found) / grown
        cells.append(f"{at(off, 0.5):8.1%} {at(off, 0.95):8.1%} {total:+7.1%}")
    return "   ".join(cells)


CHINESE = "编译器把源代码翻译成机器码，并在此过程中执行许多优化。今天天气很好，我们去公园散步吧。配置文件中的端口必须改为八千零八十。"
RUSSIAN = "Компилятор переводит исходный код в машинный код и выполняет множество оптимизаций. Сегодня хорошая погода. "
ENGLISH = "The compiler turns source code into machine code and carries out many optimisations along the way. "


def kinds(seed: int = 5) -> dict[str, str]:
    """Texts of every kind, none of them what the weights were fitted on but for the prose."""
    r = random.Random(seed)
    here = Path(__file__).resolve().parents[1] / "src" / "clew"
    python = "\n".join(p.read_text(encoding="utf-8") for p in sorted(here.rglob("*.py"))[:40])
    rows = [
        {"id": r.randrange(10**6), "name": f"user{i}", "ok": bool(i % 2), "score": r.random(), "tags": ["a", "b"]}
        for i in range(400)
    ]
    log = "\n".join(
        f"2026-11-18T21:{i // 60 % 60:02}:{i % 60:02}.{r.randrange(1000):03}Z INFO [worker-{r.randrange(16)}] request "
        f"id={r.getrandbits(64):x} status={r.choice((200, 404))} path=/api/v1/users/{r.randrange(9999)} took={r.random():.3f}"
        for i in range(400)
    )
    return {
        "English": ENGLISH * 200,
        "Python": python,
        "JSON": json.dumps(rows),
        "JSON, indented": json.dumps(rows, indent=2),
        "logs": log,
        "Chinese": CHINESE * 100,
        "Russian": RUSSIAN * 100,
        "base64": base64.b64encode(r.randbytes(30_000)).decode(),
        "hex": r.randbytes(15_000).hex(),
        "escapes in JSON": json.dumps(python),
        r"\u escapes": json.dumps(CHINESE * 50),
        "minified": python.replace("\n", ";").replace("    ", "").replace(" = ", "=").replace(", ", ","),
        "digits": "".join(r.choice("0123456789") for _ in range(20_000)),
        "rules": ("-" * 80 + "\n" + "=" * 60 + "\n") * 50,
        "random letters": "".join(r.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(20_000)),
        "random punctuation": "".join(r.choice("!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~") for _ in range(20_000)),
    }


def rough(bench: Path) -> str:
    print(f"\n{'kind of text':24}{'rough / exact':>14}{'chars/4 / exact':>17}")
    for name, text in kinds().items():
        exact = count_text(text)
        print(f"{name:24}{rough_text(text) / exact:14.2f}{len(text) / 4 / exact:17.2f}")
    texts = [t for t in _session_texts(bench) if len(t) >= 200]
    ratios = [rough_text(t) / count_text(t) for t in texts]
    print(
        f"session texts: {len(texts)}; p5 {at(ratios, 0.05):.2f}, p50 {at(ratios, 0.5):.2f}, p95 {at(ratios, 0.95):.2f}, "
        f"lowest {min(ratios):.2f}, highest {max(ratios):.2f}"
    )
    return "\n\n".join(texts)


def _session_texts(bench: Path) -> Iterator[str]:
    for path in sorted((bench / "sessions").glob("*.json")):
        for value in json.loads(path.read_bytes())["messages"]:
            message = wire.get("openai-chat").message(value)
            yield message.text
            yield from (c.arguments for c in message.calls)


def body(bench: Path) -> None:
    counter, off = Counter("gpt-o200k"), []
    chat = wire.get("openai-chat")
    for path in sorted((bench / "sessions").glob("*.json")):
        session = json.loads(path.read_bytes())
        messages = session["messages"]
        exact = counter.messages([chat.message(m) for m in messages]) + counter.tools(session.get("tools") or [])
        sent = json.dumps({"model": "m", "messages": messages, "tools": session.get("tools") or []}).encode()
        off.append(rough_body(sent) / exact)
    print(
        f"whole bodies: {len(off)}; lowest {min(off):.2f}, median {statistics.median(off):.2f}, highest {max(off):.2f}"
    )


def best(run: Callable[[], object], times: int = 3) -> float:
    took = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return min(took)


def speed(text: str) -> None:
    mb = len(text.encode()) / 1e6
    exact, quick = best(lambda: count_text(text)), best(lambda: rough_text(text))
    sent = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    whole = best(lambda: rough_body(sent))
    small = text[:200_000]
    print(f"\nup to 256 KB weighed whole: {len(small.encode()) / 1e6 / best(lambda: rough_text(small), 20):.0f} MB/s")
    print(
        f"exact {count_text(text) / exact / 1e6:.1f} Mtok/s ({mb / exact:.0f} MB/s); rough {mb / quick:.0f} MB/s, "
        f"{exact / quick:.1f} times as fast; body {len(sent) / 1e6 / whole:.0f} MB/s"
    )


def main() -> None:
    bench = Path(sys.argv[1]) if len(sys.argv) > 1 else BENCH
    for name in ("o200k_base", "cl100k_base"):
        start = time.perf_counter()
        encoding(name)
        print(f"{name}: loaded in {time.perf_counter() - start:.2f} s")
    if not (bench / "sessions").is_dir():
        print(f"left out: the rest, no bench sessions at {bench} (set CLEW_BENCH_DIR)")
        return
    growth(bench)
    text = rough(bench)
    body(bench)
    speed(text)


if __name__ == "__main__":
    main()
