"""A provider's refusal, and the body in which each provider wraps it."""

from __future__ import annotations

from clew.jsonio import Json

_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
_OPENAI = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", None),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("server_error", None),
}
_WORDS = {
    "anthropic": {429: "This request would exceed your organization's rate limit.", 500: "Internal server error", 529: "Overloaded"},
    "openai": {
        429: "Rate limit reached for requests",
        500: "The server had an error while processing your request. Sorry about that!",
        503: "The engine is currently overloaded, please try again later",
    },
}  # fmt: skip


class Refusal(Exception):
    """The provider won't answer this request. `param` and `code` are OpenAI's."""

    def __init__(self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.param = param
        self.code = code


def body(wire: str, refusal: Refusal, request_id: str) -> Json:
    """The error body as this provider sends it."""
    if wire == "anthropic":
        error = {"type": _ANTHROPIC.get(refusal.status, "api_error"), "message": refusal.message}
        return {"type": "error", "error": error, "request_id": request_id}
    kind, code = _OPENAI.get(refusal.status, ("server_error", None))
    return {"error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": refusal.code or code}}


def default_words(wire: str, status: int) -> str:
    """What this provider says with a status of its own."""
    return _WORDS["anthropic" if wire == "anthropic" else "openai"].get(status, "Something went wrong")
