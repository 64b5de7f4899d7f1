"""The typed facts a ledger keeps, each with the message it came from. Values; nothing here reads a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

RequestStatus: TypeAlias = Literal["open", "answered", "withdrawn"]
Verb: TypeAlias = Literal["read", "created", "modified", "deleted", "renamed"]


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asked, verbatim. `answer` is the first line of the reply that closed it."""

    text: str
    source: int
    status: RequestStatus = "open"
    answer: str = ""
    answered_at: int = -1


@dataclass(frozen=True, slots=True)
class Constraint:
    """A sentence that binds later work, verbatim. `topic` is what a later one must share to supersede it."""

    text: str
    source: int
    kind: Literal["constraint", "preference"] = "constraint"
    topic: str = ""
    superseded_by: int = -1

    @property
    def current(self) -> bool:
        return self.superseded_by < 0


@dataclass(frozen=True, slots=True)
class FileAction:
    """One thing done to a file; `lines` is the range touched or shown, (0, 0) where it isn't known."""

    verb: Verb
    source: int
    lines: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class FileFact:
    path: str
    actions: tuple[FileAction, ...]

    @property
    def source(self) -> int:
        return self.actions[-1].source

    @property
    def changed(self) -> bool:
        return any(a.verb != "read" for a in self.actions)


@dataclass(frozen=True, slots=True)
class Command:
    """A command that ran. `exit_code` is None where nothing said it; `outcome` is one line of what came back."""

    text: str
    source: int
    tool: str = ""
    exit_code: int | None = None
    outcome: str = ""
    failed: bool = False
    lines: int = 0
    result: int = -1


@dataclass(frozen=True, slots=True)
class TestRun:
    """Counts as the runner printed them, and the names of what failed."""

    __test__ = False  # pytest would take the name for a test class

    command: str
    source: int
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failing: tuple[str, ...] = ()
    ok: bool = False  # nothing failed, by the counts, the exit code and the runner's own words


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """An error's exact line. It is resolved by the message at which the same thing succeeded."""

    text: str
    source: int
    origin: str = ""
    resolved_by: int = -1

    @property
    def open(self) -> bool:
        return self.resolved_by < 0


@dataclass(frozen=True, slots=True)
class Decision:
    text: str
    source: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A port, version, id, URL, amount: `name` says of what, where the text says it."""

    text: str
    source: int
    name: str = ""
    kind: str = ""
    uses: int = 1


@dataclass(frozen=True, slots=True)
class Task:
    """A line of a to-do list the agent keeps."""

    text: str
    source: int
    done: bool = False


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where the work stands, each with what is last known of it."""

    directory: str = ""
    branch: str = ""
    commit: str = ""
    processes: tuple[str, ...] = ()


Fact: TypeAlias = Request | Constraint | FileFact | Command | TestRun | ErrorFact | Decision | Value | Task


@dataclass(frozen=True, slots=True)
class Ledger:
    """Everything known at a moment: a value, replaced when messages are observed."""

    requests: tuple[Request, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    files: tuple[FileFact, ...] = ()
    commands: tuple[Command, ...] = ()
    tests: tuple[TestRun, ...] = ()
    errors: tuple[ErrorFact, ...] = ()
    decisions: tuple[Decision, ...] = ()
    values: tuple[Value, ...] = ()
    tasks: tuple[Task, ...] = ()
    workspace: Workspace = Workspace()
    seen: int = 0

    @property
    def open_requests(self) -> tuple[Request, ...]:
        return tuple(r for r in self.requests if r.status == "open")

    @property
    def current_constraints(self) -> tuple[Constraint, ...]:
        return tuple(c for c in self.constraints if c.current)

    @property
    def open_errors(self) -> tuple[ErrorFact, ...]:
        return tuple(e for e in self.errors if e.open)
