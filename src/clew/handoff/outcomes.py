"""What a model says of test runs and exit codes, compared with what the ledger saw, and set right where it is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.handoff import template as t
from clew.ledger.facts import Command, Ledger, TestRun

NOW = frozenset({t.TASK, t.GOAL, t.STATE, t.PROGRESS, t.BLOCKED, t.REMAINING, t.CONTEXT})  # tell how things stand

_TESTED = re.compile(
    r"\btests?\b|\bspecs?\b|\bsuite\b|pytest|jest|vitest|mocha|unittest|\bcargo test|\bgo test", re.IGNORECASE
)
_PAIR = re.compile(r"\b(\d+)\s*(?:/|of|out of)\s*(\d+)\s+(?:tests?\s+)?(?:are\s+)?(pass|fail)\w*", re.IGNORECASE)
_COUNT = re.compile(
    r"\b(\d[\d,]*|no|zero)\s+(?:tests?\s+|of them\s+)?(pass|fail)(?:ed|ing|ures?|es|s)?\b", re.IGNORECASE
)
_WHOLE = re.compile(
    r"\b(?:all|every)\s+(?:of\s+the\s+|the\s+)?(?:\d+\s+)?(?:unit\s+)?tests?\s+(?:suites?\s+)?(?:are\s+|now\s+|have\s+|is\s+)*"
    r"(?:pass\w*|green|succeed\w*|ok)\b"
    r"|\b(?:the\s+)?tests?\s+(?:suite\s+|run\s+)?(?:are\s+|is\s+|now\s+|all\s+|have\s+)*(?:pass(?:es|ed|ing)?|green|succeed\w*)\b"
    r"|\ball\s+(?:\d+\s+)?(?:pass(?:ed|ing)?|green)\b",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\b(?:the\s+)?tests?\s+(?:suite\s+|run\s+)?(?:are\s+|is\s+|still\s+|now\s+)*(?:fail(?:s|ed|ing)?|red|broken)\b",
    re.IGNORECASE,
)
# What stands right before a claim and denies it.
_DENIED = re.compile(r"\b(?:no|not|none\s+of(?:\s+the)?|never)\s+(?:longer\s+)?$", re.IGNORECASE)
_EXIT = re.compile(r"\bexit(?:ed)?(?:\s+with)?(?:\s+(?:code|status))?\s+(-?\d{1,3})\b", re.IGNORECASE)
_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class _Claim:
    start: int
    end: int
    holds: frozenset[int]  # indexes of the runs it is true of


def corrected(heading: str, text: str, ledger: Ledger) -> tuple[str, list[str]]:
    """A section with wrong outcomes set right, and what was wrong in it."""
    wrong: list[str] = []
    lines = text.split("\n")
    for i, line in enumerate(lines):
        lines[i] = _exits(_tests(heading, line, ledger.tests, wrong), ledger.commands, wrong)
    return "\n".join(lines), wrong


def _tests(heading: str, line: str, runs: Sequence[TestRun], wrong: list[str]) -> str:
    if not runs:
        return line
    named = [i for i, r in enumerate(runs) if _names(line, r.command)]
    if not named and _TESTED.search(line) is None and len(_COUNT.findall(line)) < 2 and _PAIR.search(line) is None:
        return line
    candidates = named or list(range(len(runs)))
    allowed = frozenset(candidates[-1:] if heading in NOW else candidates)
    claims = _claims(line, runs)
    if not claims or allowed & frozenset.intersection(*(c.holds for c in claims)):
        return line
    truth = said(runs[candidates[-1]])
    wrong.append(f"{line[claims[0].start : claims[-1].end]} → {truth}")
    out = line[: claims[0].start] + truth
    at = claims[0].end
    for claim in claims[1:]:
        out += _joined(line[at : claim.start])
        at = claim.end
    cut = line[claims[0].start : at]
    opened = cut.count("(") > cut.count(")") and line[at : at + 1] == ")"  # the bracket's other half went
    return out + line[at + opened :]


def said(run: TestRun) -> str:
    """A run's outcome as the handoff words it."""
    failing = f" ({', '.join(run.failing[:8])})" if run.failing else ""
    skipped = f", {run.skipped} skipped" if run.skipped else ""
    return f"{run.passed} passed, {run.failed} failed{failing}{skipped}"


def _joined(between: str) -> str:
    """What stood between two claims, without the words that only joined them."""
    return "" if re.fullmatch(r"[\s,;:()&/–—-]*(?:and|with|but)?[\s,;:()]*", between) else between


def _names(line: str, command: str, *, whole: bool = False) -> bool:
    """Whether the line is about this command: it holds all of it, or quotes it; `whole` wants it to the end."""
    flat = " ".join(command.split())
    if not flat:
        return False
    for quote in (" ".join(q.split()) for q in _CODE.findall(line)):
        if len(quote) > 3 and (flat.endswith(quote) if whole else quote in flat):
            return True
    return (
        re.search(rf"(?<!&& )(?<![|;] )(?<![\w/.-]){re.escape(flat)}(?=\s*(?:[`\"'—–→:,;()\[]|-\s|$))", line)
        is not None
    )


def _claims(line: str, runs: Sequence[TestRun]) -> list[_Claim]:
    found: list[_Claim] = []

    def add(match: re.Match[str], holds: frozenset[int], start: int = -1) -> None:
        start = start if start >= 0 else match.start()
        if all(match.end() <= c.start or start >= c.end for c in found):
            found.append(_Claim(start, match.end(), holds))

    for m in _PAIR.finditer(line):
        add(m, _where(runs, _pair(int(m[1]), int(m[2]), failed=m[3].lower() == "fail")))
    for m in _WHOLE.finditer(line):
        denied = _DENIED.search(line[: m.start()])
        add(m, _where(runs, _ended(well=denied is None)), denied.start() if denied is not None else -1)
    for m in _BROKEN.finditer(line):
        denied = _DENIED.search(line[: m.start()])
        add(m, _where(runs, _ended(well=denied is not None)), denied.start() if denied is not None else -1)
    for m in _COUNT.finditer(line):
        value = 0 if m[1].lower() in ("no", "zero") else int(m[1].replace(",", ""))
        add(m, _where(runs, _count(value, failed=m[2].lower() == "fail")))
    found.sort(key=lambda c: c.start)
    # Counts that stand together are one outcome; what comes later in the line may be of something else.
    together = next((i for i in range(1, len(found)) if _joined(line[found[i - 1].end : found[i].start])), len(found))
    return found[:together]


def _ended(*, well: bool) -> Callable[[TestRun], bool]:
    return lambda r: r.ok == well


def _pair(part: int, whole: int, *, failed: bool) -> Callable[[TestRun], bool]:
    return lambda r: part == (r.failed if failed else r.passed) and whole in _totals(r)


def _count(value: int, *, failed: bool) -> Callable[[TestRun], bool]:
    return lambda r: value == (r.failed if failed else r.passed)


def _totals(run: TestRun) -> tuple[int, int]:
    return (run.passed + run.failed, run.passed + run.failed + run.skipped)


def _where(runs: Sequence[TestRun], holds: Callable[[TestRun], bool]) -> frozenset[int]:
    return frozenset(i for i, r in enumerate(runs) if holds(r))


def _exits(line: str, commands: Sequence[Command], wrong: list[str]) -> str:
    match = _EXIT.search(line)
    if match is None:
        return line
    codes = [c.exit_code for c in commands if c.exit_code is not None and _names(line, c.text, whole=True)]
    if not codes or int(match[1]) in codes:
        return line
    truth = f"exit {codes[-1]}"
    wrong.append(f"{match[0]} → {truth}")
    return line[: match.start()] + truth + line[match.end() :]
