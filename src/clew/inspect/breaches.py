"""What providers would refuse in the file's conversations, judged on what was sent: compactions begin a new view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from clew.catalog import Model
from clew.inspect.gather import Chain, Shrunk
from clew.inspect.light import light
from clew.inspect.values import Breach
from clew.transcript import Message, Text
from clew.wire.problems import problems

_SHOWN = 200
CLAUDE_CODE = "claude-code"
_LOGS = frozenset({CLAUDE_CODE, "codex"})  # they end wherever the agent was stopped


def breaches(
    chains: Iterable[Chain], file_format: str, model: Model | None
) -> tuple[tuple[Breach, ...], tuple[tuple[str, int], ...]]:
    """The first two hundred, and how many there are of each code."""
    shown: list[Breach] = []
    counts: Counter[str] = Counter()
    for chain in chains:
        for found in _of_chain(chain, file_format, model):
            counts[found.code] += 1
            if len(shown) < _SHOWN:
                shown.append(found)
    return tuple(shown), tuple(sorted(counts.items(), key=lambda c: (-c[1], c[0])))


def _of_chain(chain: Chain, file_format: str, model: Model | None) -> Iterator[Breach]:
    if not chain.messages:
        return
    told: set[tuple[int, int | None, str]] = set()
    views = [_sent(*view) if file_format == CLAUDE_CODE else view for view in _views(chain)]
    for n, (positions, messages) in enumerate(views):
        final = n + 1 == len(views) and file_format not in _LOGS
        for p in problems(messages, messages[0].wire, model=model, final=final):
            at = positions[p.place]
            key = (at, p.part, p.code)
            if key not in told:  # what a compaction kept is in two views
                told.add(key)
                yield Breach(p.code, p.sentence, at, chain.lines[at] if 0 <= at < len(chain.lines) else 0, chain.name)


def _sent(positions: Sequence[int], messages: Sequence[Message]) -> tuple[list[int], list[Message]]:
    """Without the blank texts that Claude Code writes down as they come and leaves out when it sends them back."""
    kept_at, kept = [], []
    for at, m in zip(positions, messages, strict=True):
        parts = tuple(p for p in m.parts if not (isinstance(p, Text) and not p.text.strip()))
        if m.role != "assistant" or len(parts) == len(m.parts):
            kept_at.append(at)
            kept.append(m)
        elif parts:
            kept_at.append(at)
            kept.append(replace(m, parts=parts))
    return kept_at, kept


def _views(chain: Chain) -> Iterator[tuple[Sequence[int], Sequence[Message]]]:
    """What was sent between one compaction and the next: positions and messages."""
    start = 0
    positions: list[int] = []
    shown: list[Message] = []
    for event in chain.events:
        if not isinstance(event, Shrunk) or event.seen.kind == "microcompact":
            continue  # that one clears old results in place
        seen = event.seen
        end = min(seen.position, len(chain.messages))
        before = [*positions, *range(start, end)]
        if before:
            yield before, [*shown, *chain.messages[start:end]]
        kept = [p for p in seen.kept if p < end]
        positions = [*kept, *([seen.position] * len(seen.replacement))]
        shown = [*(chain.messages[p] for p in kept), *map(light, seen.replacement)]
        start = end
    if start < len(chain.messages) or (positions and start == 0):
        yield [*positions, *range(start, len(chain.messages))], [*shown, *chain.messages[start:]]
