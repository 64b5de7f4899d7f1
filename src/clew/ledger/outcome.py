"""What came back, in one line: the error where it failed, the test counts where tests ran, else the last thing said."""

from __future__ import annotations

import re

from clew.ledger.facts import TestRun
from clew.ledger.tools import Output, one_line

_BOUND = 30_000
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# An error's own line; the strongest kind first.
_STRONG = re.compile(
    r"^\s*(?:E\s{2,}\S.*|(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)\b(?::.*|\s*)$"
    r"|(?:fatal|error|panic|ERROR|FATAL|Error|Fatal error|Unhandled \w+)(?:\[\w+\])?:.*|npm ERR! .*|\[?ERROR\]? .*"
    r"|.*?:\d+(?::\d+)?:\s+(?:fatal )?(?:error|undefined|cannot|Error)\b.*|.*\berror TS\d+:.*|\S+\.\w+:\d+:\d+: .*\([\w-]+\)$"
    r"|(?:\S*sh|zsh|bash|env): .*(?:not found|No such file|Permission denied|cannot).*|.*: (?:command not found|No such file or directory|not found|Permission denied)\b.*"
    r"|thread '.*' panicked at.*|.*\bis not (?:recognized|a git command)\b.*|(?:.*\s)?CONFLICT \(.*|--- FAIL: .*|Not logged in.*)",
    re.MULTILINE,
)
_WEAK = re.compile(
    r"^.*\b(?:[Ee]rror|ERROR|[Ff]ail(?:ed|ure)|FAIL(?:ED|URE)?|[Ee]xception|panic|denied|rejected|refused|undefined:|[Cc]annot|can't|could not"
    r"|unable to|invalid|not found|unexpected|[Nn]o such|timed out|unknown (?:flag|option|command)|Usage:)\b.*$",
    re.MULTILINE,
)
_EXITED = re.compile(r"\(?(?:no output\)?\s*)?(?:Command exited with code|exit code:?) \d+", re.IGNORECASE)
_OPTION = re.compile(r"-{1,2}\w[\w-]*(?:,|\s)")
_NOISE = re.compile(
    r"\b0 (?:errors?|failures?|failed)\b|no errors?\b|ERROR task failed|^\s*(?:\^|~)+\s*$|error\.go|errors\.(?:go|py|ts)\b:?\d*$"
)


def bounded(text: str) -> str:
    """The text, or its beginning and end where it is long; colours taken off."""
    if len(text) > _BOUND:
        text = text[: _BOUND // 3] + "\n" + text[-_BOUND:]
    return ANSI.sub("", text) if "\x1b" in text else text


def error_line(text: str) -> str:
    """The line of an output that says what went wrong, exactly as it stands there; empty where none does."""
    text = bounded(text)
    if "Traceback (most recent call last)" in text:
        last = [m.group() for m in _STRONG.finditer(text, text.rfind("Traceback (most recent call last)"))]
        found = next((s for s in last if not s.startswith(" ")), "")
        if found.strip():
            return found.strip()
    for pattern in (_STRONG, _WEAK):
        for m in pattern.finditer(text):
            line = m.group().strip()
            if line and _OPTION.match(line) is None and _NOISE.search(line) is None:
                return line
    return ""


def last_line(text: str) -> str:
    return next((s.strip() for s in reversed(bounded(text)[-2_000:].split("\n")) if s.strip()), "")


def outcome(output: Output, run: TestRun | None) -> str:
    """One line of what came of a command."""
    if run is not None and (run.passed or run.failed):
        counts = [f"{run.passed} passed"] if run.passed else []
        counts += [f"{run.failed} failed"] if run.failed else []
        counts += [f"{run.skipped} skipped"] if run.skipped else []
        names = f": {', '.join(run.failing[:3])}" if run.failing else ""
        return one_line(", ".join(counts) + names, 200)
    if output.running:
        return "still running"
    if output.failed:
        if (output.exit_code == 1 and not output.text.strip()) or _EXITED.fullmatch(output.text.strip()):
            return f"no output, exit {output.exit_code}" if output.exit_code is not None else "failed"
        line = error_line(output.text) or last_line(output.text)
        return one_line(line, 200) or (f"exit {output.exit_code}" if output.exit_code is not None else "failed")
    if not output.lines:
        return "no output"
    line = last_line(output.text)
    return one_line(line, 160) if output.lines == 1 else f"{output.lines} lines, last: {one_line(line, 120)}"
