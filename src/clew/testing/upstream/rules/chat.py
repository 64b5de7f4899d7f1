"""What Chat Completions refuses, OpenAI's and, where a model's quirks say so, a stricter server's of the same format."""

from __future__ import annotations

from itertools import pairwise

from clew.catalog import Model
from clew.jsonio import Json
from clew.testing.upstream.refusal import Refusal

_FIELDS = frozenset(
    [
        "messages",
        "model",
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    ]
)
_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_LONGEST_ID = 40


def check(body: Json, model: Model) -> None:
    for key in body:
        if key not in _FIELDS:
            raise Refusal(f"Unknown parameter: '{key}'.", param=key, code="unknown_parameter")
    for key in ("model", "messages"):
        if key not in body:
            raise Refusal(f"Missing required parameter: '{key}'.", param=key, code="missing_required_parameter")
    messages = body["messages"]
    if not messages:
        words = (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        raise Refusal(words, param="messages", code="empty_array")
    _limits(body, model)
    for n, message in enumerate(messages):
        _message(message, n, model)
    _pairs(messages)
    _turns(messages, model)


def window(tokens: int, tools: int, body: Json, model: Model) -> None:
    """Raises where the messages and the output asked for are over the window."""
    split = f" ({tokens - tools} in the messages, {tools} in the functions)" if tools else ""
    what = "messages or functions" if tools else "messages"
    if tokens > model.window:
        raise Refusal(
            f"This model's maximum context length is {model.window} tokens. However, your messages resulted in {tokens} "
            f"tokens{split}. Please reduce the length of the {what}.",
            param="messages",
            code="context_length_exceeded",
        )
    output = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    if tokens + output > model.window:
        raise Refusal(
            f"This model's maximum context length is {model.window} tokens. However, you requested {tokens + output} "
            f"tokens ({tokens} in the messages, {output} in the completion). Please reduce the length of the messages or "
            "completion.",
            param="messages",
            code="context_length_exceeded",
        )


def _limits(body: Json, model: Model) -> None:
    for key in ("max_tokens", "max_completion_tokens"):
        asked = body.get(key)
        if asked is not None and model.max_output and asked > model.max_output:
            raise Refusal(
                f"{key} is too large: {asked}. This model supports at most {model.max_output} completion tokens, whereas "
                f"you provided {asked}.",
                param=key,
                code="invalid_value",
            )
    if body.get("stream_options") is not None and not body.get("stream"):
        words = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refusal(words, param="stream_options", code="invalid_value")


def _message(message: Json, n: int, model: Model) -> None:
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    if role not in _ROLES:
        named = ", ".join(f"'{r}'" for r in _ROLES[:-1])
        words = f"Invalid value: '{role}'. Supported values are: {named}, and '{_ROLES[-1]}'."
        raise Refusal(words, param=f"messages[{n}].role", code="invalid_value")
    if calls == []:
        words = f"Invalid 'messages[{n}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."
        raise Refusal(words, param=f"messages[{n}].tool_calls", code="empty_array")
    if content is None and not (role == "assistant" and (calls or message.get("refusal") or message.get("audio"))):
        words = f"Invalid value for 'content': expected a string, got null. (messages[{n}])"
        raise Refusal(words, param=f"messages.[{n}].content", code=None)
    if isinstance(content, list) and role == "tool" and not model.quirks.image_in_tool_result:
        _text_only(content, n)
    for i, call in enumerate(calls or ()):
        _call(call, f"messages[{n}].tool_calls[{i}]", role)


def _text_only(content: list[Json], n: int) -> None:
    for block in content:
        if block.get("type") == "image_url":
            raise Refusal(
                f"Invalid 'messages[{n}]'. Image URLs are only allowed for messages with role 'user', but this message with "
                "role 'tool' contains an image URL.",
                param=f"messages[{n}]",
                code="invalid_value",
            )


def _call(call: Json, at: str, role: str) -> None:
    if role != "assistant":
        raise Refusal(f"Unknown parameter: '{at.rpartition('[')[0]}'.", param=at, code="unknown_parameter")
    call_id = str(call.get("id") or "")
    if not call_id:
        raise Refusal(f"Missing required parameter: '{at}.id'.", param=f"{at}.id", code="missing_required_parameter")
    if len(call_id) > _LONGEST_ID:
        words = (
            f"Invalid '{at}.id': string too long. Expected a string with maximum length {_LONGEST_ID}, but got a string "
            f"with length {len(call_id)} instead."
        )
        raise Refusal(words, param=f"{at}.id", code="string_above_max_length")
    arguments = call.get("function", {}).get("arguments", "")
    if not isinstance(arguments, str):
        words = f"Invalid type for '{at}.function.arguments': expected a string, but got an object instead."
        raise Refusal(words, param=f"{at}.function.arguments", code="invalid_type")


def _pairs(messages: list[Json]) -> None:
    waiting: list[str] = []
    asked = 0
    for n, m in enumerate([*messages, {"role": "end"}]):
        if m["role"] == "tool":
            if m.get("tool_call_id") not in waiting:
                raise Refusal(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    param=f"messages.[{n}].role",
                )
            waiting.remove(m["tool_call_id"])
            continue
        if waiting:
            raise Refusal(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: " + ", ".join(waiting),
                param=f"messages.[{asked}].role",
            )
        waiting, asked = [c["id"] for c in m.get("tool_calls") or ()], n
        if len(set(waiting)) != len(waiting):
            words = f"Duplicate value for 'tool_call_id' of '{waiting[-1]}' in message[{n}]"
            raise Refusal(words, param=f"messages[{n}].tool_calls", code="invalid_value")


def _turns(messages: list[Json], model: Model) -> None:
    spoken = [(n, m["role"]) for n, m in enumerate(messages) if m["role"] not in ("system", "developer")]
    if model.quirks.first_user and spoken and spoken[0][1] != "user":
        raise Refusal("Expected the first message to be of role user, but got " + spoken[0][1])
    if not model.quirks.system_mid and spoken:
        late = [n for n, m in enumerate(messages) if m["role"] in ("system", "developer") and n > spoken[0][0]]
        if late:
            raise Refusal("System message must be at the beginning.", param=f"messages.[{late[0]}].role")
    if model.quirks.alternation:
        for (_, before), (_, after) in pairwise(spoken):
            if before == after and after in ("user", "assistant"):
                raise Refusal(
                    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
                )
