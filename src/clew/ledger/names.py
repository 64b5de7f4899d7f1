"""The names a conversation works with: which there are, where each stands, and how likely each is needed again.

Paths, symbols, numbers, versions, hashes, ids. The index grows with the log, O(new) a message; an epoch asks it which
names of the turns that leave are worth their place in the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Literal, TypeAlias

from clew.jsonio import Json
from clew.ledger.tools import classify
from clew.transcript import Message, Opaque, Text, ToolCall, ToolResult

Kind: TypeAlias = Literal["user", "said", "call", "result"]

_NAME = re.compile(
    r"""
    (?:[\w.@~-]*/)+[\w.@-]+                                  # paths
  | \b[\w-]+\.(?:py|pyi|js|mjs|cjs|ts|tsx|jsx|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|md|rst|txt|json|jsonl|ya?ml
      |toml|cfg|ini|conf|env|sh|html|css|scss|sql|lock|log|csv|xml|proto|ipynb|mod|sum)\b
  | \b[A-Za-z]+_[A-Za-z0-9_]+\b                              # snake_case, CONSTANTS
  | \b[a-z]+[A-Z]\w+\b | \b[A-Z][a-z]+[A-Z]\w+\b             # camelCase, PascalCase
  | \#?\b[A-Z]{1,5}-?\d{3,}\b                                # tickets, orders, flights
  | \b[0-9a-f]{7,40}\b                                       # hashes
  | \b\d+\.\d+(?:\.\d+)*\b | \b\d{3,}\b                      # versions, amounts, ports, line numbers
    """,
    re.VERBOSE,
)
_EDGE = "./-~@"
_NUMBERED = re.compile(r"\s*(\d{1,6})(?:→|\t|:|-|\s*\||\s{2,})")
_DEFINES = re.compile(
    r"\W*(?:\d+\W+)?(?:export |public |private |async |static |pub |default )*"
    r"(?:func|def|class|type|interface|struct|const|fn|function|enum|trait|impl)\b"
)
_WRITES = re.compile(r"cat >|cat <<|sed -i|tee ")
_LONGEST_LINE = 4_000  # characters of one line that are looked at
_AGE = 8_000  # tokens after which a mention is far


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds names: who says it, its text, and each name once with its place."""

    kind: Kind
    text: str
    names: tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class _Use:
    """Counts for one name. Positions are in tokens."""

    first: int
    last: int = 0
    last_message: int = -1
    by_agent: int = 0
    in_calls: int = 0
    agent_last: int = -1
    by_user: int = 0
    lines: int = 0
    results: int = 0
    numbered: int = 0
    defined: int = 0


def names_in(text: str) -> frozenset[str]:
    """Every name in a text."""
    return frozenset(n for n in (m.strip(_EDGE) for m in _NAME.findall(text)) if len(n) >= 3)


@lru_cache(maxsize=4096)
def weight(name: str) -> float:
    """About the tokens a name costs where it is shown."""
    return 1.5 + len(name) / 3.5


def spoken(call: ToolCall) -> str:
    """A call as text: its name and the values of its arguments, escapes undone."""
    given = call.input
    return f"{call.name} " + ("\n".join(_leaves(given)) if given != {} else call.arguments)


def _leaves(value: Json) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for v in value.values():
            yield from _leaves(v)
    elif isinstance(value, list):
        for v in value:
            yield from _leaves(v)
    elif value is not None:
        yield str(value)


def _line_names(line: str) -> tuple[tuple[str, int, int], ...]:
    seen: dict[str, tuple[str, int, int]] = {}
    for m in _NAME.finditer(line[:_LONGEST_LINE]):
        name = m.group().strip(_EDGE)
        if len(name) >= 3 and name not in seen:
            seen[name] = (name, m.start(), m.end())
    return tuple(seen.values())


def lines_of(message: Message) -> tuple[Line, ...]:
    """The lines of a message that hold names, part by part."""
    out = []
    for part in message.parts:
        if isinstance(part, (Text, Opaque)):
            kind: Kind = "said" if message.role == "assistant" else "user"
            text = part.text
        elif isinstance(part, ToolCall):
            kind, text = "call", spoken(part)
        elif isinstance(part, ToolResult):
            kind, text = "result", part.text
        else:
            continue
        out += [Line(kind, line, found) for line in text.split("\n") if (found := _line_names(line))]
    return tuple(out)


class Names:
    """The index of one log. It only grows with it, so at a given length it is a value."""

    def __init__(self) -> None:
        self._uses: dict[str, _Use] = {}
        self._lines: list[tuple[Line, ...]] = []
        self._calls: list[int] = [0]
        self._position = 0
        self._given: set[str] = set()  # in the system prompt: always shown

    def __len__(self) -> int:
        return len(self._lines)

    def lines(self, message: int) -> tuple[Line, ...]:
        return self._lines[message]

    def calls_before(self, message: int) -> int:
        """How many calls were made before it: what numbers the actions of a record, the same at every epoch."""
        return self._calls[message]

    def given(self, name: str) -> bool:
        return name in self._given

    def last_message(self, name: str) -> int:
        """The newest message that holds it."""
        return self._uses[name].last_message

    def observe(self, message: Message, tokens: int) -> None:
        """Take the next message in."""
        self._position += tokens
        self._calls.append(self._calls[-1] + len(message.calls))
        if message.role in ("system", "developer"):
            self._given |= names_in(message.text)
            self._lines.append(())
            return
        lines = lines_of(message)
        index = len(self._lines)
        self._lines.append(lines)
        edits = any(_is_edit(c) for c in message.calls)
        seen: dict[str, list[Line]] = {}
        for line in lines:
            for name, _, _ in line.names:
                seen.setdefault(name, []).append(line)
        for name, held in seen.items():
            self._count(name, held, index, edits=edits)

    def _count(self, name: str, held: list[Line], index: int, *, edits: bool) -> None:
        use = self._uses.get(name)
        if use is None:
            use = self._uses[name] = _Use(self._position)
        kinds = {line.kind for line in held}
        if kinds & {"said", "call"}:
            use.by_agent += "said" in kinds
            use.in_calls += ("call" in kinds) + (edits and "call" in kinds)
            use.agent_last = self._position
        if "user" in kinds:
            use.by_user += 1
            use.lines += len(held)
        if "result" in kinds:
            use.results += 1
            use.lines += len(held)
            if len(held) == 1 and (number := _NUMBERED.match(held[0].text)) is not None and number[1] == name:
                use.numbered += 1
            use.defined += any(_DEFINES.match(line.text) is not None for line in held if line.kind == "result")
        use.last = self._position
        use.last_message = index

    def score(self, name: str) -> float:
        """How likely the name is used again later, as log odds; fitted on sessions, in the bench."""
        u = self._uses[name]
        age = (self._position - u.last) / _AGE
        z = -3.9 + 0.35 * log(1 + u.lines) - 0.35 * log(age + 0.1) - 0.5 * log(1 + u.results)
        if u.agent_last >= 0:
            z += 2.2 + 0.5 * log(1 + u.in_calls) + 0.2 * log(1 + u.by_agent)
            z -= 0.35 * log(1 + (self._position - u.agent_last) / _AGE)
        elif u.numbered and u.numbered >= u.results:
            z -= 2.0  # a line number that nobody spoke of
        if u.by_user:
            z += 0.9
        if u.defined:
            z += 0.3
        return z


def _is_edit(call: ToolCall) -> bool:
    action = classify(call)
    return action.kind in ("edit", "write", "patch") or (
        action.kind == "command" and _WRITES.search(action.command) is not None
    )
