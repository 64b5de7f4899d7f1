"""Files: what was done to each, by tools, by shell commands, and by what their outputs report."""

from __future__ import annotations

import re

from clew.ledger.facts import FileAction, FileFact, Verb
from clew.ledger.fileuse import Use, joined, reported, uses
from clew.ledger.shell import Simple
from clew.ledger.tools import Action, Output

_CREATED = re.compile(r"\b(?:creat|new file|wrote|written)", re.IGNORECASE)
_UPDATED = re.compile(r"\b(?:updated|overwritten|overwrote|modified|replaced)\b", re.IGNORECASE)
_MISSING = re.compile(
    r"No such file|cannot (?:open|access|stat|remove)|not found|does not exist|Is a directory|Permission denied|can't read"
)
_NUMBERED = re.compile(r"^\s*(\d{1,6})(?:→|\t|: ?|\s*\|)", re.MULTILINE)
_ONE_FILE = ("read", "write", "edit")


class Files:
    """The files of one conversation, each by its path as it was first written; relative and absolute spellings of one
    path are one file where the directory is known.
    """

    def __init__(self) -> None:
        self._actions: dict[str, list[FileAction]] = {}
        self._facts: dict[str, FileFact] = {}
        self._stale: dict[str, None] = {}
        self._touched: set[str] = set()
        self._spelled: dict[str, str] = {}  # by its longest known form
        self._by_name: dict[str, list[str]] = {}  # by its last name

    def facts(self) -> tuple[FileFact, ...]:
        for path in self._stale:
            self._facts[path] = FileFact(path, tuple(self._actions[path]))
        self._stale = {}
        return tuple(self._facts.values())

    def known(self, path: str) -> bool:
        return path in self._actions

    def tool(self, position: int, action: Action, output: Output, directory: str) -> None:
        """A tool that names its file ended."""
        if output.failed:
            return
        if action.kind == "patch":
            for word, path in action.patch:
                self._add(_VERBS[word], path, position, (0, 0), directory)
            return
        if action.kind not in _ONE_FILE:
            return
        for path in action.paths:
            verb: Verb = "read" if action.kind == "read" else "modified"
            if action.kind == "write":
                verb = self._written(path, output, directory)
            lines = action.lines
            if lines == (0, 0) and action.kind == "read":
                lines = _numbered(output.text)
            self._add(verb, path, position, lines, directory)

    def command(self, position: int, commands: tuple[Simple, ...], output: Output, directory: str) -> None:
        """A shell command ended. Where it failed, what its last command would have done isn't taken for done."""
        at = ""
        trouble = [line for line in output.text[:20_000].split("\n") if _MISSING.search(line)] if output.text else []
        for i, command in enumerate(commands):
            if command.program == "cd" and len(command.words) > 1:
                at = joined(at, command.words[1])
                continue
            in_doubt = output.failed and i == len(commands) - 1
            for use in uses(command, at):
                name = use.path.rsplit("/", 1)[-1]
                if any(name in line for line in trouble):
                    continue
                if in_doubt and not (command.heredoc and use.verb != "read"):
                    continue
                self._use(use, position, directory)
        if not output.failed:
            for use in reported(commands, output.text) if any(c.program == "git" for c in commands) else ():
                if not self._changed(use.path, directory):
                    self._use(use, position, directory)

    def _use(self, use: Use, position: int, directory: str) -> None:
        verb = use.verb
        if not use.sure:
            verb = "modified" if self._exists(use.path, directory) else use.verb
        self._add(verb, use.path, position, use.lines, directory)
        if use.onto:
            self._add("renamed", use.onto, position, (0, 0), directory)

    def _written(self, path: str, output: Output, directory: str) -> Verb:
        head = output.text[:300]
        if _UPDATED.search(head):
            return "modified"
        if self._exists(path, directory) and not re.search(r"\bcreat", head, re.IGNORECASE):
            return "modified"
        return "created"

    def _exists(self, path: str, directory: str) -> bool:
        known = self._actions.get(self._spelling(path, directory))
        return bool(known) and known[-1].verb != "deleted" if known is not None else False

    def _changed(self, path: str, directory: str) -> bool:
        return self._spelling(path, directory) in self._touched

    def _spelling(self, path: str, directory: str) -> str:
        whole = joined(directory, path)
        known = self._spelled.get(whole) or self._spelled.get(joined("", path))
        return known or self._ending_in(path) or joined("", path)

    def _ending_in(self, path: str) -> str:
        """The one known absolute path that ends in a relative one of two names or more: what git prints of it."""
        plain = path.replace("\\", "/")
        if plain.count("/") < 1 or plain.startswith(("/", "~", "$", "../")):
            return ""
        ends = [p for p in self._by_name.get(plain.rsplit("/", 1)[1], ()) if p.replace("\\", "/").endswith("/" + plain)]
        return ends[0] if len(ends) == 1 else ""

    def _add(self, verb: Verb, path: str, position: int, lines: tuple[int, int], directory: str) -> None:
        if not path:
            return
        name = self._spelling(path, directory)
        self._spelled.setdefault(joined(directory, path), name)
        if name not in self._actions:
            self._by_name.setdefault(re.split(r"[\\/]", name)[-1], []).append(name)
        known = self._actions.setdefault(name, [])
        known.append(FileAction(verb, position, lines))
        if verb != "read":
            self._touched.add(name)
        self._facts.setdefault(name, FileFact(name, ()))
        self._stale[name] = None


_VERBS: dict[str, Verb] = {"created": "created", "modified": "modified", "deleted": "deleted", "renamed": "renamed"}


def _numbered(text: str) -> tuple[int, int]:
    """The first and last line number that a reading tool printed in front of its lines."""
    first = _NUMBERED.match(text[:200])
    if first is None:
        return (0, 0)
    last = int(first[1])
    for m in _NUMBERED.finditer(text[-3_000:]):
        last = max(last, int(m[1]))
    return (int(first[1]), last)
