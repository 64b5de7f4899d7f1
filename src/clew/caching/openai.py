"""OpenAI's `prompt_cache_key`: requests of one conversation are routed to the machine that holds its prefix."""

from __future__ import annotations

from clew.caching.route import route
from clew.catalog import Model
from clew.jsonio import digest
from clew.wire import Request


def keyed(request: Request, model: Model, session: str, *, upstream: str = "") -> Request:
    """The request with a `prompt_cache_key` for this session; a client's own stays, as does a request elsewhere.

    The key is a hash: a session's id tells the provider nothing.
    """
    if not session or request.rest.get("prompt_cache_key") or route(request.wire, model, upstream) != "openai":
        return request
    return request.replace(rest={**request.rest, "prompt_cache_key": digest(session.encode("utf-8", "surrogatepass"))})
