"""Codex: Responses, by a provider in its config.toml."""

from __future__ import annotations

from collections.abc import Mapping

from clew.testing.clients.base import Client, Place

_CONFIG = """model = "{model}"
model_provider = "loopback"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
{limit}
[analytics]
enabled = false

[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
"""


def _configure(place: Place) -> Mapping[str, str]:
    folder = place.home / ".codex"
    folder.mkdir(exist_ok=True)
    limit = f"model_auto_compact_token_limit = {place.window}\n" if place.window else ""
    (folder / "config.toml").write_text(_CONFIG.format(model=place.model or "gpt-5", url=place.url, limit=limit))
    return {"LOOPBACK_KEY": "loopback-only", "CODEX_HOME": str(folder)}


def _arguments(prompt: str, resume: bool) -> list[str]:
    return ["exec", *(["resume", "--last"] if resume else []), "--skip-git-repo-check", prompt]


CODEX = Client(
    name="codex",
    package="@openai/codex",
    version="0.169.0",
    binary="codex",
    wire="openai-responses",
    model="gpt-5",
    configure=_configure,
    arguments=_arguments,
    takes_window=True,
)
