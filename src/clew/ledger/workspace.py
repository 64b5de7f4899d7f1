"""Where the work stands: directory, branch, commit, and what runs in the background."""

from __future__ import annotations

import re

from clew.ledger.commands import Ended
from clew.ledger.facts import Workspace
from clew.ledger.fileuse import joined
from clew.ledger.tools import one_line

_DIRECTORY = re.compile(
    r"<cwd>([^<\n]+)</cwd>|(?:Primary w|W|w)orking directory(?: is)?:?\s+`?(/[^\s`<]+)|Current directory:\s+(/\S+)|<working_directory>([^<\n]+)<"
)
_COMMITTED = re.compile(r"^\[(?P<branch>[^\s\]]+)(?: \(root-commit\))? (?P<commit>[0-9a-f]{7,40})\]", re.MULTILINE)
_SWITCHED = re.compile(r"^(?:Switched to (?:a new |and reset )?branch|Already on) '([^']+)'", re.MULTILINE)
_ON_BRANCH = re.compile(r"^(?:On branch |## (?:No commits yet on )?)([^\s.]+(?:\.[^\s.]+)*)", re.MULTILINE)
_HEAD = re.compile(r"^HEAD is now at ([0-9a-f]{7,40})", re.MULTILINE)
_CURRENT = re.compile(r"^Current branch:\s*(\S+)", re.MULTILINE)


class Place:
    """The workspace as it was last seen."""

    def __init__(self) -> None:
        self.directory = ""
        self._branch = ""
        self._commit = ""
        self._running: dict[str, str] = {}

    def facts(self) -> Workspace:
        return Workspace(self.directory, self._branch, self._commit, tuple(self._running.values()))

    def told(self, text: str) -> None:
        """A client's note of where it is, in a system prompt or among a user's words."""
        found = _DIRECTORY.search(text[:60_000])
        if found is not None:
            self.directory = next(g for g in found.groups() if g).strip()
        branch = _CURRENT.search(text[:60_000])
        if branch is not None:
            self._branch = branch[1]

    def command(self, ended: Ended, directory: str) -> None:
        if directory.startswith("/"):
            self.directory = directory
        output, parts = ended.output, ended.parts
        self._processes(ended)
        if output.failed:
            return
        if parts and parts[0].program == "cd" and len(parts[0].words) > 1 and not directory:
            self._moved(parts[0].words[1])
        if len(parts) == 1 and parts[0].program == "pwd" and output.text.strip().startswith("/"):
            self.directory = output.text.strip().split("\n")[0]
        gits = [c.words for c in parts if c.program == "git"]
        if gits:
            self._git(gits, output.text[:8_000])

    def _moved(self, target: str) -> None:
        if target.startswith("/"):
            self.directory = target.rstrip("/") or "/"
        elif self.directory and not target.startswith(("$", "~", "-")):
            self.directory = joined(self.directory, target).rstrip("/.") or "/"

    def _git(self, commands: list[tuple[str, ...]], text: str) -> None:
        for m in _COMMITTED.finditer(text):
            self._branch, self._commit = m["branch"], m["commit"]
        for pattern in (_SWITCHED, _ON_BRANCH):
            found = pattern.search(text)
            if found is not None:
                self._branch = found[1]
        head = _HEAD.search(text)
        if head is not None:
            self._commit = head[1]
        only = commands[0] if len(commands) == 1 else ()
        lone = text.strip()
        if only[1:3] == ("branch", "--show-current") or (only[1:2] == ("rev-parse",) and "--abbrev-ref" in only):
            if lone and "\n" not in lone and " " not in lone:
                self._branch = lone
        elif only[1:] == ("rev-parse", "HEAD") and re.fullmatch(r"[0-9a-f]{7,40}", lone):
            self._commit = lone
        for words in commands:
            if words[1:2] in (("checkout",), ("switch",)) and any(f in words for f in ("-b", "-c", "-B", "-C")):
                flag = next(i for i, w in enumerate(words) if w in ("-b", "-c", "-B", "-C"))
                self._branch = words[flag + 1] if flag + 1 < len(words) else self._branch

    def _processes(self, ended: Ended) -> None:
        text = ended.command.text
        if ended.output.running:
            session = f" (session {ended.output.session})" if ended.output.session else ""
            self._running[text] = one_line(text, 120) + session
        elif text in self._running:
            del self._running[text]
        for c in ended.parts:
            if c.program in ("kill", "pkill", "killall") and len(c.words) > 1:
                name = c.words[-1]
                self._running = {k: v for k, v in self._running.items() if name not in k}
