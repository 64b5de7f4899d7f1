"""Two short loops that do what the engine's effects ask: one waits for the model, one awaits it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Protocol, assert_never

from clew.engine.events import CallModel, Commit, Effect, Event, Refused, Say
from clew.engine.values import Epoch, Refusal


class Host(Protocol):
    """Where effects happen. `step` and `commit` take the host's lock; `call` must not, since it lasts."""

    def step(self, event: Event) -> tuple[Effect, ...]: ...
    def call(self, effect: CallModel) -> Event:
        """The model's answer, or its failure, as an event."""

    def call_in_background(self, effect: CallModel) -> None: ...
    def commit(self, epoch: Epoch) -> Event:
        """Make it durable: committed, or refused because another was faster."""

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
                todo.extend(host.step(host.call(effect)))
            case Commit():
                outcome = effect.epoch
                todo.extend(host.step(host.commit(effect.epoch)))
            case Refused():
                outcome = effect.refusal
            case Say():
                host.say(effect)
            case _:
                assert_never(effect)
    return outcome


async def adrive(host: Host, effects: Iterable[Effect]) -> Epoch | Refusal | None:
    """The same; the model call and the commit run in threads, so the event loop goes on."""
    todo = deque(effects)
    outcome: Epoch | Refusal | None = None
    while todo:
        effect = todo.popleft()
        match effect:
            case CallModel(background=True):
                host.call_in_background(effect)
            case CallModel():
                todo.extend(host.step(await asyncio.to_thread(host.call, effect)))
            case Commit():
                outcome = effect.epoch
                todo.extend(host.step(await asyncio.to_thread(host.commit, effect.epoch)))
            case Refused():
                outcome = effect.refusal
            case Say():
                host.say(effect)
            case _:
                assert_never(effect)
    return outcome
