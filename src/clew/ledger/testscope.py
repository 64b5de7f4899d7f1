"""Which tests a run covered, so that one that passed, or is no longer among the failing, counts as mended."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.ledger.facts import TestRun
from clew.ledger.shell import Simple

_PASSED = re.compile(
    r"^[ \t]*(?:--- PASS: (\S+)|(\S+::\S+) PASSED\b|test (\S+) \.\.\. ok\b|ok[ \t]+(\S+)[ \t]+(?:[\d.]+s|\(cached\)))",
    re.MULTILINE,
)
_RUNNERS = (
    ("go", re.compile(r"\bgo\b.*\btest\b|gotestsum|ginkgo")),
    ("python", re.compile(r"pytest|py\.test|unittest|runtests|manage\.py|\btox\b|\bnox\b")),
    ("node", re.compile(r"\b(?:jest|vitest|mocha|npm|pnpm|yarn|bun|playwright|node)\b")),
    ("rust", re.compile(r"\bcargo\b|nextest")),
    ("ruby", re.compile(r"rspec|rake|rails")),
    ("java", re.compile(r"mvn|gradle")),
)
_FILTERS = ("-run", "-k", "-t", "--filter", "--grep", "-g", "--testNamePattern", "-test.run", "-R")


@dataclass(frozen=True, slots=True)
class Scope:
    """A run's reach: all of its runner's tests, or those that its filter or its targets name."""

    runner: str
    ok: bool
    failing: frozenset[str]
    by_name: frozenset[str]
    filter: str = ""
    targets: tuple[str, ...] = ()

    def passed(self, test: str) -> bool:
        """Whether the run shows that a test which failed before works now."""
        if test in self.by_name:
            return True
        if test in self.failing or not (self.ok or self.failing):
            return False
        if (self.runner == "go" and "::" in test) or (self.runner == "python" and "/" not in test and "." not in test):
            return False  # another runner's
        return self._covers(test)

    def _covers(self, test: str) -> bool:
        if self.filter:
            try:
                return re.search(self.filter.replace(" or ", "|"), test) is not None
            except re.error:
                return self.filter in test
        files = [t for t in self.targets if "::" in t or t.endswith((".py", ".ts", ".js", ".rb"))]
        if files and "::" in test:
            return any(test.startswith(t) for t in files)
        return self.ok or not files


def scope_of(parts: tuple[Simple, ...], run: TestRun, text: str) -> Scope:
    """The reach of a test run, from its command and what it printed."""
    by_name = frozenset(next(g for g in m.groups() if g) for m in _PASSED.finditer(text))
    words = next((c.words for c in parts if _runner(" ".join(c.words))), ())
    chosen, targets, skip = "", [], False
    for i, word in enumerate(words[1:], 1):
        if skip:
            skip = False
            continue
        flag, _, value = word.partition("=")
        if flag in _FILTERS:
            chosen = value or (words[i + 1] if i + 1 < len(words) else "")
            skip = not value
        elif not word.startswith("-"):
            targets.append(word.removeprefix("./"))
    return Scope(_runner(" ".join(words)), run.ok, frozenset(run.failing), by_name, chosen, tuple(targets))


def _runner(command: str) -> str:
    return next((name for name, pattern in _RUNNERS if pattern.search(command)), "")
