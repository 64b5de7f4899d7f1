"""A policy that plays an agent at work in any client: a chain of calls, then an answer that proves memory.

The user's prompt names it: `errand:alpha steps=12`. The first call asks the client's own shell for a value, the rest are
work, and the answer is `done:` with the value of the first result, if the model can still read it in what it was sent;
else `forgotten`. Which step comes next is read off the last result's call id, so a request that is sent again gets the
same reply, and it does not matter how much of the middle a compaction took away.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from clew.jsonio import Json
from clew.testing.upstream.values import Ask, Call, Reply, Say, Think

_ORDER = re.compile(r"errand:([a-z0-9]+)((?: [a-z]+=[\w.-]+)*)")
_STEP = re.compile(r"errand_([a-z0-9]+)_(\d{3})_\d")
_SHELLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "terminal", "execute_bash", "run_command")
_DELEGATES = ("Task", "Agent", "task", "agent")
_KEYS = ("command", "cmd", "script")


@dataclass(frozen=True, slots=True)
class Order:
    """What a prompt asks for. `parallel` calls go out at once; `delegate` names an errand for a subagent."""

    name: str
    steps: int = 10
    parallel: int = 1
    delegate: str = ""
    substeps: int = 3

    @classmethod
    def of(cls, text: str) -> Order | None:
        """The last order in a text."""
        orders = list(_ORDER.finditer(text))
        if not orders:
            return None
        found = orders[-1]
        given = dict(pair.split("=", 1) for pair in found[2].split())
        numbers = {k: int(v) for k, v in given.items() if k in ("steps", "parallel", "substeps")}
        return cls(found[1], delegate=given.get("delegate", ""), **numbers)


def fetch(name: str) -> str:
    """The command whose output holds an errand's value."""
    return f"cat values/{name}.txt"


def work(name: str, step: int) -> str:
    """The command of a later step."""
    return f"seq -f 'errand {name} step {step} line %g' 1 {20 + step * 7 % 40}"


@dataclass(frozen=True, slots=True)
class Errand:
    """The policy. `command` says what the shell is told at each step; `pattern` finds the value in what was read."""

    command: Callable[[str, int], str] = lambda name, step: fetch(name) if step == 0 else work(name, step)
    pattern: str = r"value=(\w+)"
    think: bool = False
    chatter: str = "ok"  # to a request that carries no order: a title, a probe

    def __call__(self, ask: Ask) -> Reply:
        shell = _tool(ask, _SHELLS)
        order, last = _standing(ask)
        if order is None or shell is None:
            return Reply((Say(self.chatter),))
        step = last + 1
        thought = (Think(f"Step {step} of {order.name} is next."),) if self.think else ()
        if step >= order.steps:
            return Reply((*thought, Say(f"done: {self._value(ask, order)}")))
        helper = _tool(ask, _DELEGATES)
        if order.delegate and helper is not None and step == 1:
            prompt = f"errand:{order.delegate} steps={order.substeps}"
            return Reply((*thought, Call(helper["name"], _filled(helper, "prompt", prompt), _id(order, step, 0))))
        count = order.parallel if step else 1
        calls = [
            _shell_call(shell, self.command(order.name, step) + (f" # {k}" if k else ""), _id(order, step, k))
            for k in range(count)
        ]
        return Reply((*thought, Say(f"Step {step}."), *calls))

    def _value(self, ask: Ask, order: Order) -> str:
        """What the model can still read of the first result."""
        texts = [m.text for m in ask.request.messages]
        near = [
            found[1]
            for text in texts
            for found in re.finditer(rf"{order.name}\b.{{0,20}}?{self.pattern}", text, re.DOTALL)
        ]
        return near[-1] if near else "forgotten"


def _standing(ask: Ask) -> tuple[Order | None, int]:
    """The order that is being worked on, and the last step whose result came."""
    messages = ask.request.messages
    for n in range(len(messages) - 1, -1, -1):
        steps = [s for r in messages[n].results if (s := _STEP.search(r.call_id))]
        if steps:
            name, step = steps[-1][1], max(int(s[2]) for s in steps)
            orders = [o for m in messages if m.role == "user" and (o := Order.of(_said(m.text)))]
            return next((o for o in reversed(orders) if o.name == name), Order(name)), step
        if messages[n].is_user_turn and (order := Order.of(_said(messages[n].text))):
            return order, -1
    return None, -1


def _said(text: str) -> str:
    """A user's words without what clients put among them."""
    return re.sub(r"<system-reminder>.*?</system-reminder>", "", text, flags=re.DOTALL)


def _id(order: Order, step: int, k: int) -> str:
    return f"errand_{order.name}_{step:03d}_{k}"


def _tool(ask: Ask, names: tuple[str, ...]) -> Json:
    """The definition of the first of these tools that the client offers, with its name at the top."""
    offered = {}
    for tool in ask.tools:
        function = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        if isinstance(function.get("name"), str):
            offered[function["name"]] = function
    return next((offered[n] for n in names if n in offered), None)


def _schema(tool: Json) -> Json:
    return tool.get("input_schema") or tool.get("parameters") or {}


def _shell_call(tool: Json, command: str, call_id: str) -> Call:
    properties = _schema(tool).get("properties", {})
    key = next((k for k in _KEYS if k in properties), _KEYS[0])
    value: Json = ["bash", "-lc", command] if properties.get(key, {}).get("type") == "array" else command
    return Call(tool["name"], _filled(tool, key, value), call_id)


def _filled(tool: Json, key: str, value: Json) -> dict[str, Json]:
    """An input with `key` set and everything else that is required given some value of its type."""
    schema = _schema(tool)
    out: dict[str, Json] = {}
    for name in schema.get("required", ()):
        kind = schema["properties"].get(name, {})
        simple: dict[str, Json] = {"integer": 30, "number": 30, "boolean": False, "array": [], "object": {}}
        chosen = "general-purpose" if name == "subagent_type" else "a step of the errand"
        out[name] = (kind.get("enum") or [simple.get(kind.get("type", ""), chosen)])[0]
    return {**out, key: value}
