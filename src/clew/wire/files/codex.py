"""Codex's rollout files: Responses items, one a line, with the turn's settings, token counts and compactions between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clew import wire
from clew.errors import InputError
from clew.jsonio import Json
from clew.transcript import Message
from clew.wire import usage
from clew.wire.files.base import Compaction, Record, Report, Said, head_of, mapping, sequence, speak, text
from clew.wire.files.source import Source

FORMAT = "codex"
WIRE = "openai-responses"
_ENVELOPES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
_ITEMS = {
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "local_shell_call_output", "web_search_call", "compaction", "ghost_snapshot",
}  # fmt: skip
_MADE_BY_MODEL = ("reasoning", "_call", "compaction")
_NOT_SENT = {"ghost_snapshot"}  # Codex's own undo points


def looks_like(value: Json) -> bool:
    """Whether a line is one of Codex's, of the older versions without envelopes too."""
    if not isinstance(value, dict):
        return False
    kind = text(value.get("type"))
    if kind in _ENVELOPES and isinstance(value.get("payload"), dict):
        return True
    old_head = {"id", "timestamp", "instructions"} <= value.keys()
    return old_head or "record_type" in value or kind in _ITEMS - {"message"}


def records(source: Source) -> Iterator[Record]:
    """Its head, then items, reports and compactions as they came, then what was left out."""
    plan = _Plan()
    for line, value in source.values(rough=True):
        plan.take(line.number, value)
    if not plan.items:
        raise InputError(f"{source.path}: no message in it", hint="was the file cut off at its start?")
    yield head_of(FORMAT, WIRE, plan.facts, plan.system, plan.tools)
    yield from _Rollout(source, plan.dropped).records()
    yield from source.aside.records()


def _unwrapped(value: Json) -> tuple[str, dict[str, Json]]:
    """The kind of a line and what it carries, whichever version wrote it."""
    if not isinstance(value, dict):
        return "", {}
    payload = value.get("payload")
    if isinstance(payload, dict):
        return text(value.get("type")), payload
    if text(value.get("type")) in _ITEMS:
        return "response_item", value
    if "id" in value and "timestamp" in value and "type" not in value:
        return "session_meta", value
    return text(value.get("record_type")) or text(value.get("type")), {}


class _Plan:
    """The first pass: what the file says about itself, and which lines a rollback took back."""

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}
        self.system: Json = None
        self.tools: tuple[Json, ...] = ()
        self.items = 0
        self.dropped: list[range] = []
        self._turns: list[int] = []
        self._user_line = 0

    def take(self, number: int, value: Json) -> None:
        kind, payload = _unwrapped(value)
        match kind, payload.get("type"):
            case "session_meta", _:
                self._meta(payload)
            case "turn_context", _:
                self._set("cwd", payload.get("cwd"))
                if text(payload.get("model")):
                    self.facts["model"] = payload["model"]
            case "response_item", item:
                self.items += 1
                if item == "message" and payload.get("role") == "user":
                    self._user_line = number
            case "event_msg", "user_message":
                self._turns.append(self._user_line or number)
                self._user_line = 0
            case "event_msg", "thread_rolled_back":
                self._roll_back(payload.get("num_turns"), number)
            case "event_msg", "thread_name_updated":
                if text(payload.get("thread_name")):
                    self.facts["title"] = payload["thread_name"]

    def _meta(self, payload: dict[str, Json]) -> None:
        if "session_id" in self.facts:
            return  # a fork: the second one is its parent's, copied with the history
        self._set("session_id", payload.get("id"))
        self._set("cwd", payload.get("cwd"))
        self._set("version", payload.get("cli_version"))
        self._set("branch", mapping(payload.get("git")).get("branch"))
        base = payload.get("base_instructions") or payload.get("instructions")
        self.system = mapping(base).get("text", base)
        self.tools = tuple(sequence(payload.get("dynamic_tools")))

    def _set(self, fact: str, value: Json) -> None:
        if text(value):
            self.facts.setdefault(fact, value)

    def _roll_back(self, turns: Json, number: int) -> None:
        if isinstance(turns, int) and turns > 0 and self._turns:
            turns = min(turns, len(self._turns))
            self.dropped.append(range(self._turns[-turns], number))
            del self._turns[-turns:]


class _Rollout:
    """The second pass."""

    def __init__(self, source: Source, dropped: list[range]) -> None:
        self._source = source
        self._wire = wire.get(WIRE)
        self._dropped = sorted(dropped, key=lambda r: r.start)
        self._position = 0
        self._reply_at: int | None = None  # where the reply began that the next token count reports
        self._total: Json = None
        self._tokens = 0
        self._model = ""
        self._others: Counter[str] = Counter()

    def records(self) -> Iterator[Record]:
        for line, value in self._source.values(noted=True):
            kind, payload = _unwrapped(value)
            time = text(mapping(value).get("timestamp"))
            gone = any(line.number in r for r in self._dropped)
            if kind == "response_item" and gone:
                self._source.aside.add("1 item was rolled back", "{n} items were rolled back", line.number)
            elif kind == "response_item" and text(payload.get("type")) not in _NOT_SENT:
                yield from self._item(line.number, time, payload)
            elif kind == "event_msg" and payload.get("type") == "token_count":
                yield from self._count(line.number, time, payload)
            elif kind == "compacted" and not gone:
                yield self._compaction(line.number, time, payload)
            elif kind == "turn_context":
                self._model = text(payload.get("model")) or self._model
            elif kind != "session_meta":
                self._others[text(payload.get("type")) or kind or "nameless"] += 1
        if self._others:
            listed = ", ".join(f"{n} {kind}" for kind, n in self._others.most_common())
            self._source.aside.say(f"lines that are the client's own records, not items: {listed}")

    def _item(self, line: int, time: str, payload: dict[str, Json]) -> Iterator[Said]:
        message = self._message(payload, line, time)
        if message is None:
            return
        made = payload.get("role") == "assistant" or text(payload.get("type")).endswith(_MADE_BY_MODEL)
        if made and self._reply_at is None:
            self._reply_at = self._position
        self._position += 1
        yield Said(message)

    def _message(self, value: Json, line: int, time: str) -> Message | None:
        try:
            return speak(self._wire, value, {"line": line, "timestamp": time} if time else {"line": line})
        except InputError as e:
            self._source.aside.say(f"line {line} holds no readable item: {e.message}")
            return None

    def _count(self, line: int, time: str, payload: dict[str, Json]) -> Iterator[Report]:
        """Counts come again whenever a limit changes; only a new total is a new request."""
        info = mapping(payload.get("info"))
        last = info.get("last_token_usage")
        used = usage.read(last, WIRE)
        if used is None or info.get("total_token_usage") == self._total:
            return
        self._total = info.get("total_token_usage")
        self._tokens = used.prompt + used.output
        at = self._position if self._reply_at is None else self._reply_at
        self._reply_at = None
        yield Report(position=at, usage=used, time=time, model=self._model, line=line)

    def _compaction(self, line: int, time: str, payload: dict[str, Json]) -> Compaction:
        said = text(payload.get("message"))
        history = sequence(payload.get("replacement_history"))
        shown = tuple(m for item in history if (m := self._message(item, line, time)) is not None)
        if not shown and said:
            shown = (self._wire.text_message("user", said),)
        sealed = any(text(mapping(i).get("type")).startswith("compaction") for i in history)
        self._reply_at = None
        return Compaction(
            position=self._position,
            kind="sealed" if sealed else "compact",
            handoff=said,
            tokens_before=self._tokens,
            replacement=shown,
            time=time,
            line=line,
        )
