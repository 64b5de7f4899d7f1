"""`clew serve`: the gateway that agents are pointed at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from clew.config import Settings, load, store_url
from clew.errors import ConfigError

_BASES = """  Claude Code   export ANTHROPIC_BASE_URL={url}
  Codex         base_url = "{url}/v1" of a provider in config.toml, wire_api = "responses"
  OpenCode      "baseURL": "{url}/v1" in a provider's options in opencode.json
  pi            "baseUrl": "{url}" (anthropic) or "{url}/v1" (openai) in models.json
  OpenAI SDK    export OPENAI_BASE_URL={url}/v1"""


def serve(
    host: str | None = typer.Option(None, "--host", help="Where to listen; a public address needs serve.token."),
    port: int | None = typer.Option(None, "--port", min=0, max=65535, help="0 takes a free one."),
    upstream: list[str] = typer.Option(
        [], "--upstream", "-u", help="NAME=URL of a provider (may be repeated), or one URL that everything goes to."
    ),
    store: str | None = typer.Option(None, "--store", "-s", help="URL or path; default: what is configured."),
    workers: int | None = typer.Option(None, "--workers", "-w", min=1, max=256, help="Processes."),
    observe: bool = typer.Option(False, "--observe", help="Shorten nothing; count what would have been saved."),
) -> None:
    """Serve the gateway: point an agent's base URL at it and its sessions stop hitting the wall.

    Stop with Ctrl-C. Exit code: 0, or 2 where the settings don't allow it or the port is taken.
    """
    try:
        from clew.gateway import serving
    except ModuleNotFoundError as e:
        raise ConfigError(f"the gateway needs {e.name}", hint="pip install 'clew[gateway]'") from e
    settings = _settings(load().settings, host, port, upstream, store, workers, observe=observe)
    listening = serving.listen(settings)
    url = serving.url_of(listening)
    typer.echo("\n".join(told(settings, url)))
    serving.serve(settings, listening)
    typer.echo("\nstopped")


def told(settings: Settings, url: str) -> list[str]:
    """What is said at the start: where, to whom, how handoffs are written, and what to put into the clients."""
    from clew.gateway.prompt_cache import overview

    serve = settings.serve
    to = ", ".join(f"{n} ({u})" for n, u in serve.upstreams.items()) or "the providers that paths and keys tell apart"
    aux = settings.auxiliary.compression
    writer = aux.model or aux.base_url
    mode = "observing only, nothing is shortened" if serve.mode == "observe" else "shortening"
    if not settings.compression.enabled:
        mode = "passing everything on (compression.enabled: false)"
    return [
        f"Clew serves {url}, {mode}",
        f"  to            {to}",
        f"  store         {store_url(settings)}",
        f"  handoffs      {f'written by {writer}' if writer else 'written from the ledger; no model is asked'}",
        f"  prompt cache  {overview(settings)}",
        *(
            ["  recall        clew_recall and clew_search are offered and answered here"]
            if serve.recall == "tool"
            else []
        ),
        f"  workers       {serve.workers}",
        _BASES.format(url=url),
    ]


def _settings(
    found: Settings,
    host: str | None,
    port: int | None,
    upstream: list[str],
    store: str | None,
    workers: int | None,
    *,
    observe: bool,
) -> Settings:
    """What is configured, under what the command line says."""
    changes: dict[str, Any] = {
        "serve.host": host,
        "serve.port": port,
        "serve.workers": workers,
        "serve.mode": "observe" if observe else None,
        "serve.upstreams": dict(_named(u) for u in upstream) if upstream else None,
        "store.url": _url(store) if store else None,
    }
    given: Mapping[str, Any] = {k: v for k, v in changes.items() if v is not None}
    return found.with_(given) if given else found


def _named(given: str) -> tuple[str, str]:
    name, mark, url = given.partition("=")
    if mark and "://" not in name:
        return name, url
    if "://" not in given:
        raise ConfigError(
            f"--upstream {given} is no URL", hint="--upstream NAME=URL, such as local=http://127.0.0.1:8080"
        )
    return "default", given


def _url(store: str) -> str:
    if "://" in store or store == "memory:":
        return store
    return f"sqlite:///{Path(store).expanduser().absolute()}"
