"""Two short loops that do what the engine's effects ask: one waits for the model, one awaits it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Protocol, assert_never

from clew.engine.events import CallModel, Commit, Effect, Event, Refused, Say
from clew.engine.values import Epoch, Refusal


class Host(Protocol):
    """Where effects happen. `step` takes the host's lock and commits under it; `call` must not, since it lasts."""

    def step(self, event: Event) -> tuple[Effect, ...]:
        """The effects of an event. Each commit among them is done; what came of it follows it."""

    def call(self, effect: CallModel) -> Event:
        """The model's answer, or its failure, as an event."""

    def call_in_background(self, effect: CallModel) -> None: ...
    def give_up(self, effect: CallModel) -> None:
        """Whoever waited for the answer was interrupted."""

    def say(self, what: Say) -> None: ...


def drive(host: Host, effects: Iterable[Effect]) -> Epoch | Refusal | None:
    """Do the effects and those that follow; the epoch or refusal they led to."""
    todo = deque(effects)
    outcome: Epoch | Refusal | None = None
    while todo:
        effect = todo.popleft()
        match effect:
            case CallModel(background=True):
                host.call_in_background(effect)
            case CallModel():
                todo.extend(_answered(host, effect))
            case Commit():
                outcome = effect.epoch
            case Refused():
                outcome = effect.refusal
            case Say():
                host.say(effect)
            case _:
                assert_never(effect)
    return outcome


async def adrive(host: Host, effects: Iterable[Effect]) -> Epoch | Refusal | None:
    """The same; the model call runs in a thread, so the event loop goes on."""
    todo = deque(effects)
    outcome: Epoch | Refusal | None = None
    while todo:
        effect = todo.popleft()
        match effect:
            case CallModel(background=True):
                host.call_in_background(effect)
            case CallModel():
                todo.extend(await _awaited(host, effect))
            case Commit():
                outcome = effect.epoch
            case Refused():
                outcome = effect.refusal
            case Say():
                host.say(effect)
            case _:
                assert_never(effect)
    return outcome


def _answered(host: Host, effect: CallModel) -> Iterable[Effect]:
    answer: Event | None = None
    try:
        answer = host.call(effect)
    finally:
        if answer is None:
            host.give_up(effect)
    return host.step(answer)


async def _awaited(host: Host, effect: CallModel) -> Iterable[Effect]:
    answer: Event | None = None
    try:
        answer = await asyncio.to_thread(host.call, effect)
    finally:
        if answer is None:
            host.give_up(effect)
    return host.step(answer)
