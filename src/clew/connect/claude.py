"""Claude Code: `env.ANTHROPIC_BASE_URL` in its settings, which goes over the shell's variable of that name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from clew.connect import jsontext
from clew.connect.client import Env, JsonClient, Once, at, home

_BASE = ("env", "ANTHROPIC_BASE_URL")
_ELSEWHERE = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")


class Claude(JsonClient):
    name = "claude"
    title = "Claude Code"
    program = "claude"

    def path(self, env: Env) -> Path:
        folder = env.get("CLAUDE_CONFIG_DIR")
        return (Path(folder) if folder else home(env) / ".claude") / "settings.json"

    def values(self, url: str) -> Iterable[tuple[tuple[str, ...], str]]:
        return ((_BASE, url),)

    def once(self, arguments: Sequence[str], url: str, env: Env, text: str, folder: Path) -> Once:
        del env, folder
        given = list(arguments)
        # The settings' value goes over the environment's; what the command line says goes over both.
        if at(jsontext.read(text), _BASE) and not any(a.split("=")[0] == "--settings" for a in given):
            given[1:1] = ["--settings", json.dumps({"env": {_BASE[1]: url}})]
        return Once(tuple(given), {_BASE[1]: url})

    def notes(self, text: str) -> tuple[str, ...]:
        set_ = at(jsontext.read(text), ("env",))
        found = [k for k in _ELSEWHERE if isinstance(set_, dict) and set_.get(k)]
        return tuple(f"{k} is set: those requests don't go to the base URL, so Clew doesn't see them" for k in found)
