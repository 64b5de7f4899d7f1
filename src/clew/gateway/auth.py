"""Who may call, and whose history a request belongs to. Keys are hashed here and kept nowhere."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from clew import jsonio
from clew.errors import ClewError, ConfigError
from clew.gateway.asgi import Call

TOKEN_HEADER = "x-clew-token"  # noqa: S105 - the header's name
_KEYS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_TENANT = 20  # of 32 letters: 100 bits


class Forbidden(ClewError):
    """The request may not use this gateway."""

    status = 403


class Unauthorised(ClewError):
    """The gateway's token is missing or wrong."""

    status = 401


@dataclass(frozen=True, slots=True)
class Door:
    """What is let in at an address. A public one takes a token; on loopback the names a browser could be led to use
    by a foreign page's DNS are refused.
    """

    host: str
    token: str = ""

    def __post_init__(self) -> None:
        if not self.token and not is_loopback(self.host):
            raise ConfigError(
                f"{self.host} is reachable from outside, so clients must send a token",
                hint="set serve.token, best as ${NAME} of an environment variable; or serve on 127.0.0.1",
            )

    def check(self, call: Call) -> None:
        """Raises Forbidden or Unauthorised."""
        if is_loopback(self.host):
            if not _local(call.header("host")):
                raise Forbidden("this Host is not this machine's", hint="use http://127.0.0.1 or http://localhost")
            origin = call.header("origin")
            if origin and not _local(urlsplit(origin).netloc):
                raise Forbidden("pages of other sites may not call the gateway", hint="call it from this machine")
        if sum(1 for k, _ in call.headers if k == "host") > 1:
            raise Forbidden("the request names two hosts", hint="send one Host header")
        if self.token and not hmac.compare_digest(call.header(TOKEN_HEADER).encode(), self.token.encode()):
            raise Unauthorised(f"the gateway's token is missing or wrong in {TOKEN_HEADER}", hint="see serve.token")


def tenant(headers: Mapping[str, str] | Call) -> str:
    """Whose request it is: a hash of the provider key it carries, "" without one."""
    key = "\n".join(v for k in _KEYS if (v := headers.header(k) if isinstance(headers, Call) else headers.get(k, "")))
    return "t-" + jsonio.digest(b"clew tenant\n" + key.encode())[:_TENANT] if key else ""


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _local(netloc: str) -> bool:
    """Whether a Host or an Origin's place names this machine."""
    try:
        name = urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return False
    return is_loopback(name) or name.endswith(".localhost")
