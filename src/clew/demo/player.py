"""A recorded session as an agent that lives it again: one streamed request for each of its replies, over HTTP."""

from __future__ import annotations

import http.client
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from clew import jsonio
from clew.demo.row import Way
from clew.errors import ClewError
from clew.jsonio import Json
from clew.testing.session import Session
from clew.testing.upstream import Ask, Call, Policy, Reply, Say
from clew.transcript import Message, Text, ToolCall
from clew.wire import get
from clew.wire.convert import convert
from clew.wire.detect import ANTHROPIC
from clew.wire.sse import Stream
from clew.wire.usage import Usage

OUTPUT = 4_000  # tokens that the agent keeps for an answer
_PATIENCE = 60


class Failed(ClewError):
    """The gateway or the upstream of the demo didn't answer as they should."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Tale:
    """A session as one wire spells it; its replies are what the upstream is to say."""

    model: str
    wire: str
    system: str
    tools: tuple[Json, ...]
    messages: tuple[Message, ...]

    @property
    def replies(self) -> list[int]:
        """Where the agent speaks."""
        return [n for n, m in enumerate(self.messages) if m.role == "assistant"]

    def policy(self) -> Policy:
        """The upstream's part."""
        spoken = [_reply(self.messages[n]) for n in self.replies]

        def play(ask: Ask) -> Reply:
            return spoken[ask.number]

        return play


def tale(session: Session, way: Way) -> Tale:
    read = get("openai-chat")
    messages = tuple(read.message(m) for m in session.messages)
    if way.wire != ANTHROPIC:
        return Tale(way.model, way.wire, "", tuple(session.tools), messages)
    functions = [t["function"] for t in session.tools]
    tools = [{"name": f["name"], "description": f["description"], "input_schema": f["parameters"]} for f in functions]
    told = convert(messages, "openai-chat", ANTHROPIC)
    return Tale(way.model, way.wire, told.system, tuple(tools), told.messages)


class Player:
    """The agent. It remembers everything, as agents do, and says all of it in every request."""

    def __init__(self, tale: Tale, url: str) -> None:
        place = urlsplit(url)
        self._tale = tale
        self._line = http.client.HTTPConnection(str(place.hostname), place.port, timeout=_PATIENCE)
        self._history: list[Message] = []
        self.same = True

    def hear(self, messages: Sequence[Message]) -> None:
        """What the user and the tools said."""
        self._history += messages

    def speak(self, scripted: Message) -> Usage:
        """One request. The reply goes into the history; `same` stays true while it is what the script holds."""
        path = "/v1/messages" if self._tale.wire == ANTHROPIC else "/v1/chat/completions"
        self._line.request("POST", path, self._body(), self._headers())
        got = self._line.getresponse()
        if got.status != 200:
            raise Failed(f"the gateway answered {got.status}: {got.read(400)!r}")
        stream = Stream(self._tale.wire)
        while piece := got.read1(1 << 16):
            stream.feed(piece)
        stream.close()
        said = stream.assembled()
        if not said.finished or said.usage is None:
            raise Failed("a stream ended early")
        reply = get(self._tale.wire).message(said.values[0])
        self.same = self.same and _reply(reply) == _reply(scripted)
        self._history.append(reply)
        return said.usage

    def close(self) -> None:
        self._line.close()

    def _body(self) -> bytes:
        tale = self._tale
        messages = [m.value for m in self._history]
        body: dict[str, Json] = {"model": tale.model, "stream": True, "tools": list(tale.tools)}
        if tale.wire == ANTHROPIC:
            return jsonio.dumps(body | {"max_tokens": OUTPUT, "system": tale.system, "messages": messages})
        more = {"max_completion_tokens": OUTPUT, "stream_options": {"include_usage": True}}
        return jsonio.dumps(body | more | {"messages": messages})

    def _headers(self) -> dict[str, str]:
        shared = {"content-type": "application/json", "x-clew-session": "demo", "user-agent": "clew-demo/1"}
        if self._tale.wire == ANTHROPIC:
            return {**shared, "x-api-key": "demo", "anthropic-version": "2023-06-01"}
        return {**shared, "authorization": "Bearer demo"}


def _reply(message: Message) -> Reply:
    parts = [
        Call(p.name, jsonio.loads(p.arguments), p.id) if isinstance(p, ToolCall) else Say(p.text)
        for p in message.parts
        if isinstance(p, ToolCall) or (isinstance(p, Text) and p.text)
    ]
    return Reply(tuple(parts))
