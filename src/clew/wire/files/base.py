"""What every reader of session files shares: the values they yield, and what they may leave out, said in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from clew.jsonio import Json
from clew.transcript import Message
from clew.wire.base import Wire
from clew.wire.usage import Usage

MAIN = ""
_SHOWN = 5  # line numbers named in a sentence
_SAID = 40  # single cases told, before they are only counted


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may hold, in bytes. Lines over `line` are skipped and named; a file that is one JSON document over
    `document` is refused.
    """

    line: int = 64 << 20
    document: int = 256 << 20


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says about itself, before its messages."""

    format: str
    wire: str
    session_id: str = ""
    model: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""
    title: str = ""
    system: Json = None
    tools: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the main conversation, or of the side chain named `chain`."""

    message: Message
    chain: str = MAIN


@dataclass(frozen=True, slots=True)
class Report:
    """What the provider reported for one request. The request held the messages of its chain before `position`, in the
    view after the last compaction; its reply starts at `position`.
    """

    position: int
    usage: Usage
    time: str = ""
    model: str = ""
    request_id: str = ""
    stop_reason: str = ""
    line: int = 0
    chain: str = MAIN


@dataclass(frozen=True, slots=True)
class Compaction:
    """The client's own compaction. From `position` on, the model saw `kept` (positions of earlier messages that stayed),
    then `replacement`, then the messages from `position`; Claude Code's handoff is itself the message at `position`.
    `handoff` is its text, empty where the provider sealed it.
    """

    position: int
    kind: str
    trigger: str = ""
    handoff: str = ""
    tokens_before: int = 0
    kept: range = field(default=range(0))
    replacement: tuple[Message, ...] = ()
    time: str = ""
    line: int = 0
    chain: str = MAIN


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sentence about what the file holds and the messages don't."""

    sentence: str


Record: TypeAlias = Head | Said | Report | Compaction | LeftOut


@dataclass(frozen=True, slots=True)
class SideChain:
    """A conversation beside the main one: a sub-agent's, or another one of the same file."""

    name: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A session file, read. Positions count in `messages`, or in those of the side chain a record names."""

    path: str
    head: Head
    messages: tuple[Message, ...]
    reports: tuple[Report, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    sidechains: tuple[SideChain, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        return self.head.format

    @property
    def wire(self) -> str:
        return self.head.wire

    @property
    def session_id(self) -> str:
        return self.head.session_id

    @property
    def model(self) -> str:
        return self.head.model

    @property
    def cwd(self) -> str:
        return self.head.cwd

    @property
    def branch(self) -> str:
        return self.head.branch

    @property
    def version(self) -> str:
        return self.head.version

    @property
    def title(self) -> str:
        return self.head.title

    @property
    def system(self) -> Json:
        return self.head.system

    @property
    def tools(self) -> tuple[Json, ...]:
        return self.head.tools


class Aside:
    """Counts what is put aside, by reason, with the first line numbers of each."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], list[int]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._sentences: list[str] = []
        self._more = 0

    def add(self, one: str, many: str, line: int = 0) -> None:
        """`one` is the sentence for a single case, `many` the one for several with `{n}` for their number."""
        key = (one, many)
        self._counts[key] = self._counts.get(key, 0) + 1
        lines = self._lines.setdefault(key, [])
        if line and len(lines) < _SHOWN:
            lines.append(line)

    def say(self, sentence: str) -> None:
        """A sentence about a single case."""
        if len(self._sentences) < _SAID:
            self._sentences.append(sentence)
        else:
            self._more += 1

    def records(self) -> Iterator[LeftOut]:
        for sentence in self._sentences:
            yield LeftOut(sentence)
        if self._more:
            yield LeftOut(f"and {self._more} more such cases")
        for (one, many), n in self._counts.items():
            lines = self._lines[one, many]
            where = ""
            if lines:
                where = f" (line{'s' if n > 1 else ''} {', '.join(map(str, lines))}{' …' if n > len(lines) else ''})"
            yield LeftOut((one if n == 1 else many.format(n=n)) + where)


def head_of(kind: str, wire: str, facts: Mapping[str, str], system: Json = None, tools: tuple[Json, ...] = ()) -> Head:
    """A head out of the facts a file tells of itself, by their names there."""
    return Head(
        format=kind,
        wire=wire,
        session_id=facts.get("session_id", ""),
        model=facts.get("model", ""),
        cwd=facts.get("cwd", ""),
        branch=facts.get("branch", ""),
        version=facts.get("version", ""),
        title=facts.get("title", ""),
        system=system,
        tools=tools,
    )


def speak(wire: Wire, value: Json, meta: Mapping[str, Json]) -> Message:
    """A message of `wire` with what the file says about it beside it."""
    message = wire.message(value)
    return replace(message, meta=MappingProxyType({**message.meta, **meta}))


def text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def sequence(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
