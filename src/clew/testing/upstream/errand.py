"""A policy that plays an agent at work in any client: a chain of calls, then an answer that proves memory.

The user's prompt names it: `errand:alpha steps=12`. The first call asks the client's own shell for a value, the rest are
work, and the answer is `done:` with the value of the first result, if the model can still read it in what it was sent;
else `forgotten`. Asked for a summary it writes down the order, the step and the value. Which step comes next is read off
the last result's call id, so a request that is sent again gets the same reply, and it does not matter how much of the
middle a compaction took away.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from clew.testing.upstream.toolbox import filled, offered, shell_call
from clew.testing.upstream.values import Ask, Call, Reply, Say, Think
from clew.transcript import Message, Text

_ORDER = re.compile(r"errand:([a-z0-9]+)((?: [a-z]+=-?\w+)*)")
_STEP = re.compile(r"errand_([a-z0-9]+)_(\d{3})_\d")
_LOOKED_UP = re.compile(r"(?:search|recall)_([a-z0-9]+)")
_NUMBERS = ("steps", "parallel", "substeps", "at")
_SHELLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "terminal", "execute_bash", "run_command")
_DELEGATES = ("Task", "Agent", "task", "agent")
_SUMMARY = re.compile(r"summar|compact|handoff|checkpoint", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Order:
    """What a prompt asks for. `parallel` calls go out at once; `delegate` names an errand for a subagent, or several
    with a line between them (`beta_gamma`), each for one of its own at the same time.
    """

    name: str
    steps: int = 10
    parallel: int = 1
    delegate: str = ""
    substeps: int = 3
    at: int = -1  # the last step that is done: what a summary says

    @classmethod
    def all(cls, text: str) -> list[Order]:
        """Every order in a text."""
        out = []
        for found in _ORDER.finditer(text):
            given = dict(pair.split("=", 1) for pair in found[2].split())
            numbers = {k: int(v) for k, v in given.items() if k in _NUMBERS}
            out.append(cls(found[1], delegate=given.get("delegate", ""), **numbers))
        return out


def fetch(name: str) -> str:
    """The command whose output holds an errand's value."""
    return f"cat values/{name}.txt"


def work(name: str, step: int) -> str:
    """The command of a later step."""
    return f"seq -f 'errand {name} step {step} line %g' 1 {20 + step * 7 % 40}"


@dataclass(frozen=True, slots=True)
class Errand:
    """The policy. `command` says what the shell is told at each step; `pattern` finds the value in what was read. With
    `recalls` it looks the value up before it answers, where Clew's tools are offered: it searches, then recalls.
    """

    command: Callable[[str, int], str] = lambda name, step: fetch(name) if step == 0 else work(name, step)
    pattern: str = r"value=(\w+)"
    think: bool = False
    recalls: bool = False
    chatter: str = "ok"  # to a request that carries no order: a title, a probe

    def __call__(self, ask: Ask) -> Reply:
        if _asks_for_summary(ask):
            return Reply((Say(self._summary(ask)),))
        order, last = _standing(ask)
        if order is None:
            return Reply((Say(self.chatter),))
        shell = offered(ask, _SHELLS)
        if shell is None:
            return Reply((Say(self.chatter),))
        step = last + 1
        thought = (Think(f"Step {step} of {order.name} is next."),) if self.think else ()
        if step >= order.steps:
            looked_up = self._looks_up(ask, order.name) if self.recalls else None
            if looked_up is not None:
                return Reply((*thought, Say("I look it up."), looked_up))
            return Reply((*thought, Say(f"done: {self._value(ask, order.name)}")))
        helper = offered(ask, _DELEGATES)
        if order.delegate and helper is not None and step == 1:
            prompts = [f"errand:{name} steps={order.substeps}" for name in order.delegate.split("_")]
            sent = [
                Call(helper["name"], filled(helper, "prompt", p), _id(order, step, k)) for k, p in enumerate(prompts)
            ]
            return Reply((*thought, *sent))
        calls = [
            shell_call(shell, self.command(order.name, step) + (f" # {k}" if k else ""), _id(order, step, k))
            for k in range(order.parallel if step else 1)
        ]
        return Reply((*thought, Say(f"Step {step}."), *calls))

    def _looks_up(self, ask: Ask, name: str) -> Call | None:
        """The next of Clew's tools to call, None where both were or none is there."""
        if offered(ask, ("clew_search",)) is None:
            return None
        results = {r.call_id: r.text for m in ask.request.messages for r in m.results}
        found = results.get(f"search_{name}")
        if found is None:
            return Call("clew_search", {"query": f"{name} value"}, f"search_{name}")
        ref = re.search(r"(clew:\w+) \w+: .*value=", found)
        if ref is None or f"recall_{name}" in results:
            return None
        return Call("clew_recall", {"ref": ref[1]}, f"recall_{name}")

    def _value(self, ask: Ask, name: str) -> str:
        """What the model can still read of the first result."""
        value = re.compile(rf"\b{name}\b.{{0,20}}?{self.pattern}", re.DOTALL)
        near = [found[1] for m in ask.request.messages for found in value.finditer(m.text)]
        return near[-1] if near else "forgotten"

    def _summary(self, ask: Ask) -> str:
        """Every errand that can be read of, how far it got, and its value."""
        out = ["Where we are:"]
        for name, order in {o.name: o for m in ask.request.messages for o in Order.all(_said(m))}.items():
            steps = [int(s[1]) for m in ask.request.messages for s in re.finditer(rf"\b{name} step (\d+) line", m.text)]
            value = self._value(ask, name)
            out.append(f"errand:{name} steps={order.steps} parallel={order.parallel} at={max([order.at, *steps])}")
            out += [f"{name} value={value}"] if value != "forgotten" else []
        return "\n".join(out)


def _standing(ask: Ask) -> tuple[Order | None, int]:
    """The order that is being worked on, and the last step that is known to be done."""
    messages = ask.request.messages
    orders = [o for m in messages for o in Order.all(_said(m))]
    for n in range(len(messages) - 1, -1, -1):
        looked_up = [s[1] for r in messages[n].results if (s := _LOOKED_UP.fullmatch(r.call_id))]
        if looked_up:
            order = next((o for o in reversed(orders) if o.name == looked_up[-1]), Order(looked_up[-1]))
            return order, order.steps - 1
        steps = [s for r in messages[n].results if (s := _STEP.search(r.call_id))]
        if steps:
            name, step = steps[-1][1], max(int(s[2]) for s in steps)
            return next((o for o in reversed(orders) if o.name == name), Order(name)), step
        if messages[n].is_user_turn and (given := Order.all(_said(messages[n]))):
            # The order may stand again after the summary that says how far it got.
            done = max(o.at for o in orders if o.name == given[-1].name)
            return given[-1], done
    return None, -1


def _asks_for_summary(ask: Ask) -> bool:
    """Whether the last thing said is a client's own prompt for a compaction."""
    said = [m for m in ask.request.messages if m.role in ("user", "developer", "system") and m.text]
    if not said or not ask.request.messages[-1].text or said[-1] is not ask.request.messages[-1]:
        return False
    words = _said(said[-1])[-4000:]
    return said[-1].is_user_turn and _SUMMARY.search(words) is not None and not Order.all(words[-400:])


def _said(message: Message) -> str:
    """A user's words without results and what clients put among them."""
    words = "\n".join(p.text for p in message.parts if isinstance(p, Text))
    return re.sub(r"<system-reminder>.*?</system-reminder>", "", words, flags=re.DOTALL)


def _id(order: Order, step: int, k: int) -> str:
    return f"errand_{order.name}_{step:03d}_{k}"
