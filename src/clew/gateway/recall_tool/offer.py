"""Whether a conversation may have Clew's tools, and a request with them in its list."""

from __future__ import annotations

from dataclasses import replace

from clew import jsonio
from clew.context import tools as recall_tools
from clew.gateway.asgi import Call
from clew.gateway.routes import Route
from clew.jsonio import Json
from clew.wire import Request
from clew.wire.detect import ANTHROPIC, CHAT, RESPONSES

NAMES = frozenset({recall_tools.RECALL, recall_tools.SEARCH})
_OWN_TYPES = ("function", "custom")


def why_not(call: Call, route: Route, request: Request) -> str:
    """Why a conversation that begins with this request goes without the tools, "" where it may have them."""
    if _subscribed(call, route):
        return "a subscription login"
    if unfit(request):
        return unfit(request)
    if not any(_is_clients(t, request.wire) for t in request.tools):
        # Not every model takes tools, and what works without must go on working.
        return "only the provider's own tools" if request.tools else "no tools of the client's own"
    if not _free(request.rest.get("tool_choice")):
        return "tool_choice"
    if _structured(request):
        return "structured output"
    if request.wire == RESPONSES and request.rest.get("store") is not False:
        # A later request may name the stored answer, in which our calls have no results.
        return "answers that the provider stores"
    return ""


def unfit(request: Request) -> str:
    """Why this one request can't be continued by the gateway, "" where it can."""
    if any(_name(t) in NAMES for t in request.tools):
        return "tools of the client's of the same names"
    if request.rest.get("functions"):
        return "functions of the old kind"
    if (request.rest.get("n") or 1) != 1:
        return "several answers at once"
    if request.rest.get("background"):
        return "an answer in the background"
    return ""


def offered(request: Request) -> Request:
    """The request with the tools behind the client's own, which stay as they came."""
    added = recall_tools.definitions(request.wire)
    raw = request.fields.get("tools")
    own = raw.strip()[1:-1].strip() if raw is not None else jsonio.dumps(list(request.tools))[1:-1]
    spliced = b"[" + b",".join([*([own] if own else []), *map(jsonio.dumps, added)]) + b"]"
    return replace(request, tools=(*request.tools, *added), raw=None, fields={**request.fields, "tools": spliced})


def _subscribed(call: Call, route: Route) -> bool:
    """Logins whose providers take the tools of their own clients only."""
    if route.upstream == "chatgpt" or call.header("chatgpt-account-id"):
        return True
    return "sk-ant-oat" in call.header("authorization") or "oauth-" in call.header("anthropic-beta")


def _is_clients(tool: Json, wire: str) -> bool:
    """Whether the client runs it itself and describes it by a schema: no tool that the provider runs or knows."""
    kind = tool.get("type") if isinstance(tool, dict) else ""
    return kind in _OWN_TYPES or (wire == ANTHROPIC and kind is None)


def _free(choice: Json) -> bool:
    return choice is None or choice == "auto" or (isinstance(choice, dict) and choice.get("type") == "auto")


def _structured(request: Request) -> bool:
    rest = request.rest
    if request.wire == CHAT:
        told: Json = rest.get("response_format")
    elif request.wire == RESPONSES:
        told = _inside(rest.get("text"), "format")
    else:
        told = rest.get("output_format") or _inside(rest.get("output_config"), "format")
    return isinstance(told, dict) and told.get("type") not in (None, "text")


def _inside(value: Json, key: str) -> Json:
    return value.get(key) if isinstance(value, dict) else None


def _name(tool: Json) -> Json:
    if not isinstance(tool, dict):
        return None
    inner = tool.get("function")
    name = inner.get("name") if isinstance(inner, dict) else tool.get("name")
    return name if isinstance(name, str) else None
