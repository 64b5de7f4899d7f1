"""What the Responses API refuses."""

from __future__ import annotations

from collections.abc import Mapping

from clew.catalog import Model
from clew.jsonio import Json
from clew.testing.upstream.refusal import Refusal
from clew.testing.upstream.rules.seals import Seals

_FIELDS = frozenset(
    [
        "model",
        "input",
        "background",
        "client_metadata",
        "context_management",
        "conversation",
        "include",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "moderation",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    ]
)
_CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output",
          "local_shell_call": "local_shell_call_output", "tool_search_call": "tool_search_output"}  # fmt: skip
_OUTPUTS = {output: call for call, output in _CALLS.items()}
_WORDS = {"function_call": "function call", "custom_tool_call": "custom tool call", "local_shell_call": "local shell call",
          "tool_search_call": "tool search call"}  # fmt: skip
_TEXTS = {"assistant": ("output_text", "refusal"), "user": ("input_text", "input_image", "input_file", "input_audio")}
_CAME_OF_REASONING = ("message", *_CALLS, "web_search_call", "reasoning", "compaction")


def check(body: Json, seals: Seals) -> None:
    for key in body:
        if key not in _FIELDS:
            raise Refusal(f"Unknown parameter: '{key}'.", param=key, code="unknown_parameter")
    if "model" not in body:
        raise Refusal("Missing required parameter: 'model'.", param="model", code="missing_required_parameter")
    items = body.get("input")
    if isinstance(items, str):
        return
    if not isinstance(items, list):
        raise Refusal(
            "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
            param="input",
            code="missing_required_parameter",
        )
    for n, item in enumerate(items):
        _item(item, n, seals)
    _pairs(items)
    _reasoning(items)


def window(tokens: int, body: Json, model: Model) -> None:
    """Raises where the input is over the window, unless the request lets the provider cut it."""
    if tokens > model.window and body.get("truncation") != "auto":
        raise Refusal(
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            param="input",
            code="context_length_exceeded",
        )


def _item(item: Json, n: int, seals: Seals) -> None:
    kind = item.get("type", "message")
    if kind == "message":
        _message(item, n)
    elif kind in _CALLS and not item.get("call_id"):
        at = f"input[{n}].call_id"
        raise Refusal(f"Missing required parameter: '{at}'.", param=at, code="missing_required_parameter")
    elif kind == "function_call" and not isinstance(item.get("arguments"), str):
        at = f"input[{n}].arguments"
        raise Refusal(
            f"Invalid type for '{at}': expected a string, but got an object instead.", param=at, code="invalid_type"
        )
    elif kind == "reasoning" and item.get("encrypted_content"):
        _sealed(item, seals)


def _sealed(item: Json, seals: Seals) -> None:
    if not seals.decrypts(item["encrypted_content"], item.get("id")):
        raise Refusal(
            f"The encrypted content for item {item.get('id')} could not be verified. Reason: Encrypted content could not "
            "be decrypted or parsed.",
            code="invalid_encrypted_content",
        )


def _message(item: Json, n: int) -> None:
    role, content = item.get("role"), item.get("content")
    if role not in ("user", "assistant", "system", "developer"):
        words = f"Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
        raise Refusal(words, param=f"input[{n}]", code="invalid_value")
    if content is None:
        words = f"Missing required parameter: 'input[{n}].content'."
        raise Refusal(words, param=f"input[{n}].content", code="missing_required_parameter")
    good = _TEXTS["assistant" if role == "assistant" else "user"]
    for i, part in enumerate(content if isinstance(content, list) else ()):
        if part.get("type") not in good:
            named = " and ".join(f"'{g}'" for g in good) if len(good) == 2 else ", ".join(f"'{g}'" for g in good)
            words = f"Invalid value: '{part.get('type')}'. Supported values are: {named}."
            raise Refusal(words, param=f"input[{n}].content[{i}]", code="invalid_value")


def _pairs(items: list[Json]) -> None:
    called: dict[tuple[str, str], int] = {}
    for item in items:
        kind = item.get("type", "message")
        if kind in _CALLS and not _by_server(item):
            called[kind, item["call_id"]] = called.get((kind, item["call_id"]), 0) + 1
        elif kind in _OUTPUTS and not _by_server(item):
            key = (_OUTPUTS[kind], item.get("call_id") or "")
            if key not in called:
                words = f"No tool call found for {_WORDS[key[0]]} output with call_id {key[1]}."
                raise Refusal(words, param="input")
            called[key] -= 1
    for (kind, call_id), left in called.items():
        if left > 0:
            raise Refusal(f"No tool output found for {_WORDS[kind]} {call_id}.", param="input")


def _by_server(item: Mapping[str, Json]) -> bool:
    return item.get("execution") == "server"


def _reasoning(items: list[Json]) -> None:
    for n, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        after = items[n + 1] if n + 1 < len(items) else {}
        kind = after.get("type", "message") if after else ""
        if kind not in _CAME_OF_REASONING or (kind == "message" and after.get("role") != "assistant"):
            words = f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."
            raise Refusal(words, param="input")
