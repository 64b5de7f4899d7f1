"""What the agent did, a line a call: `ACTION target — outcome [tool: name]`."""

from __future__ import annotations

import re

from clew.handoff.excerpts import Seen
from clew.ledger import tests_
from clew.ledger.names import EDGE
from clew.ledger.outcome import error_line
from clew.ledger.tools import Action, Output, classify, one_line, unwrap
from clew.transcript import Place, ToolCall, ToolResult, Transcript

_VERBS = {
    "command": "RUN", "read": "READ", "write": "WRITE", "edit": "EDIT", "patch": "PATCH", "search": "SEARCH",
    "fetch": "FETCH", "todo": "PLAN", "delegate": "DELEGATE", "ask": "ASK", "think": "THINK", "other": "CALL",
}  # fmt: skip
_TARGET, _NAMED = 120, 60  # characters
_LONG_PATH = 3  # components of a path that is always shown whole
_PATH = re.compile(r"(?:[\w.@~-]*/)+[\w.@-]+")


def shortened(line: str, seen: Seen) -> str:
    """The line with long paths that the record has named before cut to their end."""

    def short(found: re.Match[str]) -> str:
        path = found.group()
        name = path.strip(EDGE)
        parts = path.split("/")
        if len(parts) <= _LONG_PATH or name not in seen.named:
            seen.named.add(name)
            return path
        return "…/" + "/".join(parts[-2:])

    return _PATH.sub(short, line)


def action_name(call: ToolCall) -> str:
    """`ACTION target`, for a line that only says whose result is quoted."""
    action = classify(call)
    tool = f"{call.name} " if action.kind == "other" and action.target else ""
    return f"{_VERBS[action.kind]} {tool}{one_line(_target(action), _NAMED)}"


def _target(action: Action) -> str:
    """What it was done to: of a look at what runs in the background, which that was."""
    return action.target or (f"session {action.session}" if action.session else action.tool)


def action_line(log: Transcript, place: Place, call: ToolCall) -> str:
    """`ACTION target — outcome [tool: name]`."""
    action = classify(call)
    at = log.result_of(place)
    part = log.part(at) if at is not None else None
    output = unwrap(part) if isinstance(part, ToolResult) else None
    verb = _VERBS[action.kind]
    target = one_line(_target(action), _TARGET)
    if action.lines[1]:
        target += f":{action.lines[0]}-{action.lines[1]}"
    return f"{verb} {target} — {outcome(action, output)} [tool: {call.name}]"


def outcome(action: Action, output: Output | None) -> str:
    """What came of it, in a few words: the exit code where one is known, the first error line where it failed."""
    if output is None:
        return "no result yet"
    if output.running:
        return "still running"
    size = f"{output.lines} line{'s' if output.lines != 1 else ''}"
    code = f"exit {output.exit_code}" if output.exit_code is not None else ""
    counted = _counts(action, output)
    if output.failed:
        first = error_line(output.text) or output.text.strip().split("\n")[0]
        return ", ".join(x for x in (code or "failed", counted or size) if x) + f": {one_line(first, 120)}"
    if action.kind in ("edit", "write", "patch", "todo"):
        return "done"
    return ", ".join(x for x in (code, counted or size) if x)


def _counts(action: Action, output: Output) -> str:
    """What a test run's own footer says."""
    run = tests_.parse(action.command, 0, output) if action.kind == "command" else None
    if run is None or not (run.passed or run.failed):
        return ""
    return f"{run.passed} passed" + (f", {run.failed} failed" if run.failed else "")
