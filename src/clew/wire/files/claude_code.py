"""Claude Code's session files: JSON lines that span a tree, one content block a line for what the model said.

Read in two passes, so that memory holds a few words a line and not the lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from clew import wire
from clew.errors import InputError
from clew.jsonio import Json
from clew.transcript import Message
from clew.wire import usage
from clew.wire.files.base import (
    MAIN,
    Aside,
    Compaction,
    Head,
    Record,
    Report,
    Said,
    head_of,
    mapping,
    sequence,
    speak,
    text,
)
from clew.wire.files.claude_tree import Node, active, chains
from clew.wire.files.source import Line, Source, lenient

FORMAT = "claude-code"
WIRE = "anthropic"
_SYNTHETIC = "<synthetic>"  # what Claude Code names as the model of lines it wrote itself
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}


def looks_like(value: Json) -> bool:
    """Whether a line is one of Claude Code's."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    if value["type"] in {"user", "assistant", "system", "progress", "attachment"}:
        return "uuid" in value and ("sessionId" in value or "parentUuid" in value)
    if value["type"] == "file-history-snapshot":
        return "messageId" in value
    return "sessionId" in value or (value["type"] == "summary" and "leafUuid" in value)


def records(source: Source) -> Iterator[Record]:
    """Its head, then the main conversation, then its side chains, then what was left out."""
    index = _Index(source.aside)
    for line, value in source.values(noted=True, rough=True):
        index.take(line, value)
    nodes = index.main
    sides = index.sides
    if not any(n.spoken for n in nodes) and sides:  # a sub-agent's own file: its chain is the conversation
        nodes, sides = sides, []
    if not any(n.spoken for n in (*nodes, *sides)):
        raise InputError(f"{source.path}: no message in it", hint="was the file cut off at its start?")
    yield index.head()
    yield from _Chain(source, MAIN, nodes).records()
    for name, members in chains(sides).items():
        yield from _Chain(source, name, members).records()
    index.say()
    yield from source.aside.records()


class _Index:
    """The first pass: a node for each line of the tree, what the file says about itself, and counts of the rest."""

    def __init__(self, aside: Aside) -> None:
        self.main: list[Node] = []
        self.sides: list[Node] = []
        self._aside = aside
        self._seen: set[str] = set()
        self._facts: dict[str, str] = {}
        self._kinds: Counter[str] = Counter()

    def take(self, line: Line, value: Json) -> None:
        if not isinstance(value, dict):
            self._aside.add("1 line is no object", "{n} lines are no objects", line.number)
            return
        kind = text(value.get("type"))
        for fact, key in (("session_id", "sessionId"), ("cwd", "cwd"), ("branch", "gitBranch"), ("version", "version")):
            if fact not in self._facts and text(value.get(key)):
                self._facts[fact] = value[key]
        if kind in _TITLES and text(value.get(_TITLES[kind])):
            self._facts["title"] = value[_TITLES[kind]]
        uuid = text(value.get("uuid"))
        node = _node(line, value, kind, uuid) if uuid else None
        if node is None or node.kind == "other":
            self._kinds["API error notice" if value.get("isApiErrorMessage") else kind or "nameless"] += 1
        if node is None:
            return
        if uuid in self._seen:
            self._aside.add(
                "1 line repeats an earlier uuid and was skipped",
                "{n} lines repeat an earlier uuid and were skipped",
                line.number,
            )
            return
        self._seen.add(uuid)
        model = text(mapping(value.get("message")).get("model"))
        if model and model != _SYNTHETIC and not node.side:
            self._facts["model"] = model
        (self.sides if node.side else self.main).append(node)

    def head(self) -> Head:
        return head_of(FORMAT, WIRE, self._facts)

    def say(self) -> None:
        if self._kinds:
            listed = ", ".join(f"{n} {kind}" for kind, n in self._kinds.most_common())
            self._aside.say(f"lines that are the client's own records, not messages: {listed}")


def _node(line: Line, value: dict[str, Json], kind: str, uuid: str) -> Node:
    node = Node(line.number, line.offset, len(line.raw), "other", uuid, text(value.get("parentUuid")))
    node.logical = text(value.get("logicalParentUuid"))
    if value.get("isSidechain"):
        node.side = text(value.get("agentId")) or "-"
    message = mapping(value.get("message"))
    blocks = [b for b in sequence(message.get("content")) if isinstance(b, dict)]
    if kind == "user" and message:
        node.kind = "user"
        node.summary = bool(value.get("isCompactSummary"))
        node.results = tuple(text(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result")
    elif kind == "assistant" and message and not value.get("isApiErrorMessage"):
        node.kind = "assistant"
        node.message_id = text(message.get("id"))
        node.calls = tuple(text(b.get("id")) for b in blocks if b.get("type") == "tool_use")
    elif kind == "attachment" and mapping(value.get("attachment")).get("type") == "queued_command":
        node.kind = "queued"
    elif kind == "system" and value.get("subtype") == "compact_boundary":
        node.kind = "boundary"
        segment = mapping(mapping(value.get("compactMetadata")).get("preservedSegment"))
        node.kept = (text(segment.get("headUuid")), text(segment.get("tailUuid")))
    elif kind == "system" and value.get("subtype") == "microcompact_boundary":
        node.kind = "micro"
    return node


@dataclass(slots=True)
class _Turn:
    """Lines that are one message: what the model said at once stands one block a line."""

    nodes: list[Node]
    answered: set[str] = field(default_factory=set)


class _Chain:
    """The second pass over one chain: its lines read again, in the order of the conversation."""

    def __init__(self, source: Source, name: str, nodes: Sequence[Node]) -> None:
        self._source = source
        self._name = name
        self._wire = wire.get(WIRE)
        branch = active(nodes)
        self._nodes = branch.nodes
        self._position = 0
        self._reported: set[str] = set()
        self._places: dict[str, int] = {uuid: -1 for n in self._nodes for uuid in n.kept if uuid}
        if branch.cycle:
            source.aside.say(f"the parents run in a circle at line {branch.cycle}: the conversation starts there")
        for line in branch.torn:
            source.aside.add(
                "1 line names a parent that is not in the file: the conversation goes on with the line before it",
                "{n} lines name a parent that is not in the file: the conversation goes on with the line before each",
                line,
            )
        astray = sum(n.spoken for n in nodes) - sum(n.spoken for n in self._nodes)
        if astray:
            where = f" of side chain {name}" if name else ""
            source.aside.say(f"{astray} lines on abandoned branches{where} were left out")

    def records(self) -> Iterator[Record]:
        pending: Node | None = None
        for turn in _turns(self._nodes):
            node = turn.nodes[0]
            if node.kind == "micro":
                yield self._compaction(node, None, "microcompact")
                continue
            if node.kind == "boundary":
                if pending is not None:
                    yield self._compaction(pending, None, "compact")
                pending = node
                continue
            values = [v for n in turn.nodes for v in self._again(n)]
            message = self._message(turn, values)
            if message is None:
                continue
            if pending is not None or node.summary:
                yield self._compaction(pending or node, message if node.summary else None, "compact")
                pending = None
            for n in turn.nodes:
                if n.uuid in self._places:
                    self._places[n.uuid] = self._position
            yield Said(message, self._name)
            self._position += 1
            if node.kind == "assistant":
                yield from self._report(turn, values)
        if pending is not None:
            yield self._compaction(pending, None, "compact")

    def _again(self, node: Node) -> list[dict[str, Json]]:
        try:
            value, _ = lenient(self._source.at(node.offset, node.length))
        except ValueError:  # the file was rewritten while it was read
            self._source.aside.add("1 line changed while it was read", "{n} lines changed while being read", node.line)
            return []
        return [mapping(value)]

    def _message(self, turn: _Turn, values: list[dict[str, Json]]) -> Message | None:
        if not values:
            return None
        first = values[0]
        spoken = [mapping(v.get("message")) for v in values]
        if turn.nodes[0].kind == "queued":
            value: dict[str, Json] = {"role": "user", "content": mapping(first.get("attachment")).get("prompt")}
        elif turn.nodes[0].kind == "assistant":
            value = {"role": "assistant", "content": _joined([m.get("content") for m in spoken])}
        else:
            value = spoken[0]
        try:
            return speak(self._wire, value, _meta(turn.nodes, values))
        except InputError as e:
            self._source.aside.say(f"line {turn.nodes[0].line} holds no readable message: {e.message}")
            return None

    def _report(self, turn: _Turn, values: list[dict[str, Json]]) -> Iterator[Report]:
        messages = [mapping(v.get("message")) for v in values]
        told: Json = None
        for m in messages:
            told = usage.merged(told, m.get("usage"))
        last, line = messages[-1], values[-1]
        key = text(last.get("id")) or text(line.get("requestId")) or turn.nodes[0].uuid
        used = usage.read(told, WIRE)
        if used is None or key in self._reported or last.get("model") == _SYNTHETIC:
            return
        self._reported.add(key)
        yield Report(
            position=self._position - 1,
            usage=used,
            time=text(line.get("timestamp")),
            model=text(last.get("model")),
            request_id=text(line.get("requestId")),
            stop_reason=text(last.get("stop_reason")),
            line=turn.nodes[-1].line,
            chain=self._name,
        )

    def _compaction(self, node: Node, handoff: Message | None, kind: str) -> Compaction:
        value = next(iter(self._again(node)), {})
        about = mapping(value.get("compactMetadata") or value.get("microcompactMetadata"))
        tokens = about.get("preTokens")
        head, tail = (self._places.get(uuid, -1) for uuid in node.kept)
        kept = range(head, tail + 1) if 0 <= head <= tail else range(0)
        return Compaction(
            position=self._position,
            kind=kind,
            trigger=text(about.get("trigger")),
            handoff=handoff.text if handoff is not None else "",
            tokens_before=tokens if isinstance(tokens, int) else 0,
            kept=range(self._position) if kind == "microcompact" else kept,
            time=text(value.get("timestamp")),
            line=node.line,
            chain=self._name,
        )


def _turns(nodes: Sequence[Node]) -> Iterator[_Turn]:
    """Lines that belong together, in order. Results may stand between the blocks of the message they answer, because a
    tool can be done before the model is: the message comes first, its results after it.
    """
    open_turn: _Turn | None = None
    waiting: list[_Turn] = []
    for node in nodes:
        if node.kind == "other":
            continue
        if open_turn is not None:
            first = open_turn.nodes[0]
            if node.kind == "assistant" and node.message_id and node.message_id == first.message_id:
                open_turn.nodes.append(node)
                open_turn.answered.update(node.calls)
                continue
            if node.kind == "queued" or (node.results and open_turn.answered.issuperset(node.results)):
                waiting.append(_Turn([node]))
                continue
            yield open_turn
            yield from sorted(waiting, key=_is_queued)
            open_turn, waiting = None, []
        if node.kind == "assistant":
            open_turn = _Turn([node], set(node.calls))
        else:
            yield _Turn([node])
    if open_turn is not None:
        yield open_turn
    yield from sorted(waiting, key=_is_queued)


def _is_queued(turn: _Turn) -> bool:
    """What the user sent meanwhile comes after all results: nothing may stand between a call and its result."""
    return turn.nodes[0].kind == "queued"


def _joined(contents: list[Json]) -> Json:
    """The content of one message out of its lines; a lone string stays one."""
    if len(contents) == 1:
        return contents[0]
    blocks: list[Json] = []
    for content in contents:
        if isinstance(content, list):
            blocks += content
        elif isinstance(content, str):
            blocks.append({"type": "text", "text": content})
    return blocks


def _meta(nodes: list[Node], values: list[dict[str, Json]]) -> dict[str, Json]:
    first, last = values[0], values[-1]
    message = mapping(last.get("message"))
    meta: dict[str, Json] = {
        "line": nodes[0].line,
        "lines": [n.line for n in nodes] if len(nodes) > 1 else None,
        "uuid": nodes[-1].uuid,
        "timestamp": text(first.get("timestamp")),
        "message_id": nodes[0].message_id,
        "request_id": text(last.get("requestId")),
        "model": text(message.get("model")),
        "stop_reason": text(message.get("stop_reason")),
        "is_meta": bool(first.get("isMeta")),
        "compact_summary": nodes[0].summary,
        "source": "queued_command" if nodes[0].kind == "queued" else "",
        "command_mode": text(mapping(first.get("attachment")).get("commandMode")),
    }
    return {k: v for k, v in meta.items() if v}
