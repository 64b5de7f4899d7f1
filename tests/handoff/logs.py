"""Logs and drafts as the engine hands them to the model path, made from messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from clew.ledger import Ledger, of
from clew.testing import builders as b
from clew.tokens import rough_text
from clew.transcript import Message, Span, Transcript


@dataclass(frozen=True)
class Log:
    transcript: Transcript

    def measure(self, text: str) -> int:
        return rough_text(text)


@dataclass(frozen=True)
class Draft:
    span: Span
    ledger: Ledger = field(default_factory=Ledger)
    budget: int = 2_000
    focus: str = ""
    now: str = ""


def log_of(messages: Iterable[Message]) -> Log:
    return Log(Transcript(messages))


def draft_of(log: Log, *, start: int = 0, end: int | None = None, **more: object) -> Draft:
    """A draft over the messages from `start` to `end`, with the ledger of the whole log."""
    more.setdefault("ledger", of(log.transcript))
    return Draft(Span(start, len(log.transcript) if end is None else end), **more)


def coding() -> list[Message]:
    """A short session: a request with a rule, a file read and edited, a test run that fails, an error."""
    return [
        b.user("Fix the rounding in src/cart.py. Never touch the public API of the cart."),
        b.call("c1", "read_file", {"path": "src/cart.py"}),
        b.result("c1", "def total(items):\n    return round(sum(items), 1)\n"),
        b.assistant("The total rounds to one digit; prices need two. I'll use Decimal because floats drift."),
        b.call("c2", "edit_file", {"path": "src/cart.py", "old_string": "1)", "new_string": "2)"}),
        b.result("c2", "ok"),
        b.call("c3", "bash", {"command": "pytest -q tests/test_cart.py"}),
        b.result(
            "c3",
            "F....\nFAILED tests/test_cart.py::test_total - AssertionError: 3.1 != 3.14\n1 failed, 4 passed in 0.12s\nexit code: 1",
        ),
        b.assistant("One test still fails."),
        b.user("Keep going, and serve the demo on port 8123 when it is green."),
    ]
