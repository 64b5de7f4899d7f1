"""Handoffs that stand in a transcript as user messages: whose each is. They are records, no requests."""

from __future__ import annotations

import re

BANNER = "[Earlier conversation, compacted by Clew]"
SHORT_BANNER = "[Compacted by Clew]"  # of the shortest handoff, where there is hardly room for one

# What others put in front of theirs; the text after it is the summary.
_FOREIGN = (
    ("clew", re.compile(rf"\A\s*(?:{re.escape(BANNER)}|{re.escape(SHORT_BANNER)})")),
    ("hermes", re.compile(r"\A\s*\[CONTEXT (?:COMPACTION|SUMMARY)\b")),
    ("claude-code", re.compile(r"\A\s*This session is being continued from a previous conversation")),
    ("codex", re.compile(r"\A\s*Another language model started to solve this problem and produced a summary")),
    ("pi", re.compile(r"\A\s*The conversation history before this point was compacted into the following summary")),
    ("openhands", re.compile(r"\A\s*(?:<CONDENSED|\[Condensed history\])")),
)


def recognise(text: str) -> str | None:
    """Whose handoff this message text is ("clew", "hermes", "claude-code", "codex", "pi"…), or None."""
    return next((name for name, pattern in _FOREIGN if pattern.match(text)), None)
