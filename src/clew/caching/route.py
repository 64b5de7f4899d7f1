"""Whether a request can carry cache marks, and the line that says so when something starts."""

from __future__ import annotations

from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from clew.catalog import Model
from clew.economics import Ttl

Route: TypeAlias = Literal["anthropic", "openrouter", "openai", "provider", "none"]

_OPENROUTER = ("openrouter.ai",)
_OPENAI = ("openai.com", "openai.azure.com", "chatgpt.com")


def route(wire: str, model: Model, upstream: str = "") -> Route:
    """How caching is asked for: marks of Anthropic's on their own API or through OpenRouter, OpenAI's key, nothing to
    ask for because the provider caches by itself, or no cache at all.

    `upstream` is the base URL that the request goes to. On the chat wire marks are only sent where it is OpenRouter's:
    another endpoint may refuse a member that it doesn't know.
    """
    if model.cache.kind == "none":
        return "none"
    if model.cache.kind == "explicit":
        if wire == "anthropic":
            return "anthropic"
        return "openrouter" if wire == "openai-chat" and _is(upstream, _OPENROUTER) else "none"
    if wire in ("openai-chat", "openai-responses") and _is(upstream, _OPENAI):
        return "openai"
    return "provider"


def describe(model: Model, wire: str, ttl: Ttl, upstream: str = "") -> str:
    """One line for a start-up: whether caching is on, and why."""
    match route(wire, model, upstream):
        case "anthropic" | "openrouter" as way:
            through = "Anthropic's API" if way == "anthropic" else "OpenRouter"
            life = "1h" if ttl == "1h" and model.cache.long_ttl else "5m"
            return f"Prompt caching: on ({model.name} through {through}, {life}, from {model.cache.minimum:,} tokens)"
        case "openai":
            return f"Prompt caching: on ({model.name}: OpenAI caches by itself; Clew sends a prompt_cache_key)"
        case "provider":
            return f"Prompt caching: on ({model.name}: the provider caches by itself, nothing is marked)"
        case "none" if model.cache.kind == "explicit":
            return (
                f"Prompt caching: off ({model.name} caches only what is marked, and on this route marks are not "
                f"known to be accepted: {wire}{' at ' + _host(upstream) if upstream else ''})"
            )
        case "none":
            return f"Prompt caching: off ({model.name} has no prefix cache)"


def _host(url: str) -> str:
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""


def _is(url: str, hosts: tuple[str, ...]) -> bool:
    host = _host(url)
    return any(host == h or host.endswith("." + h) for h in hosts)
