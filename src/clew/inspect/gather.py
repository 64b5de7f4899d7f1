"""One pass over a session file. What is kept of a message is a few words a part: its size, place and label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from clew.catalog import Model
from clew.inspect.label import UNKNOWN, Label, label
from clew.inspect.light import light
from clew.inspect.secrets import Watch
from clew.inspect.values import Kind
from clew.jsonio import Json
from clew.tokens import Counter
from clew.transcript import Message, Part, Reasoning, ToolCall, ToolResult, text_address
from clew.wire.files import Compaction, Head, LeftOut, Record, Report, Said

_BASE = -1  # the position of what stands before all messages


@dataclass(slots=True)
class Entry:
    """One part of one message. `sent` and `requests` are filled in once the requests are known."""

    position: int
    part: int
    kind: Kind
    tokens: int
    line: int
    label: Label = UNKNOWN
    content: str = ""  # the address of a result's text
    turn: bool = False  # the user speaks here
    sent: float = 0.0
    requests: int = 0
    first: int = 0  # the first request that carried it


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A compaction, with its replacement as entries."""

    seen: Compaction
    entries: tuple[Entry, ...]


@dataclass(slots=True)
class Chain:
    """A conversation of the file, while it is gathered."""

    name: str
    entries: list[Entry] = field(default_factory=list)
    events: list[Report | Shrunk] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)  # light ones
    lines: list[int] = field(default_factory=list)
    times: list[float | None] = field(default_factory=list)
    calls: dict[str, Label] = field(default_factory=dict)


@dataclass(slots=True)
class Gathered:
    """All that is kept of a file."""

    head: Head
    chains: dict[str, Chain]
    left_out: list[str]
    watch: Watch


def gather(head: Head, records: Iterator[Record], model: Model) -> Gathered:
    """The rest of the records, after the head."""
    taken = _Gathering(head, Counter.of(model))
    for record in records:
        match record:
            case Said(message, chain):
                taken.said(message, chain)
            case Report():
                taken.chain(record.chain).events.append(record)
            case Compaction():
                taken.compaction(record)
            case LeftOut(sentence):
                taken.found.left_out.append(sentence)
            case Head():
                pass
    return taken.found


def seconds(stamp: Json) -> float | None:
    """A time as a number; None where it is none."""
    if isinstance(stamp, (int, float)) and not isinstance(stamp, bool):
        return float(stamp) / (1000 if stamp > 1e11 else 1)
    if not isinstance(stamp, str):
        return None
    try:
        when = datetime.fromisoformat(stamp)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


class _Gathering:
    def __init__(self, head: Head, counter: Counter) -> None:
        self.found = Gathered(head, {}, [], Watch())
        self._counter = counter

    def chain(self, name: str) -> Chain:
        chain = self.found.chains.get(name)
        if chain is None:
            chain = self.found.chains[name] = Chain(name)
            if name == "":
                self._base(chain)
        return chain

    def _base(self, chain: Chain) -> None:
        """System prompt and tools, where they stand apart from the messages."""
        head = self.found.head
        sizes: tuple[tuple[Kind, int], ...] = (
            ("system", self._counter.system(head.system)),
            ("tools", self._counter.tools(head.tools)),
        )
        for i, (kind, tokens) in enumerate(sizes):
            if tokens:
                chain.entries.append(Entry(_BASE, i, kind, tokens, 0))
        for text in _words(head.system):
            self.found.watch.look(text, "system prompt", 0)

    def said(self, message: Message, name: str) -> None:
        chain = self.chain(name)
        line = message.meta.get("line")
        line = line if isinstance(line, int) else 0
        chain.entries += self._entries(chain, message, len(chain.messages), line)
        chain.messages.append(light(message))
        chain.lines.append(line)
        chain.times.append(seconds(message.meta.get("timestamp")))

    def compaction(self, seen: Compaction) -> None:
        chain = self.chain(seen.chain)
        entries = [e for m in seen.replacement for e in self._entries(chain, m, seen.position, seen.line, shown=True)]
        chain.events.append(Shrunk(seen, tuple(entries)))

    def _entries(
        self, chain: Chain, message: Message, position: int, line: int, *, shown: bool = False
    ) -> Iterator[Entry]:
        sizes = self._counter.parts(message)
        turn = message.is_user_turn
        summary = bool(message.meta.get("compact_summary")) or (shown and message.role != "user")
        for i, (part, tokens) in enumerate(zip(message.parts, sizes, strict=True)):
            entry = Entry(position, i, _kind(message, part, summary=summary), tokens, line, turn=turn)
            if isinstance(part, ToolCall):
                entry.label = chain.calls[part.id] = label(part, self.found.head.cwd)
            elif isinstance(part, ToolResult):
                entry.label = chain.calls.get(part.call_id, UNKNOWN)
                entry.content = text_address(part.text) if part.text else ""
            if not shown:
                self.found.watch.part(part, entry.label, entry.kind, line)
            yield entry


def _kind(message: Message, part: Part, *, summary: bool) -> Kind:
    if isinstance(part, ToolCall):
        return "call"
    if isinstance(part, ToolResult):
        return "result"
    if isinstance(part, Reasoning):
        return "reasoning"
    if summary:
        return "summary"
    match message.role:
        case "system" | "developer":
            return "system"
        case "assistant":
            return "assistant"
        case "tool":
            return "result"
        case _:
            return "user"


def _words(system: Json) -> Iterator[str]:
    for block in system if isinstance(system, list) else [system]:
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str):
            yield text
