"""From what a user writes (a callable, `anthropic:…`, a URL, settings) to a summariser, or to none."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from clew import catalog
from clew.config import Settings
from clew.config.fields import Secret
from clew.errors import ClewWarning, ConfigError, SummaryError
from clew.summarise import kinds
from clew.summarise.base import Cancel, Reply, Summariser

if TYPE_CHECKING:
    from clew.summarise.client import Client, Dialect

_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider's API stands, and which variables of the environment name its credential and another address."""

    url: str
    keys: tuple[str, ...]
    base: str = ""
    anthropic: bool = False


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider("https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", anthropic=True),
    "openai": Provider("https://api.openai.com/v1", ("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
    "openrouter": Provider("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), "OPENROUTER_BASE_URL"),
    "nous": Provider("https://inference-api.nousresearch.com/v1", ("NOUS_API_KEY",), "NOUS_BASE_URL"),
}
_OWN_KEY = "CLEW_SUMMARIZER_API_KEY"  # for an address that is no known provider's: theirs are never sent elsewhere


@dataclass(frozen=True, slots=True)
class Missing:
    """A summariser that was asked for and can't be built: every call says why. The engine then uses the ledger."""

    reason: str
    window: int = 0

    def __call__(self, prompt: str, max_tokens: int, cancel: Cancel | None = None) -> Reply:  # noqa: ARG002 - the protocol's
        """SummaryError of kind `no_provider`, always."""
        raise SummaryError(self.reason, kind="no_provider", hint=kinds.ADVICE["no_provider"])


@dataclass(frozen=True, slots=True)
class Called:
    """A user's own function as a summariser: it takes the prompt, and the most tokens if it wants them, and returns a
    text or a Reply.
    """

    function: Callable[..., Any]
    window: int = 0

    def __call__(self, prompt: str, max_tokens: int, cancel: Cancel | None = None) -> Reply:
        """The function's answer. What it raises becomes a SummaryError: it may be anything."""
        try:
            answer = self.function(prompt, max_tokens)
        except SummaryError:
            raise
        except Exception as e:
            raise SummaryError(f"the summariser raised {type(e).__name__}: {e}", kind=kinds.of_exception(e)) from e
        if cancel is not None:
            cancel.check()
        if isinstance(answer, Reply):
            return answer
        if not isinstance(answer, str):
            raise SummaryError(f"the summariser returned {type(answer).__name__}, not a text", kind="other")
        return Reply(answer)


def from_spec(
    spec: Summariser | Callable[..., Any] | str | None,
    settings: Settings | None = None,
    *,
    env: Mapping[str, str] | None = None,
    window: int = 0,
) -> Summariser | None:
    """The summariser that `spec` names.

    A callable `(prompt, max_tokens)`; `PROVIDER:MODEL` with anthropic, openai, openrouter or nous; a base URL of an
    OpenAI-compatible API, its model after `#`; `main` for the settings' main model, None where they have none; None for
    what `auxiliary.compression` says, which without a model or address there is none. ConfigError for anything else.
    """
    env = os.environ if env is None else env
    settings = settings or Settings()
    if spec is None:
        return _auxiliary(settings, env, window)
    if isinstance(spec, str):
        return _named(spec.strip(), settings, env, window)
    own = int(getattr(spec, "window", 0) or 0)
    if own and not window:
        return cast("Summariser", spec) if _is_summariser(spec) else Called(spec, own)
    return Called(spec, window) if not _is_summariser(spec) else cast("Summariser", spec)


def _is_summariser(spec: object) -> bool:
    """Whether it takes a `cancel`, as those of this package and scripted ones do."""
    call = getattr(type(spec), "__call__", None)  # noqa: B004 - its parameters are looked at, not whether it is callable
    code = getattr(call, "__code__", None)
    return code is not None and "cancel" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _named(spec: str, settings: Settings, env: Mapping[str, str], window: int) -> Summariser | None:
    if spec in ("", "none", "ledger"):
        return None
    if spec == "auto":
        return _auxiliary(settings, env, window)
    if spec == "main":
        return _main(settings, env, window)
    if spec.startswith(("http://", "https://")):
        url, _, model = spec.partition("#")
        key = env.get(_OWN_KEY, "").strip()
        return _client(url, model or "default", key, settings, window)
    name, _, model = spec.partition(":")
    if name in PROVIDERS and model:
        return _provided(name, model, None, settings, env, window)
    known = ", ".join(f"{p}:MODEL" for p in PROVIDERS)
    raise ConfigError(f"no summarizer is known as {spec!r}", hint=f"one of {known}, main, a callable, or URL#MODEL")


def _auxiliary(settings: Settings, env: Mapping[str, str], window: int) -> Summariser | None:
    """What `auxiliary.compression` says."""
    aux = settings.auxiliary.compression
    window = window or aux.context_length or 0
    provider = aux.provider.strip()
    model = aux.model or ""
    if provider.startswith(("http://", "https://")):
        return _client(provider, model or "default", _revealed(aux.api_key, env), settings, window)
    if aux.base_url:
        key = _revealed(aux.api_key, env)
        return _client(aux.base_url, model or "default", key, settings, window, anthropic=provider == "anthropic")
    if provider == "main":
        return _main(settings, env, window, model=model) or Missing(
            "auxiliary.compression.provider is main, and model.default is empty"
        )
    if provider in PROVIDERS:
        if not model and settings.model.provider == provider:
            model = settings.model.default or ""
        if not model:
            return Missing(f"auxiliary.compression.provider is {provider}, and no model is named")
        return _provided(provider, model, aux.api_key, settings, env, window)
    if not model:
        return None
    name = _guessed(model, env)
    if name is None:
        same = _main(settings, env, window, model=model)
        return same or Missing(f"no credential was found for {model}")
    return _provided(name, model, aux.api_key, settings, env, window)


def _main(settings: Settings, env: Mapping[str, str], window: int, model: str = "") -> Summariser | None:
    """The main model, or another one at its address."""
    main = settings.model
    model = model or main.default or ""
    if not model:
        return None
    window = window or (main.context_length or 0 if model == main.default else 0)
    if main.base_url:
        return _client(
            main.base_url, model, _revealed(main.api_key, env), settings, window, anthropic=main.provider == "anthropic"
        )
    if main.provider.startswith(("http://", "https://")):
        return _client(main.provider, model, _revealed(main.api_key, env), settings, window)
    name = main.provider if main.provider in PROVIDERS else _guessed(model, env)
    if name is None:
        return None
    made = _provided(name, model, main.api_key, settings, env, window)
    return None if isinstance(made, Missing) and main.provider == "auto" else made


def _guessed(model: str, env: Mapping[str, str]) -> str | None:
    """The provider for a bare model name: its maker's where there is a credential, else one that serves them all."""
    bare = model.lower()
    makers = {"claude": "anthropic", "gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "hermes": "nous"}
    maker = next((p for start, p in makers.items() if bare.startswith(start)), None)
    order = [maker, "openrouter"] if maker is not None else ["openrouter", "nous"]
    return next((p for p in order if p is not None and _key(PROVIDERS[p], env)), None)


def _provided(
    name: str, model: str, secret: Secret | None, settings: Settings, env: Mapping[str, str], window: int
) -> Summariser:
    provider = PROVIDERS[name]
    key = _revealed(secret, env) or _key(provider, env)
    if not key:
        return Missing(f"no credential for {name}: {provider.keys[0]} is not set")
    url = env.get(provider.base, "").strip() or provider.url
    return _client(url, model, key, settings, window, anthropic=provider.anthropic)


def _client(url: str, model: str, key: str, settings: Settings, window: int, *, anthropic: bool = False) -> Client:
    # http.client and ssl take longer to load than everything else here: only who has a summariser pays for them.
    from clew.summarise.client import Client
    from clew.summarise.transport import Timeouts

    aux = settings.auxiliary.compression
    dialect: Dialect = "anthropic" if anthropic or url.rstrip("/").endswith("/messages") else "openai-chat"
    return Client(
        url,
        model,
        key,
        dialect,
        window or _window(model, settings),
        Timeouts.within(aux.timeout or _TIMEOUT),
        aux.reasoning_effort or "",
        aux.extra_body,
    )


def _window(model: str, settings: Settings) -> int:
    """What the catalogue knows; 0 rather than a guess, which could be too large."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClewWarning)
        known = catalog.lookup(model, settings.models)
    return 0 if known.guessed else known.window


def _key(provider: Provider, env: Mapping[str, str]) -> str:
    return next((v for name in provider.keys if (v := env.get(name, "").strip())), "")


def _revealed(secret: Secret | None, env: Mapping[str, str]) -> str:
    return secret.reveal(env) if secret is not None else ""
