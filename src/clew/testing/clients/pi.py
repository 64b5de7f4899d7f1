"""pi: Chat Completions, by a provider in its models.json."""

from __future__ import annotations

from collections.abc import Mapping

from clew import jsonio
from clew.jsonio import Json
from clew.testing.clients.base import Client, Place

_FREE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


def _configure(place: Place) -> Mapping[str, str]:
    model = place.model or "gpt-5"
    one = {
        "id": model, "name": model, "reasoning": False, "input": ["text"], "contextWindow": place.window or 128_000,
        "maxTokens": 4_000 if place.window else 16_000, "cost": _FREE,
    }  # fmt: skip
    provider = {"baseUrl": f"{place.url}/v1", "apiKey": "LOOPBACK_KEY", "api": "openai-completions", "models": [one]}
    folder = place.home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "models.json").write_bytes(jsonio.dumps({"providers": {"loopback": provider}}))
    settings: dict[str, Json] = {"defaultProvider": "loopback", "defaultModel": model}
    if place.window:
        settings |= {"compaction": {"enabled": True, "reserveTokens": place.window // 4, "keepRecentTokens": 1000}}
    (folder / "settings.json").write_bytes(jsonio.dumps(settings))
    return {"LOOPBACK_KEY": "loopback-only", "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}


def _arguments(prompt: str, resume: bool) -> list[str]:
    return [*(["--continue"] if resume else []), "-p", prompt]


PI = Client(
    name="pi",
    package="@mariozechner/pi-coding-agent",
    version="0.73.1",
    binary="pi",
    wire="openai-chat",
    model="gpt-5",
    configure=_configure,
    arguments=_arguments,
    takes_window=True,
)
