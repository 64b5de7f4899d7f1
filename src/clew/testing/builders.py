"""Small things tests are made of: messages, and a clock that stands still until it is told."""

from __future__ import annotations

from clew import jsonio, wire
from clew.jsonio import Json
from clew.transcript import Message


class Clock:
    """A clock that only `tick` moves."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def tick(self, seconds: float = 1.0) -> float:
        self.now += seconds
        return self.now


def message(value: Json, kind: str = "openai-chat") -> Message:
    """A message of its JSON value."""
    return wire.get(kind).message(jsonio.dumps(value))


def user(text: str) -> Message:
    return message({"role": "user", "content": text})


def assistant(text: str) -> Message:
    return message({"role": "assistant", "content": text})


def call(id_: str, name: str, arguments: Json) -> Message:
    """An assistant's call of one tool."""
    function = {"name": name, "arguments": jsonio.dumps(arguments).decode()}
    calls = [{"id": id_, "type": "function", "function": function}]
    return message({"role": "assistant", "content": None, "tool_calls": calls})


def result(id_: str, text: str) -> Message:
    """What a tool answered to a call."""
    return message({"role": "tool", "tool_call_id": id_, "content": text})
