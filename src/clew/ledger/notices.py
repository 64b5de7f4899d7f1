"""What clients report in a user turn though no user said it: that work in the background has ended, and with what."""

from __future__ import annotations

import re

_NOTICE = re.compile(
    r"\A\s*<(?P<kind>task-notification|subagent_notification)>(?P<body>.*)</(?P=kind)>\s*\Z", re.DOTALL
)
_SAID = re.compile(r"<(summary|result)>\s*(.*?)\s*</\1>", re.DOTALL)


def notice(spoken: str) -> str:
    """What is reported, without the envelope; empty where the turn is anything else."""
    found = _NOTICE.match(spoken)
    if found is None:
        return ""
    said = [m[2] for m in _SAID.finditer(found["body"]) if m[2]]
    return ": ".join(said) or found["body"].strip()
