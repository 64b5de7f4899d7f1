"""Errors: the exact line, open until the same thing succeeds or the same command runs without it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from clew.jsonio import Json
from clew.ledger.commands import Ended
from clew.ledger.facts import ErrorFact
from clew.ledger.heard import declined
from clew.ledger.outcome import bounded, error_line, last_line
from clew.ledger.shell import LOOKS, keys
from clew.ledger.testscope import scope_of
from clew.ledger.tools import Action, Output

_LONGEST = 400
_EACH = 6  # failing tests of one run, and errors of one paste, that are kept
# What a user pasted: a failing test or an exception by name, and lines that only begin with a word for trouble.
_PASTED_NAMED = (
    r"--- FAIL: .*|(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b: .*|FAILED \S+::.*|Uncaught \w+.*|error\[E\d+\]: .*"
)
_NAMED = re.compile(rf"^\s*(?:{_PASTED_NAMED})$", re.MULTILINE)
_PASTED = re.compile(rf"^\s*(?:{_PASTED_NAMED}|(?:fatal|error|panic|Error|ERROR): .*|npm ERR! .*)$", re.MULTILINE)
_DOCUMENT = 2_500  # characters from which a message is a report that quotes logs: only names count there
# What stays broken until it is seen to work, whatever the agent says; other commands are only ways to something.
_CHECKS = re.compile(
    r"test|lint|build|check|vet|tsc|mypy|ruff|eslint|clippy|compile|jest|nox|tox|rspec|make|cargo|mvn|gradle|deploy|push|install|migrate"
)
_NO_PROGRAM = re.compile(r"command not found|is not recognized as|not found in PATH")
_PACKAGE = re.compile(r"FAIL\s+(\S+)\s+\[(?:build|setup) failed\]")
_ID_KEYS = re.compile(r"(?:^|_)(?:id|number|code|email|name|path|url)$")


@dataclass(slots=True)
class _Open:
    """An open error: which, what it came from, and the test it is of."""

    index: int
    origin: frozenset[str]
    test: str = ""


class Errors:
    """The errors of one conversation, and which of them are open."""

    def __init__(self) -> None:
        self.facts: list[ErrorFact] = []
        self._open: dict[str, _Open] = {}  # by its text
        self._missed: set[str] = set()  # looks that failed once: only the same again is an error
        self._given_up: list[_Open] = []
        self._worked = -1  # the newest message at which anything succeeded

    def command(self, position: int, ended: Ended) -> None:
        """A command ended: its errors are new, or it closes those of earlier runs."""
        if ended.output.running:
            return
        origin, failed = keys(ended.parts), ended.command.failed
        lines = _lines(ended) if failed else []
        if not failed:
            self._worked = position
        scope = scope_of(ended.parts, ended.run, bounded(ended.output.text)) if ended.run is not None else None
        still = {text for text, _ in lines}
        for text, o in list(self._open.items()):
            if text in still:
                continue
            if o.test and scope is not None:
                over = scope.passed(o.test)
            elif o.test:
                over = False
            else:
                over = bool(o.origin & origin) or (not failed and _NO_PROGRAM.search(text) is not None)
            if over:
                self._close(text, position)
        if failed and not all(c.program in LOOKS for c in ended.parts if c.words):
            for text, test in lines:
                self._add(text, position, origin, test)

    def tool(self, position: int, action: Action, output: Output, arguments: Json) -> None:
        """Another tool ended."""
        if action.kind in ("think", "todo", "ask"):
            return
        origin = frozenset(_origins(action, arguments))
        if not output.failed:
            self._worked = position
            self._missed -= origin
            for text, o in list(self._open.items()):
                if o.origin & origin:
                    self._close(text, position)
            return
        if declined(output.text):
            return
        if action.kind in ("read", "search", "fetch") and not origin & self._missed:
            self._missed |= origin
            return
        text = error_line(output.text) or output.text.strip().split("\n")[0].strip()
        if text:
            self._add(text[:_LONGEST], position, origin, "")

    def user(self, position: int, text: str) -> None:
        """Errors a user pasted: open until that message is answered or the same test passes."""
        pattern = _PASTED if len(text) < _DOCUMENT else _NAMED
        for i, m in enumerate(pattern.finditer(bounded(text))):
            if i >= _EACH:
                break
            name = re.match(r"\s*--- FAIL: (\S+)", m.group())
            self._add(m.group().strip()[:_LONGEST], position, frozenset({f"user {position}"}), name[1] if name else "")

    def answered(self, sources: tuple[int, ...], position: int) -> None:
        """The agent gave its reply: what users pasted is dealt with, and a command that failed on the way to something
        that then worked was given up. Tests, builds and checks that failed stay open.
        """
        self._given_up = []
        asked = {f"user {source}" for source in sources}
        for text, o in list(self._open.items()):
            pasted = any(k.startswith("user ") for k in o.origin)
            lasting = o.test or any(_CHECKS.search(k) for k in o.origin)
            passing = not pasted and not lasting and self.facts[o.index].source < self._worked
            if o.origin & asked or passing:
                self._close(text, position)
                self._given_up.append(o)

    def went_on(self) -> None:
        """What looked like the agent's reply was none: nothing was given up."""
        for o in self._given_up:
            fact = self.facts[o.index]
            self.facts[o.index] = replace(fact, resolved_by=-1)
            self._open.setdefault(fact.text, o)
        self._given_up = []

    def _add(self, text: str, position: int, origin: frozenset[str], test: str) -> None:
        known = self._open.get(text)
        if known is None and test:
            known = next((o for o in self._open.values() if o.test == test), None)
        if known is not None:
            known.origin |= origin
            return
        self._open[text] = _Open(len(self.facts), origin, test)
        self.facts.append(ErrorFact(text, position, " | ".join(sorted(origin))))

    def _close(self, text: str, position: int) -> None:
        o = self._open.pop(text)
        self.facts[o.index] = replace(self.facts[o.index], resolved_by=position)


def _lines(ended: Ended) -> list[tuple[str, str]]:
    """The lines to keep of a failed command, each with the test it is of."""
    text, run = ended.output.text, ended.run
    if run is not None and run.failing:
        told = bounded(text).split("\n")
        return [(_line_of(name, told)[:_LONGEST], name) for name in run.failing[:_EACH]]
    if declined(text):
        return []
    line = error_line(text) or last_line(text)
    package = _PACKAGE.match(line)
    return [(line[:_LONGEST], package[1] if package is not None else "")] if line else []


def _line_of(name: str, lines: Iterable[str]) -> str:
    return next((s.strip() for s in lines if name in s and _SAYS_FAILED.search(s)), name)


_SAYS_FAILED = re.compile(r"FAIL|ERROR|not ok|fail|●|×|✕|rspec")


def _origins(action: Action, arguments: Json) -> list[str]:
    if action.kind in ("edit", "write", "patch"):
        return [f"edit {p}" for p in action.paths] or [f"edit {action.tool}"]
    if isinstance(arguments, dict):
        ids = [f"{action.tool} {v}" for k, v in arguments.items() if _ID_KEYS.search(k) and isinstance(v, (str, int))]
        if ids:
            return ids[:1]
    return [action.tool]
