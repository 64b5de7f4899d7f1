"""Valid agent conversations of any length, in each wire format: what properties over rewriting are run on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from clew.jsonio import Json
from clew.testing.dice import Dice
from clew.wire import get
from clew.wire.convert import convert

_WORDS = (
    "parser", "budget", "retry", "src/app/main.py", "config/limits.yaml", "TIMEOUT_MS", "handleClick", "0.53", "4711",
    "naïve", "日本語", "error", "passed", "v2.3.1", "a1b2c3d4e5", "ORDER-48213",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """How a conversation goes: user turns, calls between them, parallel calls, and how long results are."""

    turns: int = 4
    calls: int = 6
    parallel: int = 2
    length: int = 400
    system: bool = True
    repeat: int = 5  # one call in so many repeats an earlier one with its result; 0 for never


def chat(seed: int, shape: Shape = Shape()) -> list[dict[str, Json]]:
    """OpenAI chat messages that every check accepts."""
    dice = Dice("conversation", seed)
    out: list[dict[str, Json]] = []
    if shape.system:
        out.append({"role": "system", "content": "You are a careful engineer."})
    number = 0
    earlier: list[tuple[str, str, str]] = []
    for turn in range(shape.turns):
        out.append({"role": "user", "content": f"Turn {turn}: {_text(dice, 60)}"})
        for _ in range(dice.between(0, shape.calls)):
            calls, results = [], []
            for _ in range(dice.between(1, max(1, shape.parallel))):
                number += 1
                again = shape.repeat and earlier and dice.between(1, shape.repeat) == 1
                name, arguments, text = dice.pick(earlier) if again else _call(dice, number, shape.length)
                earlier.append((name, arguments, text))
                id_ = f"call_{number}"
                calls.append({"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}})
                results.append({"role": "tool", "tool_call_id": id_, "content": text})
            said = _text(dice, 40) if dice.between(0, 1) else None
            out.append({"role": "assistant", "content": said, "tool_calls": calls})
            out += results
        out.append({"role": "assistant", "content": f"Done with turn {turn}: {_text(dice, 50)}"})
    return out


def in_wire(messages: Sequence[Json], wire: str) -> list[Json]:
    """The same conversation as another wire spells it, the system prompt left out where it stands apart there."""
    if wire == "openai-chat":
        return list(messages)
    read = [get("openai-chat").message(m) for m in messages]
    return [m.value for m in convert(read, "openai-chat", wire).messages]


def _call(dice: Dice, number: int, length: int) -> tuple[str, str, str]:
    kind = dice.pick(("bash", "read", "edit"))
    text = _text(dice, dice.between(1, max(2, length)))
    if kind == "bash":
        arguments = {"command": f"pytest tests/test_{number}.py"}
        text += f"\n{dice.between(1, 9)} passed in 0.{number}s"
    elif kind == "read":
        arguments = {"path": f"src/module_{number}.py"}
    else:
        arguments = {"path": f"src/module_{number}.py", "old": _text(dice, 10), "new": _text(dice, 10)}
    return kind, json.dumps(arguments, ensure_ascii=False), text or "ok"


def _text(dice: Dice, words: int) -> str:
    return " ".join(dice.pick(_WORDS) for _ in range(max(1, words)))
