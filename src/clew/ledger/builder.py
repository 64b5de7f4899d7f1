"""The ledger of one conversation, built as its messages arrive: O(new) a message, never a look back over the log."""

from __future__ import annotations

import re

from clew.jsonio import Json
from clew.ledger.commands import Commands
from clew.ledger.constraints import Constraints
from clew.ledger.decisions import Decisions
from clew.ledger.errors import Errors
from clew.ledger.facts import Ledger, TestRun
from clew.ledger.files import Files
from clew.ledger.foreign import recognise
from clew.ledger.heard import answers, objection
from clew.ledger.requests import Requests, spoken_by_user
from clew.ledger.tasks import Tasks
from clew.ledger.tests_ import parse
from clew.ledger.tools import Action, Output, classify, unwrap
from clew.ledger.values import Values
from clew.ledger.workspace import Place as Whereabouts
from clew.transcript import Message, Place, Text, ToolCall, ToolResult, Transcript


class Builder:
    """Call `observe` for every message right after it was appended; `ledger()` is a snapshot that never changes."""

    def __init__(self) -> None:
        self._requests = Requests()
        self._constraints = Constraints()
        self._files = Files()
        self._commands = Commands()
        self._errors = Errors()
        self._decisions = Decisions()
        self._values = Values()
        self._tasks = Tasks()
        self._place = Whereabouts()
        self._tests: list[TestRun] = []
        self._waiting: dict[Place, tuple[Action, Json]] = {}
        self._seen = 0

    def observe(self, position: int, message: Message, transcript: Transcript) -> None:
        """Take the message at `position` in."""
        self._seen = position + 1
        if message.role in ("system", "developer"):
            self._place.told(message.text)
            return
        for i, part in enumerate(message.parts):
            if isinstance(part, ToolResult):
                self._result(position, part, transcript.call_of(Place(position, i)))
        if message.is_user_turn:
            self._user(position, message)
        elif message.role == "assistant":
            self._assistant(position, message)

    def ledger(self) -> Ledger:
        return Ledger(
            requests=tuple(self._requests.facts),
            constraints=tuple(self._constraints.facts),
            files=self._files.facts(),
            commands=tuple(self._commands.facts),
            tests=tuple(self._tests),
            errors=tuple(self._errors.facts),
            decisions=tuple(self._decisions.facts),
            values=self._values.facts(),
            tasks=self._tasks.facts(),
            workspace=self._place.facts(),
            seen=self._seen,
        )

    def _user(self, position: int, message: Message) -> None:
        spoken = spoken_by_user(message)
        self._place.told(spoken)
        text = self._requests.user(position, message)
        if self._requests.went_on:
            self._errors.went_on()
        if recognise(spoken) is not None:
            return
        if text:
            self._constraints.user(position, text)
        elif rules := _standing(spoken):
            self._constraints.user(position, rules, standing=True)
        if text:
            self._decisions.user(position, text)
            self._errors.user(position, text)
            self._values.observe(position, text, "user")

    def _assistant(self, position: int, message: Message) -> None:
        text = "\n".join(p.text for p in message.parts if isinstance(p, Text))
        self._requests.assistant(position, text, calls=bool(message.calls))
        if self._requests.went_on:
            self._errors.went_on()
        if self._requests.just_closed:
            self._errors.answered(self._requests.just_closed, position)
        if text:
            self._decisions.assistant(position, text)
            self._values.observe(position, text, "agent")
        for i, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                given = part.input
                self._waiting[Place(position, i)] = (classify(part), given)
                self._values.observe(position, part.arguments, "call")

    def _result(self, position: int, part: ToolResult, call: Place | None) -> None:
        known = self._waiting.pop(call, None) if call is not None else None
        output = unwrap(part)
        self._values.observe(position, output.text, "result")
        if known is None or call is None:
            return
        action, given = known
        self._heard(position, output.text)
        if action.tool.lower() == "skill":
            self._requests.skill()
        directory = action.directory or self._place.directory
        if action.kind == "command":
            self._command(position, call, action, output, directory)
            return
        self._files.tool(position, action, output, directory)
        self._errors.tool(position, action, output, given)
        if action.kind == "todo":
            self._tasks.call(position, given, output.text[:300])

    def _heard(self, position: int, result: str) -> None:
        """Take in what the user said by way of a result: there is no user message that says it."""
        said = objection(result)
        if said:
            self._requests.heard(position, said)
            self._constraints.user(position, said)
            self._decisions.user(position, said)
        for answer in answers(result):
            self._decisions.answered(position, answer.text)
            self._constraints.user(position, answer.said)

    def _command(self, position: int, call: Place, action: Action, output: Output, directory: str) -> None:
        run = parse(action.command, call.message, output) if action.command else None
        ended = self._commands.ended(call.message, position, action, output, run)
        if ended is None:
            return
        if run is None and not action.command and not output.running:
            run = parse(ended.command.text, ended.command.source, output)
            if run is not None:
                ended = self._commands.corrected(ended, run)
        if run is not None:
            self._tests.append(run)
        self._files.command(position, ended.parts, ended.output, directory)
        self._errors.command(position, ended)
        self._place.command(ended, action.directory)


def _standing(spoken: str) -> str:
    """Standing instructions that a client sent in the user's name (AGENTS.md, rules), without its other notes."""
    found = re.search(
        r"<INSTRUCTIONS>(.*?)</INSTRUCTIONS>|<user_instructions>(.*?)</user_instructions>|<rules>(.*?)</rules>",
        spoken,
        re.DOTALL,
    )
    return next((g for g in found.groups() if g), "") if found is not None else ""


def of(transcript: Transcript) -> Ledger:
    """The ledger of a whole transcript."""
    builder = Builder()
    for i, message in enumerate(transcript):
        builder.observe(i, message, transcript)
    return builder.ledger()
