"""OpenCode: `baseURL` of the built-in providers in its `opencode.json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from clew.connect import jsontext
from clew.connect.client import Env, JsonClient, Once, at, home

_PROVIDERS = {"anthropic": "/v1", "openai": "/v1", "openrouter": "/openrouter/v1"}
_CONTENT = "OPENCODE_CONFIG_CONTENT"


class OpenCode(JsonClient):
    name = "opencode"
    title = "OpenCode"
    program = "opencode"

    def path(self, env: Env) -> Path:
        if env.get("OPENCODE_CONFIG"):
            return Path(env["OPENCODE_CONFIG"])
        folder = Path(env["XDG_CONFIG_HOME"]) if env.get("XDG_CONFIG_HOME") else home(env) / ".config"
        commented = folder / "opencode" / "opencode.jsonc"
        return commented if commented.exists() else folder / "opencode" / "opencode.json"

    def values(self, url: str) -> Iterable[tuple[tuple[str, ...], str]]:
        return ((("provider", name, "options", "baseURL"), url + path) for name, path in _PROVIDERS.items())

    def once(self, arguments: Sequence[str], url: str, env: Env, text: str, folder: Path) -> Once:
        del text, folder
        return Once(tuple(arguments), {_CONTENT: self.connected(env.get(_CONTENT, ""), url, env)})

    def notes(self, text: str) -> tuple[str, ...]:
        providers = at(jsontext.read(text), ("provider",))
        own = [
            f"the provider {name!r} keeps its own address ({base}): name it as an upstream of Clew and set {name}'s "
            f"baseURL to Clew's, with /{name} after the port"
            for name, p in (providers.items() if isinstance(providers, dict) else ())
            if name not in _PROVIDERS and isinstance(base := at(p, ("options", "baseURL")), str)
        ]
        return tuple(own)
