"""What decides the view at each step: Clew, and the plain ways it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from clew.context import Context
from clew.engine.values import Epoch
from clew.errors import InputError
from clew.tokens import Counter
from clew.transcript import Message, ToolResult
from clew.wire import get
from clew.wire.edit import render


@dataclass(frozen=True, slots=True)
class Setting:
    """What a policy is told: the window, the share of it that triggers, and what every request carries besides."""

    window: int = 200_000
    threshold: float = 0.5
    overhead: int = 0
    wire: str = "openai-chat"
    model: str | None = None
    max_output: int = 0


class Policy(Protocol):
    """It never sees a message before its turn."""

    def push(self, message: Message) -> None: ...
    def view(self) -> Sequence[Message]: ...
    def epochs(self) -> Sequence[Epoch]: ...


class Everything:
    """Nothing is ever left out."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.held: list[Message] = []

    def push(self, message: Message) -> None:
        self.held.append(message)

    def view(self) -> Sequence[Message]:
        return self.held

    def epochs(self) -> Sequence[Epoch]:
        return ()


class Masked(Everything):
    """All but the newest ten results are blanked, one more at each step."""

    _NEWEST = 10

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._blank: dict[int, Message] = {}

    def view(self) -> Sequence[Message]:
        holding = [i for i, m in enumerate(self.held) if m.results]
        for i in holding[: -self._NEWEST]:
            if i not in self._blank:
                parts = enumerate(self.held[i].parts)
                edits: dict[int, str | None] = {
                    k: "[old output omitted]" for k, p in parts if isinstance(p, ToolResult)
                }
                self._blank[i] = render(self.held[i], edits)
        return [self._blank.get(i, m) for i, m in enumerate(self.held)]


class Sliding(Everything):
    """The system prompt and the newest messages that fill half the trigger, cut whenever the trigger is reached."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._counter = Counter("gpt-o200k")

    def view(self) -> Sequence[Message]:
        room = self.setting.window * self.setting.threshold - self.setting.overhead
        if sum(self._counter.message(m) for m in self.held) < room:
            return self.held
        head = [m for m in self.held[:1] if m.role in ("system", "developer")]
        left, tail = room / 2, []
        for m in reversed(self.held[len(head) :]):
            left -= self._counter.message(m)
            if left < 0:
                break
            tail.append(m)
        tail.reverse()
        called: set[str] = set()
        whole = []
        for m in tail:
            if all(r.call_id in called for r in m.results):
                whole.append(m)
                called |= {c.id for c in m.calls}
        self.held = head + (whole or self._newest())
        return self.held

    def _newest(self) -> list[Message]:
        """The newest message, with the call that it answers where it is a result: what stays however large it is."""
        start = len(self.held) - 1
        while start and self.held[start].results:
            start -= 1
        return self.held[start:]


class Compacted:
    """Clew itself, without a model and without a store."""

    def __init__(self, setting: Setting) -> None:
        self.context = Context(
            setting.window,
            setting.threshold,
            wire=setting.wire,
            model=setting.model,
            max_output=setting.max_output,
            overhead=setting.overhead,
            config={},
            clock=lambda: 0.0,
        )

    def push(self, message: Message) -> None:
        self.context.append(message)

    def view(self) -> Sequence[Message]:
        return self.context.view_messages()

    def epochs(self) -> Sequence[Epoch]:
        return self.context.epochs


POLICIES: dict[str, Callable[[Setting], Policy]] = {
    "clew": Compacted,
    "none": Everything,
    "sliding": Sliding,
    "mask": Masked,
}


def make(name: str, setting: Setting) -> Policy:
    """A policy by name."""
    if name not in POLICIES:
        raise InputError(f"{name!r} is no policy", hint=f"there are {', '.join(POLICIES)}")
    get(setting.wire)
    return POLICIES[name](setting)
