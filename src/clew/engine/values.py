"""The values the engine works on: settings, base, drafts, epochs, refusals, and the state itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Literal, TypeAlias

from clew.boundaries import Cut
from clew.handoff.receipt import Receipt
from clew.handoff.record import Record
from clew.handoff.template import Sections
from clew.ledger.facts import Ledger
from clew.strategies.base import Edit
from clew.transcript import Message, Span

Attempt: TypeAlias = Literal["aux", "main"]
NO_SECTIONS = Sections()
EMPTY_RECORD = Record()
NOWHERE = Span(0, 0)
NO_EDITS: Mapping[int, tuple[Edit, ...]] = MappingProxyType({})


class Phase(Enum):
    """Where the machine stands between two events."""

    IDLE = "idle"
    SUMMARISING = "summarising"
    COMMITTING = "committing"
    CLOSED = "closed"


class Urgency(Enum):
    """Why an epoch is wanted; it decides what a failure means."""

    PRICED = "priced"  # it has paid for itself: may be put off
    THRESHOLD = "threshold"  # the setting asks for it: may be put off
    MANUAL = "manual"  # someone asked: refusals are reported
    MUST_FIT = "must fit"  # at the wall: whatever works now is used

    @property
    def may_wait(self) -> bool:
        return self in (Urgency.PRICED, Urgency.THRESHOLD)


@dataclass(frozen=True, slots=True)
class Length:
    """How long a model's handoff may be: a share of what it stands for, within bounds; and what the call may use up."""

    ratio: float = 0.20
    least: int = 2_000
    share: float = 0.05  # of the window, at most
    most: int = 12_000
    headroom: float = 1.3  # of the budget: the call's limit of output

    def budget(self, content: int, window: int) -> int:
        """Tokens for a handoff that stands for so much content."""
        return max(self.least, min(int(self.ratio * content), int(self.share * window), self.most))


@dataclass(frozen=True, slots=True)
class Limits:
    """What the engine is told of the window, the price and the rules; all of it from configuration and catalog."""

    window: int
    max_output: int = 0
    overhead: int = 0  # tokens every request carries outside the messages: system and tools
    threshold: float = 0.5
    floor: int = 0  # no threshold under this many tokens (the seeds have 64,000; off by default)
    ceiling: int = 0  # no threshold over this many; 0 for none
    target_ratio: float = 0.20
    protect_first: int = 3
    protect_last: int = 20
    least_tail: int = 3  # messages that stay at the end, whatever they cost
    ceiling_tail: float = 1.5  # of the tail's budget: so far it is passed for the sake of the last request and reply
    min_saving: float = 0.10  # of the view: an epoch that saves less is a strike
    strikes: int = 2  # after so many in a row the engine tightens and says so
    length: Length = Length()
    ledger_budget: int = 0  # tokens of a handoff by the ledger; 0 to choose them from the window
    enabled: bool = True
    priced: bool = True
    read: float = 0.1  # price of a cached token, in uncached ones
    write: float = 1.25
    cache_ttl: float = 300.0
    model: bool = False  # whether a summariser is configured
    main_differs: bool = False  # whether the main model is another one, or has other credentials
    abort_on_failure: bool = False
    summary_window: int = 0  # of the summariser; 0 where it isn't known
    system_note: bool = False
    prepare_ahead: float = 0.0  # share of the threshold at which a model prepares a handoff in the background; 0 never
    recall: str = ""  # how originals are printed here; "" where nothing can

    @property
    def hard(self) -> int:
        """Tokens the messages may take at most, whatever happens."""
        return self.window - self.max_output - self.overhead

    @property
    def soft(self) -> int:
        """Tokens of messages at which the setting asks for an epoch."""
        wanted = max(int(self.threshold * self.hard), min(self.floor, self.hard) - self.overhead)
        return min(wanted, self.hard, self.ceiling or self.hard)


@dataclass(frozen=True, slots=True)
class Base:
    """The current epoch's rendered beginning: these messages stand for everything before `tail`; the log is shown from
    there on, with these edits.
    """

    messages: tuple[Message, ...] = ()
    tail: int = 0
    edits: Mapping[int, tuple[Edit, ...]] = field(default_factory=lambda: NO_EDITS)
    tokens: int = 0
    handoff: Span = NOWHERE  # of `messages`
    head: int = 0  # messages of the log that stand before the handoff as they are
    at: int = 0  # the log's length when it was made: messages from there on show what was edited on their arrival
    cut: int = 0  # the first message no handoff holds: before `tail` where the tail's first was merged into `messages`


EMPTY_BASE = Base()


@dataclass(frozen=True, slots=True)
class Draft:
    """An epoch thought out, before anyone wrote or checked its handoff."""

    number: int
    urgency: Urgency
    level: int
    span: Span  # of the log: what goes into the handoff now
    head: int
    cut: Cut
    ledger: Ledger
    budget: int
    focus: str = ""
    now: str = ""  # the date, as the handoff writes it
    prompts: tuple[str, ...] = ()
    attempt: Attempt = "aux"
    ticket: int = 0  # of the call under way: an answer with another one is an answer to a call that was given up
    background: bool = False  # nothing waits for it


@dataclass(frozen=True, slots=True)
class Written:
    """What stands for the middle: the texts in order, and what the state keeps of them."""

    texts: tuple[str, ...]
    record: Record
    sections: Sections
    by: str
    page: str = ""  # facts that stand behind one reference
    numbered: tuple[str, ...] = ()  # open requests that only their number stands for


@dataclass(frozen=True, slots=True)
class Prepared:
    """A handoff that a model wrote ahead of the wall. It stands for its draft's span, as long as no epoch came between."""

    draft: Draft
    written: Written
    verdict: Receipt  # what the check did to the model's text; no more than that is filled in


@dataclass(frozen=True, slots=True)
class Epoch:
    """A batch of edits applied together, with its handoff, receipt and price. `at` is the log's length then."""

    number: int
    at: int
    urgency: Urgency
    span: Span
    base: Base
    edits: tuple[Edit, ...]
    handoff: str
    sections: Sections
    receipt: Receipt
    written_by: str
    focus: str = ""
    repairs: tuple[str, ...] = ()
    record: Record = EMPTY_RECORD
    level: int = 0
    page: str = ""  # facts that one reference of the handoff stands for


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there was no epoch, in a sentence; the transcript and the view are as they were."""

    reason: str
    kind: Literal["nothing", "larger", "lost", "failed", "off", "busy", "too small"]
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What the summariser's failures have led to."""

    until: float = 0.0  # no summary call before this moment
    kind: str = ""
    error: str = ""
    aux_failed: str = ""  # the auxiliary model's error, where the main one stepped in
    fallback: bool = False  # the last handoff was the ledger's though a model was asked
    dropped: int = 0  # messages whose handoff no model wrote, though one was asked
    timeouts: int = 0  # in a row


NO_TROUBLE = Trouble()


@dataclass(frozen=True, slots=True)
class State:
    """Counters, the ledger and the current epoch's base. Everything the engine remembers."""

    limits: Limits
    phase: Phase = Phase.IDLE
    length: int = 0
    tail_tokens: int = 0
    recent: tuple[int, ...] = ()  # tokens of the newest messages, which stay whatever they cost
    base: Base = EMPTY_BASE
    number: int = 0
    previous: Sections = NO_SECTIONS
    record: Record = EMPTY_RECORD
    rent: float = 0.0  # ski rental: what re-reading the removable tokens has cost since the last epoch
    strikes: int = 0
    level: int = 0
    reported: int = 0  # prompt tokens the provider last said, 0 before it said any
    reported_view: int = 0  # what we had counted for that request
    after_epoch: int = 0  # tokens of the view right after the last epoch
    last_request: float = 0.0
    calls: int = 0  # summary calls so far: the next one's ticket
    pending: Draft | None = None
    prepared: Prepared | None = None
    epoch: Epoch | None = None  # being committed
    trouble: Trouble = NO_TROUBLE
    refused_at: int = -1  # the log's length at the last refusal: not tried again before it grew
    said: str = ""

    @property
    def view_tokens(self) -> int:
        return self.base.tokens + self.tail_tokens
