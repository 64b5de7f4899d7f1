"""A small agent for each wire, as its clients speak: a loop of tool calls over plain HTTP, whole history every time."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

PATHS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}
MODELS = {"openai-chat": "gpt-5", "openai-responses": "gpt-5", "anthropic": "claude-opus-4-8"}
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


def post(url: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    """One request on a connection of its own."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    try:
        connection.request("POST", path, body, {"content-type": "application/json", **headers})
        got = connection.getresponse()
        return got.status, {k.lower(): v for k, v in got.getheaders()}, got.read()
    finally:
        connection.close()


def eventually(holds: Callable[[], bool]) -> None:
    """Waits until something holds that another thread is about to do."""
    for _ in range(250):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("it never came to hold")


@dataclass
class Agent:
    """`run` works until the model stops calling tools; `history` is all that the agent itself remembers."""

    wire: str
    url: str
    key: str = "sk-test-one"
    session: str = ""
    model: str = ""
    output: int = 1000
    stream: bool = False
    results: Any = None  # (command) -> output
    history: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0

    def run(self, prompt: str, most: int = 400) -> str:
        """The model's last words."""
        self.history.append({"role": "user", "content": prompt})
        for _ in range(most):
            status, _, raw = self.ask()
            assert status == 200, (status, raw[:600])
            calls, said = self.read(json.loads(raw))
            if not calls:
                return said
            for call_id, command in calls:
                self.answer(call_id, self.results(command))
        raise AssertionError("the model doesn't come to an end")

    def ask(self, **more: Any) -> tuple[int, dict[str, str], bytes]:
        self.sent += 1
        body = json.dumps(self.body() | more).encode()
        return post(self.url, PATHS[self.wire], body, self.headers())

    def headers(self) -> dict[str, str]:
        named = {"x-clew-session": self.session} if self.session else {}
        if self.wire == "anthropic":
            return {"x-api-key": self.key, "anthropic-version": "2023-06-01", **named}
        return {"authorization": f"Bearer {self.key}", **named}

    def body(self) -> dict[str, Any]:
        model = self.model or MODELS[self.wire]
        tool = {"name": "bash", "description": "Runs a command."}
        system = "You are a careful worker."
        if self.wire == "anthropic":
            tools = [{**tool, "input_schema": PARAMETERS}]
            return {
                "model": model,
                "max_tokens": self.output,
                "system": system,
                "tools": tools,
                "messages": self.history,
            }
        if self.wire == "openai-responses":
            tools = [{"type": "function", **tool, "parameters": PARAMETERS}]
            return {
                "model": model, "max_output_tokens": self.output, "instructions": system, "tools": tools, "store": False,
                "input": self.history,
            }  # fmt: skip
        tools = [{"type": "function", "function": {**tool, "parameters": PARAMETERS}}]
        lead = {"role": "system", "content": system}
        return {"model": model, "max_completion_tokens": self.output, "tools": tools, "messages": [lead, *self.history]}

    def read(self, answer: dict[str, Any]) -> tuple[list[tuple[str, str]], str]:
        """The calls as (id, command), and the words; the turn goes into the history."""
        if self.wire == "anthropic":
            self.history.append({"role": "assistant", "content": answer["content"]})
            blocks = answer["content"]
            calls = [(b["id"], b["input"]["command"]) for b in blocks if b["type"] == "tool_use"]
            return calls, "".join(b["text"] for b in blocks if b["type"] == "text")
        if self.wire == "openai-responses":
            self.history += answer["output"]
            calls = [
                (i["call_id"], json.loads(i["arguments"])["command"])
                for i in answer["output"]
                if i["type"] == "function_call"
            ]
            texts = [b["text"] for i in answer["output"] if i["type"] == "message" for b in i["content"]]
            return calls, "".join(texts)
        message = answer["choices"][0]["message"]
        self.history.append(message)
        calls = [(c["id"], json.loads(c["function"]["arguments"])["command"]) for c in message.get("tool_calls") or ()]
        return calls, message.get("content") or ""

    def answer(self, call_id: str, output: str) -> None:
        if self.wire == "anthropic":
            block = {"type": "tool_result", "tool_use_id": call_id, "content": output}
            last = self.history[-1]
            if last["role"] == "user" and isinstance(last["content"], list):
                last["content"].append(block)
            else:
                self.history.append({"role": "user", "content": [block]})
        elif self.wire == "openai-responses":
            self.history.append({"type": "function_call_output", "call_id": call_id, "output": output})
        else:
            self.history.append({"role": "tool", "tool_call_id": call_id, "content": output})


def shell(command: str) -> str:
    """What an errand's commands print: the value once, then much that nobody needs again."""
    if command.startswith("cat values/"):
        name = command.split("/")[1].split(".")[0]
        return f"{name} value={name[:2]}4711"
    words = command.split("'")[1] if "'" in command else command
    return "\n".join(f"{words.replace('%g', str(i))} of the work" for i in range(1, 120))
