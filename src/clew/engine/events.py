"""What can happen to the engine, and what it can ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from clew.engine.values import Attempt, Epoch, Refusal
from clew.ledger.facts import Ledger
from clew.ledger.names import Names
from clew.transcript import Message, Transcript
from clew.wire import Wire


class Log(Protocol):
    """The log, outside the engine: it only grows, so at a given length it is a value."""

    @property
    def transcript(self) -> Transcript: ...
    @property
    def wire(self) -> Wire: ...
    @property
    def names(self) -> Names: ...
    @property
    def alternates(self) -> bool:
        """Whether the provider wants user and assistant in turn."""

    @property
    def last_user(self) -> int:
        """The newest user turn; -1 where there is none."""

    @property
    def last_pictured(self) -> int:
        """The newest user turn that holds an image; -1 where there is none."""

    def size(self, position: int) -> int:
        """Tokens of one message of the log."""

    def count(self, message: Message) -> int:
        """Tokens of any message."""

    def measure(self, text: str) -> int:
        """Tokens of a text."""

    def ledger(self) -> Ledger:
        """The ledger of everything up to the log's end."""


@dataclass(frozen=True, slots=True)
class Appended:
    """A message was added to the log."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A view is about to be sent."""

    log: Log
    now: float
    date: str = ""


@dataclass(frozen=True, slots=True)
class CompactRequested:
    """Someone wants an epoch: a user (`force`), or the wall was hit (`must_fit`)."""

    log: Log
    now: float
    date: str = ""
    focus: str = ""
    force: bool = True
    must_fit: bool = False


@dataclass(frozen=True, slots=True)
class Reported:
    """What the provider counted for the last request."""

    prompt_tokens: int
    counted: int
    now: float


@dataclass(frozen=True, slots=True)
class SummaryArrived:
    log: Log
    text: str
    now: float
    finish: str = "stop"
    ticket: int = 0  # of the call it answers; 0 for whichever is under way
    read: int = 0  # tokens the summariser was sent, as its provider counted them, and wrote
    wrote: int = 0


@dataclass(frozen=True, slots=True)
class SummaryFailed:
    log: Log
    kind: str
    error: str
    now: float
    retry_after: float | None = None
    ticket: int = 0


@dataclass(frozen=True, slots=True)
class Committed:
    now: float


@dataclass(frozen=True, slots=True)
class CommitRefused:
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The last epoch is dropped: the state goes back to what stood before it. `saved` are the tokens that edits made on
    arrival save in the view that comes back.
    """

    log: Log
    previous: Epoch | None
    saved: int = 0


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The summary call under way was given up."""

    ticket: int = 0


@dataclass(frozen=True, slots=True)
class Closing:
    pass


Event: TypeAlias = (
    Appended | Asked | CompactRequested | Reported | SummaryArrived | SummaryFailed | Committed | CommitRefused | Undone
    | Cancelled | Closing
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask a model to write the handoff: every prompt in turn, each answer put into the next one's place."""

    prompts: tuple[str, ...]
    max_tokens: int
    attempt: Attempt
    background: bool
    ticket: int = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """Make the epoch durable, if nobody else was faster."""

    epoch: Epoch


@dataclass(frozen=True, slots=True)
class Refused:
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Say:
    """A sentence for the user: what happened, and what to do."""

    text: str
    level: str = "info"


Effect: TypeAlias = CallModel | Commit | Refused | Say
