"""What answers at an address: Clew, something else, or nothing."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from clew import jsonio

Kind: TypeAlias = Literal["clew", "other", "nothing"]
_MOST = 4096


@dataclass(frozen=True, slots=True)
class Reached:
    """Who answered. `version` is that of a gateway of Clew's."""

    kind: Kind
    version: str = ""


def reach(url: str, timeout: float = 2.0) -> Reached:
    """Asks a gateway for its health. No proxy is used, and nothing but the path is sent."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=timeout)
    except (ValueError, http.client.InvalidURL):
        return Reached("nothing")
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        body = answer.read(_MOST)
    except http.client.HTTPException:
        return Reached("other")
    except OSError:
        return Reached("nothing")
    finally:
        connection.close()
    try:
        said = jsonio.loads(body)
    except ValueError:
        return Reached("other")
    ours = answer.status == http.HTTPStatus.OK and isinstance(said, dict) and said.get("status") == "ok"
    return Reached("clew", str(said.get("version", ""))) if ours and "version" in said else Reached("other")
