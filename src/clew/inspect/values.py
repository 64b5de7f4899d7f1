"""What an inspection found, as frozen values that pickle and turn into JSON.

Tokens come twice everywhere: `tokens` counts a thing once, `sent` counts it once for each request that carried it.
`sent` is what is billed, and what the window has to hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["system", "tools", "user", "summary", "assistant", "reasoning", "call", "result", "unseen"]
KINDS: tuple[Kind, ...] = (
    "unseen", "system", "tools", "summary", "user", "assistant", "reasoning", "call", "result",
)  # fmt: skip
KIND_NAMES: dict[Kind, str] = {
    "unseen": "not in the file",
    "system": "system prompt",
    "tools": "tool definitions",
    "summary": "compaction summaries",
    "user": "user",
    "assistant": "assistant text",
    "reasoning": "reasoning",
    "call": "tool calls",
    "result": "tool results",
}


@dataclass(frozen=True, slots=True)
class Share:
    """One row of a breakdown: `count` parts of the conversation with that name."""

    name: str
    count: int
    tokens: int
    sent: int


@dataclass(frozen=True, slots=True)
class Touched:
    """What went into one file: how often it was read and changed, and the tokens of all that."""

    path: str
    reads: int
    changes: int
    tokens: int
    sent: int


@dataclass(frozen=True, slots=True)
class Heavy:
    """One large part of a message. `requests` is how many carried it."""

    kind: Kind
    tool: str
    target: str
    chain: str
    message: int
    line: int
    tokens: int
    requests: int
    sent: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same thing asked for again. `same` of the `times` brought, word for word, what an earlier one had brought;
    `tokens` and `sent` are those copies'.
    """

    kind: str
    target: str
    times: int
    same: int
    total: int
    tokens: int
    sent: int


@dataclass(frozen=True, slots=True)
class Point:
    """One request: its number, its prompt, and the prompt by kind in the order of `KINDS`."""

    request: int
    prompt: int
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction the client made itself, before request number `request`."""

    request: int
    kind: str
    trigger: str
    before: int
    after: int
    line: int
    chain: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """The tokens of all requests by price, in USD."""

    requests: int = 0
    read: int = 0
    written: int = 0
    uncached: int = 0
    output: int = 0
    input_cost: float = 0.0
    cost: float = 0.0

    @property
    def input(self) -> int:
        return self.read + self.written + self.uncached


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that paid again for what the cache had held. `reason` says why, as far as the file tells."""

    request: int
    tokens: int
    cost: float
    reason: str
    idle: float | None = None


@dataclass(frozen=True, slots=True)
class Costs:
    """`paid` is from recorded usage (`source` "recorded") or the cache model's forecast ("forecast"). `forecast` is the
    model's figure for the same requests either way; `uncached` what they would cost without any cache.
    """

    source: Literal["recorded", "forecast"]
    paid: Cost
    forecast: Cost
    uncached: Cost
    misses: tuple[Miss, ...] = ()
    missed: int = 0
    missed_tokens: int = 0
    missed_cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a secret stands, with its mask."""

    mask: str
    where: str
    line: int


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of one family: `count` occurrences of `distinct` different ones, and the first places."""

    family: str
    count: int
    distinct: int
    places: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True)
class Breach:
    """A breach of the protocol. `message` counts from 0 in its chain; `line` is 0 where the file has no lines."""

    code: str
    sentence: str
    message: int
    line: int
    chain: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence worth acting on; `weight` orders them, `kind` names what it is about."""

    kind: str
    sentence: str
    weight: float


@dataclass(frozen=True, slots=True)
class Inspection:
    """One session file, looked through."""

    path: str
    bytes: int
    format: str
    wire: str
    model: str
    model_source: Literal["named", "file", "assumed"]
    window: int
    session_id: str = ""
    title: str = ""
    chains: int = 1
    messages: int = 0
    turns: int = 0
    requests: int = 0
    reported: int = 0
    tokens: int = 0
    sent: int = 0
    peak: int = 0
    peak_request: int = 0
    by_kind: tuple[Share, ...] = ()
    by_tool: tuple[Share, ...] = ()
    by_file: tuple[Touched, ...] = ()
    files_touched: int = 0
    heaviest: tuple[Heavy, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    copies: int = 0
    repeated_tokens: int = 0
    repeated_sent: int = 0
    old_sent: int = 0
    growth: tuple[Point, ...] = ()
    costs: Costs = field(default_factory=lambda: Costs("forecast", Cost(), Cost(), Cost()))
    secrets: tuple[Secrets, ...] = ()
    problems: tuple[Breach, ...] = ()
    problem_counts: tuple[tuple[str, int], ...] = ()
    compactions: tuple[Compacted, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    headline: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def secret_count(self) -> int:
        return sum(s.count for s in self.secrets)

    @property
    def problem_count(self) -> int:
        return sum(n for _, n in self.problem_counts)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that gave nothing, why, and what to do."""

    path: str
    sentence: str
    hint: str = ""


Outcome: TypeAlias = Inspection | Unreadable


@dataclass(frozen=True, slots=True)
class Options:
    """What the user said about the files; nothing of it is needed."""

    format: str | None = None
    model: str | None = None
    window: int | None = None
    points: int = 600
