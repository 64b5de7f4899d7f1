"""What a summariser is: asked with a prompt, it answers with a text; and how a call under way is given up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from clew.errors import SummaryError
from clew.wire.usage import Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. `finish` is the provider's reason for stopping; `usage` and `model` what it told of them."""

    text: str
    finish: str = "stop"
    usage: Usage | None = None
    model: str = ""


class Cancel:
    """Gives up a call from another thread. It is used once; a new call gets a new one."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._closers: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """End the call: what waits for the network stops waiting. Calling it again changes nothing."""
        with self._lock:
            self._event.set()
            closers, self._closers = self._closers, []
        for close in closers:
            close()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        """Pause, unless cancelled meanwhile."""
        self._event.wait(seconds)
        self.check()

    def check(self) -> None:
        """SummaryError of kind `cancelled` once it was."""
        if self.cancelled:
            raise SummaryError("the summary was cancelled", kind="cancelled")

    @contextmanager
    def closing(self, close: Callable[[], None]) -> Iterator[None]:
        """While this lasts, cancelling calls `close`, from the thread that cancels."""
        with self._lock:
            now = self._event.is_set()
            if not now:
                self._closers.append(close)
        if now:
            close()
        try:
            yield
        finally:
            with self._lock:
                if close in self._closers:
                    self._closers.remove(close)


class Summariser(Protocol):
    """Anything that can be asked. It raises SummaryError, whose kind says what went wrong, and nothing else.

    `window` is its model's, in tokens, 0 where it isn't known.
    """

    @property
    def window(self) -> int: ...

    def __call__(self, prompt: str, max_tokens: int, cancel: Cancel | None = None) -> Reply: ...
