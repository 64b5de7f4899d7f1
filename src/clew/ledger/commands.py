"""Commands: their text, exit code and outcome; one that runs on is followed until it ends."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from clew.ledger.facts import Command, TestRun
from clew.ledger.heard import declined
from clew.ledger.outcome import bounded, outcome
from clew.ledger.shell import Simple, simple_commands
from clew.ledger.tools import Action, Output

# Said at the end of an output whose exit code a pipe, `|| true` or `; echo` has swallowed.
_HIDDEN = re.compile(
    r"^(?:FAIL\b(?!:)|FAILED\b|make(?:\[\d+\])?: \*\*\* .*|error: could not compile\b.*|npm ERR! .*|npm error (?:code|command failed|Lifecycle script|Test failed).*|Command aborted|\[\w[\w:-]*\] ERROR task failed.*"
    r"|ELIFECYCLE.*|.*ELIFECYCLE.*|exit status [1-9]\d*|(?:EXIT|exit|rc|EXIT_CODE)[=: ]+[1-9]\d*|fatal: .*|.*: command not found"
    r"|BUILD FAILED.*|Error: Process completed with exit code [1-9].*|Command failed.*|error: script \"[^\"]*\" exited with code [1-9]\d*)\s*$",
    re.MULTILINE,
)
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ended:
    """A command with its result: what other extractors read it from."""

    command: Command
    parts: tuple[Simple, ...]
    output: Output
    run: TestRun | None


class Commands:
    def __init__(self) -> None:
        self.facts: list[Command] = []
        self._sessions: dict[str, int] = {}

    def ended(self, source: int, position: int, action: Action, output: Output, run: TestRun | None) -> Ended | None:
        """A call ended. Feeding a running command tells of that command, and is none of its own."""
        at = self._sessions.get(action.session) if action.session else None
        text = action.command
        if not text and at is None:
            return None
        parts = simple_commands(text if at is None else self.facts[at].text)
        told = output.failed and (not (output.guessed and _only_prints(parts)) or declined(output.text))
        failed = told or (not run.ok if run is not None else hidden_failure(output, parts))
        came = replace(output, failed=failed) if failed != output.failed else output
        if at is None:
            fact = Command(text, source, action.tool)
            at = len(self.facts)
            self.facts.append(fact)
        fact = replace(
            self.facts[at],
            exit_code=output.exit_code,
            outcome=outcome(came, run),
            failed=failed,
            lines=output.lines,
            result=position,
        )
        self.facts[at] = fact
        if output.session:
            self._sessions[output.session] = at
        if not output.running and action.session:
            self._sessions.pop(action.session, None)
        return Ended(fact, parts, came, run)

    def corrected(self, ended: Ended, run: TestRun) -> Ended:
        """The same with the test run that its whole output turned out to hold."""
        at = next(i for i in range(len(self.facts) - 1, -1, -1) if self.facts[i] is ended.command)
        output = replace(ended.output, failed=ended.output.failed or not run.ok)
        self.facts[at] = replace(ended.command, failed=output.failed, outcome=outcome(output, run))
        return Ended(self.facts[at], ended.parts, output, run)


def hidden_failure(output: Output, parts: tuple[Simple, ...]) -> bool:
    """Whether an output says that it failed though no exit code does."""
    if output.failed or output.running or not parts:
        return False
    if _only_prints(parts):
        return False
    tail = bounded(output.text)[-1_500:]
    lines = tail.rstrip().split("\n")[-6:]
    piped = any(c.joined_by in ("|", "||", ";") for c in parts) or output.exit_code is None
    if not piped:
        return False
    last = "\n".join(lines)
    return _HIDDEN.search(last) is not None or (_TRACEBACK.search(tail) is not None and _ends_in_error(lines))


def _only_prints(parts: tuple[Simple, ...]) -> bool:
    """Whether the script only shows what stands somewhere: a text that speaks of failures is no failure."""
    return all(c.program in _PRINTS for c in parts if c.words)


def _ends_in_error(lines: list[str]) -> bool:
    return re.match(r"(?:[\w.]+\.)?\w*(?:Error|Exception|Interrupt|Exit)\b", lines[-1]) is not None


_PRINTS = frozenset(
    {
        "cat",
        "ls",
        "find",
        "grep",
        "rg",
        "sed",
        "head",
        "tail",
        "echo",
        "cd",
        "nl",
        "wc",
        "awk",
        "jq",
        "git",
        "sort",
        "gh",
        "curl",
    }
)
