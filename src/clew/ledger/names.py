"""The names a conversation works with: which there are, where each stands, and how likely each is needed again.

Paths, symbols, numbers, versions, hashes, ids. The index grows with the log, O(new) a message; an epoch asks it which
names of the turns that leave are worth their place in the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from clew.jsonio import Json
from clew.ledger.data import quotable
from clew.ledger.tools import unwrap
from clew.transcript import Message, Opaque, Text, ToolCall, ToolResult

Kind: TypeAlias = Literal["user", "said", "call", "result"]

_FORMS = r"""
    (?:[\w.@~-]*/)+[\w.@-]+                                  # paths
  | \b[\w-]+\.(?:py|pyi|js|mjs|cjs|ts|tsx|jsx|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|md|rst|txt|json|jsonl|ya?ml
      |toml|cfg|ini|conf|env|sh|html|css|scss|sql|lock|log|csv|xml|proto|ipynb|mod|sum)\b
  | \b[A-Za-z]+_[A-Za-z0-9_]+\b                              # snake_case, CONSTANTS
  | \b[a-z]+[A-Z]\w+\b | \b[A-Z][a-z]+[A-Z]\w+\b             # camelCase, PascalCase
  | \#?\b[A-Z]{1,5}-?\d{3,}\b                                # tickets, orders, flights
  | \b[0-9a-f]{7,40}\b                                       # hashes
  | \b\d+\.\d+(?:\.\d+)*\b | \b\d{3,}\b                      # versions, amounts, ports, line numbers
"""
# Plain words, short numbers and marks are passed over at once, and only where no form could begin in them: the names found
# are those of the forms alone.
_NAME = re.compile(
    rf"""
    (?: [^\w./@~\#-]++
      | (?<![\w./@~-]) (?: (?![0-9a-f]{{7,40}}\b) (?: [A-Z]?[a-z]++ | [A-Z]++ ) | \d{{1,2}} ) (?! \.*[\w@~/-] )
      | (?! {_FORMS} ) (?s:.)
    )*+
    (?: (?P<name> {_FORMS} ) | \Z )
    """,
    re.VERBOSE,
)
EDGE = "./-~@"
NUMBERED = re.compile(r"\s*(\d{1,6})(?:→|\t|:|-|\s*\||\s{2,})")
DEFINES = re.compile(
    r"\W*(?:\d+\W+)?(?:export |public |private |async |static |pub |default )*"
    r"(?:func|def|class|type|interface|struct|const|fn|function|enum|trait|impl)\b"
)
_GREP_MARK = re.compile(r"\.\w{1,5}-\d+$")
_CACHED_LINE = 400
_QUOTED = 2_000  # characters of a line that is worth quoting from
_LONGEST_LINE = 4_000  # characters of one line that are looked at


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds names: who says it, its text, and each name once with its place."""

    kind: Kind
    text: str
    names: tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class _Use:
    """What is counted of one name: who spoke of it, in how many results it stood, in how many as a line number."""

    last_message: int = -1
    beside: int = -1  # the newest message where it stands in a line with another name
    by_agent: bool = False
    by_user: bool = False
    results: int = 0
    numbered: int = 0


def names_in(text: str) -> frozenset[str]:
    """Every name in a text."""
    return _names_in_line(text) if len(text) <= _CACHED_LINE else _names_in(text)


def _names_in(text: str) -> frozenset[str]:
    return frozenset(n for n in (m.strip(EDGE) for m in _NAME.findall(text)) if len(n) >= 3)


_names_in_line = lru_cache(maxsize=8192)(_names_in)  # a piece of a page is asked about several times


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
        name = (m["name"] or "").strip(EDGE)
        if len(name) >= 3 and name not in seen:
            seen[name] = (name, *m.span("name"))
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
            kind, text = "result", quotable(unwrap(part).text)
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

    def by_agent(self, name: str) -> bool:
        """Whether the agent spoke of it or passed it to a call."""
        return self._uses[name].by_agent

    def last_message(self, name: str) -> int:
        """The newest message that holds it; -1 for a name the log doesn't know."""
        use = self._uses.get(name)
        return use.last_message if use is not None else -1

    def last_beside(self, name: str) -> int:
        """The newest message that holds it in a line with another name; -1 where none does."""
        use = self._uses.get(name)
        return use.beside if use is not None else -1

    def observe(self, message: Message) -> None:
        """Take the next message in."""
        self._calls.append(self._calls[-1] + len(message.calls))
        if message.role in ("system", "developer"):
            self._given |= names_in(message.text)
            self._lines.append(())
            return
        lines = lines_of(message)
        index = len(self._lines)
        self._lines.append(lines)
        in_results: dict[str, int] = {}
        numbers: set[str] = set()
        for line in lines:
            number = NUMBERED.match(line.text) if line.kind == "result" else None
            for name, _, _ in line.names:
                use = self._uses.get(name)
                if use is None:
                    use = self._uses[name] = _Use()
                use.last_message = index
                if len(line.names) > 1 and len(line.text) <= _QUOTED:
                    use.beside = index
                if line.kind == "result":
                    in_results[name] = in_results.get(name, 0) + 1
                    if number is not None and number[1] == name:
                        numbers.add(name)
                elif line.kind == "user":
                    use.by_user = True
                else:
                    use.by_agent = True
        for name, times in in_results.items():
            use = self._uses[name]
            use.results += 1
            use.numbered += times == 1 and name in numbers

    def score(self, name: str) -> float:
        """How likely the name is used again later, as log odds. Fitted on sessions: of many features these are the ones
        that held on sessions left out of the fit.
        """
        u = self._uses[name]
        z = 2.5 if u.by_agent else 0.0
        if not u.by_agent and u.numbered and u.numbered >= u.results:
            z -= 4.0  # only ever the number of a line
        if _GREP_MARK.search(name):
            z -= 4.0  # a line of context in a search, not a file
        if not u.by_agent and name.replace(".", "").isdigit():
            z -= 1.5  # a number that nobody spoke of
        return z + 0.5 if u.by_user else z
