"""Which upstream a request goes to: a name in its path, a header, or what its path and key look like. Only configured
ones, so the gateway is no open proxy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from clew.errors import ConfigError, InputError
from clew.gateway.asgi import Call
from clew.wire.detect import ANTHROPIC, CHAT, RESPONSES

UPSTREAM_HEADER = "x-clew-upstream"
KNOWN = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com",
    "openrouter": "https://openrouter.ai/api",
    "chatgpt": "https://chatgpt.com/backend-api/codex",
}


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes. `wire` is the format of a model call, "" for everything that just passes; `counts` says
    that the conversation is only looked at, to be counted or summed up by the provider: it has to be shown as the model
    sees it, and nothing of it is new.
    """

    upstream: str
    url: str
    wire: str = ""
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Routes:
    """The upstreams by name. With a single configured one everything goes there; without any, to the known providers."""

    configured: Mapping[str, str]
    _all: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        for name, url in self.configured.items():
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or "@" in parts.netloc:
                raise ConfigError(f"serve.upstreams.{name}: {url!r} is no base URL", hint="https://HOST[/PATH]")
        object.__setattr__(self, "_all", {**KNOWN, **self.configured})

    def route(self, call: Call) -> Route:
        """Raises InputError for an upstream that isn't configured."""
        target = call.target
        named = call.header(UPSTREAM_HEADER)
        first, _, rest = target[1:].partition("/")
        if not named and first in self._all and first != "v1":
            named, target = first, "/" + rest
        if named and named not in self._all:
            raise InputError(f"no upstream is called {named!r}", hint=f"known are {', '.join(sorted(self._all))}")
        name = named or self._guess(call)
        if ".." in unquote(target.partition("?")[0]).replace("\\", "/").split("/"):
            raise InputError("the path leads upwards", hint="give it without `..`")
        wire, counts = _wire(call.method, target)
        return Route(name, _joined(self._all[name], target), wire, counts)

    def _guess(self, call: Call) -> str:
        if len(self.configured) == 1:
            return next(iter(self.configured))
        key = call.header("authorization").removeprefix("Bearer ").strip() or call.header("x-api-key")
        if key.startswith("sk-or-"):
            return "openrouter"
        if call.header("chatgpt-account-id"):
            return "chatgpt"
        claude = "anthropic-version" in (k for k, _ in call.headers) or key.startswith("sk-ant-")
        return "anthropic" if claude or call.path.startswith("/v1/messages") else "openai"


def _wire(method: str, target: str) -> tuple[str, bool]:
    path = target.partition("?")[0].rstrip("/")
    if method != "POST":
        return "", False
    if path.endswith("/messages/count_tokens"):
        return ANTHROPIC, True
    if path.endswith("/responses/compact"):
        return RESPONSES, True
    for end, wire in (("/chat/completions", CHAT), ("/responses", RESPONSES), ("/messages", ANTHROPIC)):
        if path.endswith(end):
            return wire, False
    return "", False


def _joined(base: str, target: str) -> str:
    """The address, where both or only one of the two says `/v1`."""
    base = base.rstrip("/")
    if base.endswith("/v1") and (target.startswith("/v1/") or target == "/v1"):
        base = base.removesuffix("/v1")
    return base + target
