"""Session files made for these tests, in the two shapes that matter: with the provider's usage and without."""

from __future__ import annotations

import json
from pathlib import Path

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
SOURCE = "\n".join(f"def tax_{n}(amount): return amount * {n} // 100" for n in range(12))


class Claude:
    """A Claude Code file, line by line. `say` and `call` are the model's turns and report usage."""

    def __init__(self, model: str = "claude-sonnet-4-6") -> None:
        self.lines: list[dict] = []
        self.model = model
        self._minute = 0
        self._turn = 0

    def user(self, text: str, **more: object) -> Claude:
        return self._add("user", {"role": "user", "content": text}, **more)

    def say(self, text: str, prompt: int, read: int = 0, wrote: int = 0) -> Claude:
        return self._spoken([{"type": "text", "text": text}], prompt, read, wrote)

    def call(self, name: str, given: dict, result: str, prompt: int, read: int = 0, wrote: int = 0) -> Claude:
        call_id = f"toolu_{self._turn}"
        self._spoken([{"type": "tool_use", "id": call_id, "name": name, "input": given}], prompt, read, wrote)
        block = {"type": "tool_result", "tool_use_id": call_id, "content": result}
        return self._add("user", {"role": "user", "content": [block]})

    def compact(self, handoff: str, before: int) -> Claude:
        self._add(
            "system", None, subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": before},
            logicalParentUuid=self.lines[-1]["uuid"], parentUuid=None,
        )  # fmt: skip
        return self.user(handoff, isCompactSummary=True)

    def idle(self, minutes: int) -> Claude:
        self._minute += minutes
        return self

    def write(self, path: Path) -> Path:
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path

    def _spoken(self, content: list, prompt: int, read: int, wrote: int) -> Claude:
        self._turn += 1
        usage = {
            "input_tokens": prompt - read - wrote, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": wrote, "output_tokens": 40,
        }  # fmt: skip
        message = {
            "id": f"msg_{self._turn}",
            "model": self.model,
            "role": "assistant",
            "content": content,
            "usage": usage,
        }
        return self._add("assistant", message)

    def _add(self, kind: str, message: dict | None, **more: object) -> Claude:
        self._minute += 1
        line = {
            "parentUuid": self.lines[-1]["uuid"] if self.lines else None, "isSidechain": False, "cwd": "/home/dev/shop",
            "sessionId": "5e55", "type": kind, "uuid": f"u{len(self.lines)}",
            "timestamp": f"2026-05-01T{10 + self._minute // 60:02}:{self._minute % 60:02}:00.000Z",
        }  # fmt: skip
        if message is not None:
            line["message"] = message
        self.lines.append({**line, **more})
        return self


def shop() -> Claude:
    """A session with a bit of everything: repeats, a secret, a silence that costs the cache, a compaction."""
    s = Claude().user("Add a tax of 7% to the cart.")
    read = {"file_path": "/home/dev/shop/cart.py"}
    s.call("Read", read, SOURCE, 3000, 0, 2990)
    s.call("Read", read, SOURCE, 3500, 2990, 500)
    s.call("Bash", {"command": "cat .env"}, f"GITHUB_TOKEN={KEY}", 4000, 3490, 500)
    s.idle(30)
    s.call("Bash", {"command": "sed -n 1,12p cart.py"}, SOURCE, 4300, 0, 4290)
    s.call("Edit", {**read, "old_string": "12", "new_string": "7"}, "done", 4900, 4290, 600)
    s.compact("The cart has a tax now; run the tests.", 5000)
    s.call("Bash", {"command": "pytest -q"}, "3 passed in 0.1s", 2400, 2000, 390)
    return s.say("All three tests pass.", 2500, 2390, 100)


def chat(path: Path, messages: list, **body: object) -> Path:
    """A chat body on disk."""
    path.write_text(json.dumps({"messages": messages, **body}), encoding="utf-8")
    return path


def tool_turn(n: int, result: str, name: str = "run", arguments: str = "{}") -> list:
    """A call and what came back, as chat has them."""
    call = {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{n}", "content": result},
    ]
