"""How far is the cache model from what providers reported?

    python bench/cache_model.py [FOLDER]      (default: $CLEW_BENCH_DIR/native or ../shared/bench/native)

Claude Code and Codex write the usage of every request into their session files. This replays the growth of those
requests through `clew.economics` and compares the share of the input that the model expects to be read from the cache
with the share that was billed as read. Sizes come from the reported totals, so that the rules are tested and not the
token counter. The reader here knows only what this needs.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from clew.catalog import Model, lookup
from clew.economics import Bill, Block, CacheState, Request, Ttl, bill, price

ROOT = Path(__file__).resolve().parents[1]
NATIVE = Path(os.environ.get("CLEW_BENCH_DIR", ROOT.parent / "shared" / "bench")) / "native"
BASE = "tools and system"


@dataclass
class Sent:
    """One recorded request: the keys of its blocks, when, to whom, and what was billed."""

    keys: list[str]
    at: float
    model: str
    tokens: int
    read: int
    written: dict[Ttl, int]
    output: int
    reasoning: int = 0
    life: Ttl = "5m"


@dataclass
class Session:
    name: str
    sent: list[Sent] = field(default_factory=list)
    weight: dict[str, float] = field(default_factory=dict)  # characters of each block
    size: dict[str, int] = field(default_factory=dict)  # tokens where a report says them: reasoning and other output


def lines(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as f:
        for line in f:
            yield json.loads(line)


def seconds(line: dict) -> float:
    return datetime.fromisoformat(line["timestamp"]).timestamp()


def claude_code(path: Path) -> Session:
    """One request for each assistant message id; its blocks are the lines above it in the `parentUuid` tree."""
    session, parent, shown, known = Session(path.stem), {}, {}, set()
    for line in lines(path):
        uuid = line.get("uuid")
        if not uuid:
            continue
        parent[uuid] = line.get("parentUuid")
        shown[uuid] = line.get("type") in {"user", "assistant", "attachment"}
        session.weight[uuid] = len(json.dumps(line.get("message", line.get("attachment")))) if shown[uuid] else 0
        message = line.get("message") or {}
        usage = message.get("usage")
        if line.get("type") != "assistant" or not usage or message["id"] in known or message["model"] == "<synthetic>":
            continue
        known.add(message["id"])
        keys, at = [], line.get("parentUuid")
        while at is not None:
            if shown.get(at):
                keys.append(at)
            at = parent.get(at)
        made = usage.get("cache_creation") or {}
        read, wrote = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        hour = made.get("ephemeral_1h_input_tokens", 0)
        session.sent.append(
            Sent(
                [BASE, *reversed(keys)], seconds(line), message["model"], usage["input_tokens"] + read + wrote, read,
                {"5m": wrote - hour, "1h": hour}, usage["output_tokens"], life="1h" if hour else "5m",
            )
        )  # fmt: skip
    return session


def codex(path: Path) -> Session:
    """One request for each new `token_count`; its blocks are the items before the response that it closes.

    Reasoning of earlier turns leaves the prompt when the user speaks again.
    """
    session, keys, own, later, model, total, n = Session(path.stem), [BASE], [], [], "", None, 0
    for line in lines(path):
        body = line.get("payload") or {}
        kind = body.get("type")
        if line["type"] == "turn_context":
            model = body.get("model") or model
        elif line["type"] == "compacted":
            keys, own, later = [BASE, f"compaction {n}"], [], []
            session.weight[keys[1]] = len(json.dumps(body))
        elif line["type"] == "response_item":
            n += 1
            key = f"{'reasoning' if kind == 'reasoning' else 'item'} {n}"
            session.weight[key] = len(json.dumps(body))
            written = kind in {"reasoning", "function_call", "custom_tool_call", "web_search_call"}
            if written or body.get("role") == "assistant":
                own.append(key)
            elif own:
                later.append(key)
            else:
                keys.append(key)
            if body.get("role") == "user":
                keys = [k for k in keys if not k.startswith("reasoning")]
        elif kind == "token_count" and body.get("info") and body["info"]["total_token_usage"] != total:
            total, usage = body["info"]["total_token_usage"], body["info"]["last_token_usage"]
            session.sent.append(
                Sent(
                    list(keys), seconds(line), model, usage["input_tokens"], usage["cached_input_tokens"], {},
                    usage["output_tokens"], usage["reasoning_output_tokens"],
                )
            )  # fmt: skip
            thought = [k for k in own if k.startswith("reasoning")]
            said = [k for k in own if k not in thought]
            share(session, thought, usage["reasoning_output_tokens"])
            share(session, said, usage["output_tokens"] - usage["reasoning_output_tokens"])
            keys, own, later = [*keys, *own, *later], [], []
    return session


def share(session: Session, keys: list[str], tokens: int) -> None:
    """Divide tokens among blocks by their length, to the last token."""
    left, weight = max(0, tokens), sum(session.weight[k] for k in keys)
    for key in keys:
        session.size[key] = round(left * session.weight[key] / weight) if weight else 0
        left, weight = left - session.size[key], weight - session.weight[key]


def requests(session: Session) -> Iterator[tuple[Sent, Request]]:
    """Each request with the sizes that make the reported totals come out, cache marks as Claude Code sets them."""
    for sent in session.sent:
        if BASE not in session.size:
            first = sum(session.weight[k] for k in sent.keys[1:]) // 4
            session.size[BASE] = max(sent.tokens // 4, sent.tokens - first)
        new = [k for k in sent.keys if k not in session.size]
        share(session, new, sent.tokens - sum(session.size.get(k, 0) for k in sent.keys))
        blocks = [Block(k, session.size[k]) for k in sent.keys]
        over = sum(b.tokens for b in blocks) - sent.tokens
        while over > 0:  # something left the prompt that the file doesn't name: taken from the end
            last = blocks.pop()
            cut = min(over, last.tokens)
            over -= cut
            if last.tokens > cut:
                blocks.append(Block(f"{last.key} shortened", last.tokens - cut))
        if over < 0:
            blocks.append(Block(f"unnamed {sent.at}", -over))
        request = Request.of(blocks)
        yield sent, request.marked([(0, sent.life), (len(blocks) - 1, sent.life)] if len(blocks) > 1 else [])


@dataclass
class Compared:
    sent: Sent
    expected: Bill
    reported: Bill

    @property
    def error(self) -> float:
        """Expected minus reported read share."""
        return (self.expected.read - self.sent.read) / max(1, self.sent.tokens)


def compare(session: Session) -> list[Compared]:
    state, out = CacheState(), []
    for sent, request in requests(session):
        model: Model = lookup(sent.model)
        state, expected = price(state, request, model, sent.at, sent.output)
        said = bill(
            model,
            sent.tokens,
            sent.read,
            sent.written.get("5m", 0),
            sent.written.get("1h", 0),
            sent.output,
            expected.why,
        )
        out.append(Compared(sent, expected, said))
    return out


def is_codex(path: Path) -> bool:
    with path.open(encoding="utf-8") as f:
        return '"session_meta"' in f.readline()


def replayed(path: Path) -> list[Compared]:
    return compare(codex(path) if is_codex(path) else claude_code(path))


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(q * (len(ordered) - 1)))] if ordered else 0.0


def row(name: str, found: list[Compared]) -> str:
    tokens = sum(c.sent.tokens for c in found) or 1
    read, expected = sum(c.sent.read for c in found) / tokens, sum(c.expected.read for c in found) / tokens
    errors = [abs(c.error) for c in found]
    paid, foreseen = sum(c.reported.input_cost for c in found), sum(c.expected.input_cost for c in found)
    return (
        f"{name:34} {len(found):5} {read:8.1%} {expected:9.1%} {quantile(errors, 0.5):8.2%} {quantile(errors, 0.95):8.2%}"
        f" {foreseen / paid - 1 if paid else 0:+8.1%}"
    )


def misses(found: list[list[Compared]]) -> str:
    """A miss: over 5 points of the input were billed again although the request before had sent them."""
    real = seen = false = 0
    for session in found:
        for before, now in pairwise(session):
            could = min(before.sent.tokens, now.sent.tokens)
            missed = could - now.sent.read > 0.05 * now.sent.tokens
            said = could - now.expected.read > 0.05 * now.sent.tokens
            real, seen, false = real + missed, seen + (missed and said), false + (said and not missed)
    return f"{real} misses, {seen} of them expected; {false} expected that didn't come"


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else NATIVE
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        print(f"left out: no session files in {folder}")
        return 1
    print(f"{'session':34} {'requ.':>5} {'read':>8} {'expected':>9} {'p50 err':>8} {'p95 err':>8} {'cost':>8}")
    kinds: dict[str, list[Compared]] = {}
    sessions: dict[str, list[list[Compared]]] = {}
    for path in files:
        kind, found = "Codex" if is_codex(path) else "Claude Code", replayed(path)
        kinds.setdefault(kind, []).extend(found)
        sessions.setdefault(kind, []).append(found)
        kinds.setdefault(f"{kind}, without first requests", []).extend(found[1:])
        print(row(path.stem, found))
    print()
    for kind, found in sorted(kinds.items()):
        print(row(kind, found))
    print()
    for kind, found in sorted(sessions.items()):
        print(f"{kind}: {misses(found)}")
    print("\nwhere the model is off by more than 5 points of read share:")
    for kind in ("Claude Code", "Codex"):
        off = Counter(
            (c.expected.why.reason, "read less" if c.error > 0 else "read more")
            for c in kinds.get(kind, [])
            if abs(c.error) > 0.05
        )
        for (reason, sign), n in off.most_common():
            print(f"  {kind:12} {n:4} requests {sign} than expected; the model said: {reason}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
