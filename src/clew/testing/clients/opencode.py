"""OpenCode: Chat Completions, by a provider in its opencode.json."""

from __future__ import annotations

from collections.abc import Mapping

from clew import jsonio
from clew.testing.clients.base import Client, Place


def _configure(place: Place) -> Mapping[str, str]:
    model = place.model or "gpt-5"
    limit = {"context": place.window or 128_000, "output": 4_000 if place.window else 16_000}
    listed = {name: {"name": name, "limit": limit} for name in (model, "gpt-5-mini")}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "loopback",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": "loopback-only"},
        "models": listed,
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": f"loopback/{model}",
        "small_model": "loopback/gpt-5-mini",
        "permission": {"bash": "allow", "edit": "allow"},
        "provider": {"loopback": provider},
    }
    folder = place.home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opencode.json").write_bytes(jsonio.dumps(settings))
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
    return {f"OPENCODE_DISABLE_{name}": "1" for name in off}


def _arguments(prompt: str, resume: bool) -> list[str]:
    return ["run", *(["--continue"] if resume else []), prompt]


OPENCODE = Client(
    name="opencode",
    package="opencode-ai",
    version="1.18.33",
    binary="opencode",
    wire="openai-chat",
    model="gpt-5",
    configure=_configure,
    arguments=_arguments,
    takes_window=True,
)
