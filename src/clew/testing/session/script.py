"""Writes a made session down: messages with their calls and results, and the facts with the place where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew import jsonio
from clew.jsonio import Json
from clew.testing.dice import Dice
from clew.testing.session.values import Fact, Kind
from clew.testing.session.world import World


@dataclass(frozen=True, slots=True)
class Use:
    """A call and what it returned."""

    tool: str
    arguments: dict[str, Json]
    result: str


@dataclass(slots=True)
class Script:
    """A session being written."""

    dice: Dice
    world: World
    messages: list[Json] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)

    def user(self, text: str, image: str = "") -> int:
        content: Json = text
        if image:
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": image}}]
        return self._add({"role": "user", "content": content})

    def say(self, text: str) -> int:
        return self._add({"role": "assistant", "content": text})

    def use(self, uses: Sequence[Use], text: str = "") -> int:
        """One assistant message that calls these at once, then their results; the position of the first result."""
        calls = [
            {
                "id": f"call_{self.dice.letters(24)}",
                "type": "function",
                "function": {"name": u.tool, "arguments": jsonio.dumps(u.arguments).decode()},
            }
            for u in uses
        ]
        first = self._add({"role": "assistant", "content": text or None, "tool_calls": calls}) + 1
        for call, u in zip(calls, uses, strict=True):
            self._add({"role": "tool", "tool_call_id": call["id"], "content": u.result})
        return first

    def fact(self, kind: Kind, name: str, text: str, message: int) -> None:
        """Notes what stands in a message; a budget, value or preference of the same name gives way to it."""
        if kind in ("budget", "value", "preference"):
            self.close(kind, name, message)
        self.facts.append(Fact(kind, name, text, message))

    def close(self, kind: Kind, name: str, message: int) -> None:
        """The message answers, resolves, withdraws or replaces what stood under this name."""
        self.facts[:] = [
            replace(f, stands=False, changed_by=message) if f.stands and (f.kind, f.name) == (kind, name) else f
            for f in self.facts
        ]

    # --- the tools, as the agent uses them

    def read(self, path: str, offset: int = 1, limit: int = 2000) -> Use:
        arguments: dict[str, Json] = {"file_path": path}
        if offset > 1 or limit < 2000:
            arguments |= {"offset": offset, "limit": limit}
        return Use("Read", arguments, self.world.read(path, offset, limit))

    def grep(self, pattern: str, under: str = "") -> Use:
        return Use("Grep", {"pattern": pattern, "path": under or "."}, self.world.grep(pattern, under))

    def edit(self, path: str, old: str, new: str) -> Use:
        arguments: dict[str, Json] = {"file_path": path, "old_string": old, "new_string": new}
        return Use("Edit", arguments, self.world.edit(path, old, new))

    def run(self, command: str, output: str, code: int = 0) -> Use:
        return Use("Bash", {"command": command}, output + (f"\nExit code {code}" if code else ""))

    def _add(self, message: Json) -> int:
        self.messages.append(message)
        return len(self.messages) - 1


def _tool(name: str, text: str, required: str, optional: str = "") -> Json:
    properties = {key: {"type": "string"} for key in required.split()}
    properties |= {key: {"type": "integer"} for key in optional.split()}
    parameters = {"type": "object", "properties": properties, "required": required.split()}
    return {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}


TOOLS: tuple[Json, ...] = (
    _tool("Read", "Read a file; lines are numbered.", "file_path", "offset limit"),
    _tool("Grep", "Search file contents for a regular expression.", "pattern path"),
    _tool("Edit", "Replace text that stands exactly once in a file.", "file_path old_string new_string"),
    _tool("Bash", "Run a shell command and return what it prints.", "command"),
)
