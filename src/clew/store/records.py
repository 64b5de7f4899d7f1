"""What a store keeps, as frozen values. No backend's own words or row numbers appear in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from clew.jsonio import Json
from clew.transcript import Message

NO_EXTRA: Mapping[str, Json] = MappingProxyType({})

KINDS = ("new", "branch", "compression", "subagent", "review", "import")


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session to be. `shared` is how many of the parent's first messages it begins with; they are not copied.
    `kind` says why it exists, one of `KINDS`; `created` when it began, where that wasn't now.
    """

    id: str
    source: str = ""
    model: str = ""
    title: str = ""
    goal: str = ""
    workspace: str = ""
    kind: str = "new"
    parent: str = ""
    shared: int = 0
    extra: Mapping[str, Json] = field(default_factory=lambda: NO_EXTRA)
    created: float | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A stored session. `length` counts its messages with the shared ones, `chain` is the hash of them all,
    `root` the id its lineage began with, `inherited` how many of its epochs are an ancestor's. `end_reason` is "" while it
    goes on, else a word such as compression, branched, reset or done.
    """

    id: str
    tenant: str
    source: str
    model: str
    title: str
    goal: str
    workspace: str
    kind: str
    parent: str
    shared: int
    inherited: int
    root: str
    created: float
    updated: float
    length: int
    chain: str
    end_reason: str
    ended: float
    extra: Mapping[str, Json]

    @property
    def active(self) -> bool:
        return not self.end_reason


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions. An empty field doesn't filter; `since` and `until` bound the time of the last change."""

    source: str = ""
    without_sources: tuple[str, ...] = ()
    model: str = ""
    workspace: str = ""
    root: str = ""
    parent: str = ""
    kind: str = ""
    id_prefix: str = ""
    title: str = ""
    active: bool | None = None
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A message where it stands. `owner` is the session that wrote it: an ancestor's for a shared prefix.
    `address` stays that of the message as it arrived, even after a leaked secret was masked in it.
    """

    position: int
    message: Message
    address: str
    chain: str
    time: float
    owner: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Appended:
    """Where an append ended: the session's length and chain afterwards, and how many messages were new."""

    length: int
    chain: str
    new: int


@dataclass(frozen=True, slots=True)
class Event:
    """One logged event of a session, numbered from 1 without gaps."""

    sequence: int
    kind: str
    time: float
    body: Json


@dataclass(frozen=True, slots=True)
class Epoch:
    """A committed compaction: what it replaced ends before `position`, where the chain hash was `base_chain`.
    The body is the engine's own: edits, handoff, receipt, price.
    """

    number: int
    base_chain: str
    position: int
    body: Json
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to compact a session. `token` grows with every change of holder, so an old holder is told apart."""

    session: str
    holder: str
    token: int
    expires: float


@dataclass(frozen=True, slots=True)
class Original:
    """What a reference stands for. Where the text is a part of a stored message, naming `position` and `part`
    stores a pointer instead of the text again.
    """

    address: str
    text: str
    position: int = -1
    part: int = -1


@dataclass(frozen=True, slots=True)
class State:
    """A value kept by name at a position: a ledger snapshot, a counter set."""

    key: str
    position: int
    body: Json


@dataclass(frozen=True, slots=True)
class Dump:
    """Everything one session owns, to be put into another store as it was."""

    session: Session
    messages: Sequence[Stored]
    events: Sequence[Event]
    epochs: Sequence[Epoch]
    originals: Sequence[Original]
    states: Sequence[State]
    usage: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Freed:
    """What a deletion freed, or would free."""

    sessions: int
    messages: int
    contents: int
    originals: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Purged:
    """Where a leaked value was masked, by the kind of place; in `left`, sentences on where it may still stand, and why."""

    places: Mapping[str, int]
    left: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.places.values())


@dataclass(frozen=True, slots=True)
class Info:
    """What a store is and holds."""

    url: str
    backend: str
    tenant: str
    version: int
    sessions: int
    messages: int
    contents: int
    originals: int
    epochs: int
    bytes: int
    features: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a check found. `fatal` means the store can't be trusted as it is."""

    what: str
    detail: str
    fatal: bool


@dataclass(frozen=True, slots=True)
class Repaired:
    """Where the damaged file stands now, and how many rows of each table were read from it;
    `dropped` messages stood behind a gap.
    """

    set_aside: Path
    rows: Mapping[str, int]
    dropped: int
