"""Errors: the exact line, open until the same thing succeeds or the same command runs without it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from clew.ledger.commands import Ended
from clew.ledger.facts import ErrorFact
from clew.ledger.outcome import bounded, error_line, last_line
from clew.ledger.shell import LOOKS, keys
from clew.ledger.tools import Action, Output

_LONGEST = 400
_EACH = 6  # failing tests of one run that are kept by name
_PASSED = re.compile(r"^[ \t]*--- PASS: (\S+)", re.MULTILINE)
_DECLINED = re.compile(
    r"The user doesn't want to proceed|Request interrupted|\[Tool use rejected|operation was aborted|user rejected",
    re.IGNORECASE,
)
_PASTED = re.compile(
    r"^\s*(?:--- FAIL: .*|(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b: .*|(?:fatal|error|panic|Error|ERROR): .*|FAILED \S+::.*"
    r"|npm ERR! .*|Uncaught \w+.*|error\[E\d+\]: .*)$",
    re.MULTILINE,
)
_ID_KEYS = re.compile(r"(?:^|_)(?:id|number|code|email|name|path|url)$")


@dataclass(slots=True)
class _Open:
    index: int
    test: str = ""


class Errors:
    """The errors of one conversation. What is open is found by what it came from."""

    def __init__(self) -> None:
        self.facts: list[ErrorFact] = []
        self._open: dict[str, list[_Open]] = {}

    def command(self, position: int, ended: Ended) -> None:
        """A command ended: its errors are new, or it closes those of earlier runs."""
        if ended.output.running:
            return
        origin = keys(ended.parts)
        passed = set(_PASSED.findall(bounded(ended.output.text))) if ended.run is not None else set()
        lines = self._lines(ended) if ended.command.failed else []
        self._close(origin, position, still={text for text, _ in lines}, passed=passed, all_=not ended.command.failed)
        only_looks = all(c.program in LOOKS for c in ended.parts if c.words)
        if ended.command.failed and not only_looks:
            for text, test in lines:
                self._add(text, position, origin, test)

    def tool(self, position: int, action: Action, output: Output, arguments: object) -> None:
        """Another tool ended."""
        if action.kind in ("read", "search", "fetch", "think", "todo", "ask"):
            return
        origin = frozenset(_origins(action, arguments))
        if not output.failed:
            self._close(origin, position, still=set(), passed=set(), all_=True)
            return
        if _DECLINED.search(output.text[:300]) is not None:
            return
        text = (error_line(output.text) or output.text.strip().split("\n")[0])[:_LONGEST]
        if text:
            self._add(text, position, origin, "")

    def user(self, position: int, text: str) -> None:
        """Errors a user pasted: open until that message is answered."""
        for i, m in enumerate(_PASTED.finditer(bounded(text))):
            if i >= _EACH:
                break
            name = re.match(r"\s*--- FAIL: (\S+)", m.group())
            self._add(m.group().strip()[:_LONGEST], position, frozenset({f"user {position}"}), name[1] if name else "")

    def answered(self, sources: tuple[int, ...], position: int) -> None:
        for source in sources:
            self._close(frozenset({f"user {source}"}), position, still=set(), passed=set(), all_=True)

    def _lines(self, ended: Ended) -> list[tuple[str, str]]:
        text, run = ended.output.text, ended.run
        if run is not None and run.failing:
            plain = bounded(text)
            found = []
            for name in run.failing[:_EACH]:
                line = next(
                    (
                        s.strip()
                        for s in plain.split("\n")
                        if name in s and re.search(r"FAIL|ERROR|not ok|fail|●|×|✕|rspec", s)
                    ),
                    name,
                )
                found.append((line[:_LONGEST], name))
            return found
        line = error_line(text) or last_line(text)
        return [(line[:_LONGEST], "")] if line else []

    def _add(self, text: str, position: int, origin: frozenset[str], test: str) -> None:
        if any(self.facts[o.index].text == text for k in origin for o in self._open.get(k, ())):
            return
        at = _Open(len(self.facts), test)
        self.facts.append(ErrorFact(text, position, " | ".join(sorted(origin))))
        for key in origin:
            self._open.setdefault(key, []).append(at)

    def _close(self, origin: frozenset[str], position: int, *, still: set[str], passed: set[str], all_: bool) -> None:
        for key in origin:
            for o in self._open.get(key, ()):
                fact = self.facts[o.index]
                if (
                    fact.open
                    and (all_ or fact.text not in still)
                    and (not o.test or all_ or not still or o.test not in " ".join(still))
                ):
                    self.facts[o.index] = replace(fact, resolved_by=position)
            self._prune(key)
        if passed:
            for key in list(self._open):
                for o in self._open[key]:
                    if o.test in passed and self.facts[o.index].open:
                        self.facts[o.index] = replace(self.facts[o.index], resolved_by=position)
                self._prune(key)

    def _prune(self, key: str) -> None:
        left = [o for o in self._open.get(key, ()) if self.facts[o.index].open]
        if left:
            self._open[key] = left
        else:
            self._open.pop(key, None)


def _origins(action: Action, arguments: object) -> list[str]:
    if action.kind in ("edit", "write", "patch"):
        return [f"edit {p}" for p in action.paths] or [f"edit {action.tool}"]
    if isinstance(arguments, dict):
        ids = [f"{action.tool} {v}" for k, v in arguments.items() if _ID_KEYS.search(k) and isinstance(v, (str, int))]
        if ids:
            return ids[:1]
    return [action.tool]
