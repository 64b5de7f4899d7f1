"""The workspace of a made session: files that reads, searches and edits really go to."""

from __future__ import annotations

import re

from clew.testing.dice import Dice


class World:
    """Files by path. What a tool would print is worked out from them, so that an edit shows in the next read."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = dict(files)
        self.changed: list[str] = []

    def read(self, path: str, offset: int = 1, limit: int = 2000) -> str:
        """As `cat -n` prints it."""
        lines = self.files[path].splitlines()
        shown = lines[offset - 1 : offset - 1 + limit]
        return "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(shown, offset))

    def grep(self, pattern: str, under: str = "") -> str:
        found = [
            f"{path}:{n}:{line}"
            for path in sorted(self.files)
            if path.startswith(under)
            for n, line in enumerate(self.files[path].splitlines(), 1)
            if re.search(pattern, line)
        ]
        return "\n".join(found) or "No matches found"

    def edit(self, path: str, old: str, new: str) -> str:
        """Replaces the one place where `old` stands; the reply shows the lines around it."""
        text = self.files[path]
        assert text.count(old) == 1, f"{old!r} is not in {path} exactly once"
        self.files[path] = text.replace(old, new)
        if path not in self.changed:
            self.changed.append(path)
        at = self.files[path][: text.index(old)].count("\n") + 1
        around = self.read(path, max(1, at - 3), 6 + new.count("\n"))
        return f"The file {path} has been updated. Here's the result of running `cat -n` on a snippet:\n{around}"

    def status(self) -> str:
        """As `git status --short` prints it."""
        return "\n".join(f" M {path}" for path in sorted(self.changed))

    def commit(self, dice: Dice, message: str) -> tuple[str, str]:
        """What `git commit` prints, and the new commit's short name."""
        name = dice.hex(7)
        files = len(self.changed)
        self.changed.clear()
        return f"[work {name}] {message}\n {files} files changed, {files * 2} insertions(+), {files} deletions(-)", name

    def line_of(self, path: str, text: str) -> int:
        return self.files[path][: self.files[path].index(text)].count("\n") + 1
