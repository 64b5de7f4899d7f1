"""Made-up conversations, written once and spoken in any of the three wire formats."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from clew.ledger import Builder, Ledger
from clew.transcript import Transcript
from clew.wire import get

WIRES = ("openai-chat", "anthropic", "openai-responses")


@dataclass
class Talk:
    """`user`, `agent` and `ran` add turns; `ledger()` is what an observer of them knows."""

    wire: str = "openai-chat"
    values: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0

    def user(self, text: str) -> Talk:
        content: Any = text
        if self.wire == "openai-responses":
            content = [{"type": "input_text", "text": text}]
        self.values.append({"role": "user", "content": content} | self._item("message"))
        return self

    def agent(self, text: str) -> Talk:
        content: Any = text
        if self.wire == "openai-responses":
            content = [{"type": "output_text", "text": text}]
        self.values.append({"role": "assistant", "content": content} | self._item("message"))
        return self

    def call(
        self, name: str, arguments: dict[str, Any], result: str | None, *, said: str = "", error: bool = False
    ) -> Talk:
        """A call and, unless it is None, its result."""
        self.calls += 1
        key, text = f"call_{self.calls}", json.dumps(arguments)
        if self.wire == "openai-chat":
            made = {"id": key, "type": "function", "function": {"name": name, "arguments": text}}
            self.values.append({"role": "assistant", "content": said, "tool_calls": [made]})
        elif self.wire == "anthropic":
            blocks = [{"type": "text", "text": said}] if said else []
            use = {"type": "tool_use", "id": key, "name": name, "input": arguments}
            self.values.append({"role": "assistant", "content": [*blocks, use]})
        else:
            if said:
                self.agent(said)
            self.values.append({"type": "function_call", "call_id": key, "name": name, "arguments": text})
        if result is not None:
            self._result(key, result, error)
        return self

    def ran(self, command: str, result: str, *, said: str = "", code: int = 0) -> Talk:
        """A shell command with its output and exit code, as Claude Code shows them."""
        text = f"Exit code {code}\n{result}" if code else result
        return self.call("Bash", {"command": command}, text, said=said, error=bool(code))

    def _result(self, key: str, text: str, error: bool) -> None:
        if self.wire == "openai-chat":
            self.values.append({"role": "tool", "tool_call_id": key, "content": text})
        elif self.wire == "anthropic":
            block: dict[str, Any] = {"type": "tool_result", "tool_use_id": key, "content": text}
            self.values.append({"role": "user", "content": [block | ({"is_error": True} if error else {})]})
        else:
            self.values.append({"type": "function_call_output", "call_id": key, "output": text})

    def _item(self, kind: str) -> dict[str, str]:
        return {"type": kind} if self.wire == "openai-responses" else {}

    def ledger(self) -> Ledger:
        return observed(self)[0]


def observed(talk: Talk) -> tuple[Ledger, Transcript]:
    wire, transcript, builder = get(talk.wire), Transcript(), Builder()
    for value in talk.values:
        message = wire.message(value)
        builder.observe(transcript.append(message), message, transcript)
    return builder.ledger(), transcript


def told(ledger: Ledger) -> dict[str, Any]:
    """A ledger without positions, which differ from wire to wire."""
    return {
        "requests": [(r.text, r.status, r.answer) for r in ledger.requests],
        "constraints": [(c.text, c.kind, c.topic, c.current) for c in ledger.constraints],
        "files": [(f.path, [(a.verb, a.lines) for a in f.actions]) for f in ledger.files],
        "commands": [(c.text, c.exit_code, c.outcome, c.failed, c.lines) for c in ledger.commands],
        "tests": [(t.passed, t.failed, t.skipped, t.failing, t.ok) for t in ledger.tests],
        "errors": [(e.text, e.open) for e in ledger.errors],
        "decisions": [(d.text, d.reason) for d in ledger.decisions],
        "values": [(v.text, v.name, v.kind) for v in ledger.values],
        "tasks": [(t.text, t.done) for t in ledger.tasks],
        "workspace": ledger.workspace,
    }
