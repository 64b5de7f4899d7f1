"""Codex: a provider of its own in config.toml. The built-in one opens a WebSocket to its vendor whatever base URL is set,
so Clew's says that it has none, and Codex speaks HTTP.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clew.connect import tomltext
from clew.connect.client import Client, Env, Once, home
from clew.errors import ConfigError

_ID = "clew"
_KEY = "model_provider"
_TABLE = f"model_providers.{_ID}"
_BUILT_IN = ("openai", _ID)


class Codex(Client):
    name = "codex"
    title = "Codex"
    program = "codex"

    def path(self, env: Env) -> Path:
        return _folder(env) / "config.toml"

    def connected(self, text: str, url: str, env: Env) -> str:
        was = tomltext.read(text)
        given = was.get(_KEY, "openai")
        if given not in _BUILT_IN:
            raise ConfigError(
                f"Codex uses the provider {given!r}, which is not OpenAI's",
                hint=f"name its address as an upstream of Clew, and set its base_url to {url}/{given} by hand",
            )
        provider = _provider(url, env)
        new = tomltext.put_root(text, _KEY, _ID)
        new = tomltext.put_table(new, _TABLE, provider)
        _same(new, {**was, _KEY: _ID, "model_providers": {**was.get("model_providers", {}), _ID: provider}})
        return new

    def disconnected(self, text: str, before: str) -> str:
        was, now = tomltext.read(before), tomltext.read(text)
        old = was.get(_KEY)
        new = tomltext.remove_table(text, _TABLE)
        new = tomltext.put_root(new, _KEY, old) if isinstance(old, str) else tomltext.remove_root(new, _KEY)
        providers = {k: v for k, v in now.get("model_providers", {}).items() if k != _ID}
        rest = {k: v for k, v in now.items() if k not in (_KEY, "model_providers")}
        _same(new, rest | ({_KEY: old} if old else {}) | ({"model_providers": providers} if providers else {}))
        return new

    def bases(self, text: str) -> tuple[str, ...]:
        value = tomltext.read(text)
        chosen = value.get("model_providers", {}).get(value.get(_KEY, ""), {})
        return tuple(v for v in (chosen.get("base_url"),) if isinstance(v, str))

    def once(self, arguments: Sequence[str], url: str, env: Env, text: str, folder: Path) -> Once:
        del text, folder
        said = [f"{_KEY}={json.dumps(_ID)}"]
        said += [f"{_TABLE}.{k}={json.dumps(v)}" for k, v in _provider(url, env).items()]
        options = [word for s in said for word in ("-c", s)]
        return Once((arguments[0], *options, *arguments[1:]))

    def notes(self, text: str) -> tuple[str, ...]:
        value = tomltext.read(text)
        chosen = value.get("profile")
        profile = value.get("profiles", {}).get(chosen, {}) if isinstance(chosen, str) else {}
        own = profile.get(_KEY) if isinstance(profile, dict) else None
        if own and own != _ID:
            return (f"the profile {chosen!r} names the provider {own!r}, which goes over this setting",)
        return ()


def _folder(env: Env) -> Path:
    return Path(env["CODEX_HOME"]) if env.get("CODEX_HOME") else home(env) / ".codex"


def _provider(url: str, env: Env) -> dict[str, Any]:
    """Codex's own login is used where there is one, else the variable that holds a key. A ChatGPT login has its own
    upstream, whose paths have no `/v1`.
    """
    login = _login(_folder(env) / "auth.json")
    made: dict[str, Any] = {
        "name": "Clew",
        "base_url": f"{url}/chatgpt" if login == "chatgpt" else f"{url}/v1",
        "wire_api": "responses",
        "supports_websockets": False,
    }
    if not login and env.get("OPENAI_API_KEY"):
        return {**made, "env_key": "OPENAI_API_KEY"}
    return {**made, "requires_openai_auth": True}


def _login(file: Path) -> str:
    """How Codex is logged in: "chatgpt", "key" or "". What the file holds besides is not looked at."""
    try:
        text = file.read_text("utf-8")
    except OSError:
        return ""
    if re.search(r'"OPENAI_API_KEY"\s*:\s*"[^"]', text):
        return "key"
    return "chatgpt" if re.search(r'"tokens"\s*:\s*\{', text) else ""


def _same(text: str, wanted: Mapping[str, Any]) -> None:
    """Raises ConfigError where the edited text doesn't say exactly what it should."""
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        found = None
    if found != wanted:
        raise ConfigError(
            "this config.toml is written in a way that Clew can't edit",
            hint=f'set {_KEY} = "{_ID}" and a table [{_TABLE}] by hand: see docs/how-to/connect.md',
        )
