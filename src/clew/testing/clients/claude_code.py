"""Claude Code: Messages, by environment alone."""

from __future__ import annotations

from collections.abc import Mapping

from clew.testing.clients.base import Client, Place


def _configure(place: Place) -> Mapping[str, str]:
    env = {
        "ANTHROPIC_BASE_URL": place.url,
        "ANTHROPIC_API_KEY": "loopback-only",
        "ANTHROPIC_MODEL": place.model or "claude-opus-4-8",
        "IS_SANDBOX": "1",  # allows the next flag as root
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    if place.window:
        env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = str(place.window)
    return env


def _arguments(prompt: str, resume: bool) -> list[str]:
    return ["--dangerously-skip-permissions", *(["--continue"] if resume else []), "-p", prompt]


CLAUDE_CODE = Client(
    name="claude-code",
    package="@anthropic-ai/claude-code",
    version="2.1.197",
    binary="claude",
    wire="anthropic",
    model="claude-opus-4-8",
    configure=_configure,
    arguments=_arguments,
    compact="/compact",
)
