"""What the Messages API refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clew.catalog import Model
from clew.jsonio import Json
from clew.testing.upstream.refusal import Refusal
from clew.testing.upstream.rules.seals import Seals

_FIELDS = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "system",
        "metadata",
        "stop_sequences",
        "stream",
        "temperature",
        "top_k",
        "top_p",
        "thinking",
        "tools",
        "tool_choice",
        "service_tier",
        "cache_control",
        "output_config",
        "inference_geo",
    ]
)
_BETA_FIELDS = {  # accepted only with a beta of this name
    "context_management": "context-management-",
    "container": "code-execution-",
    "mcp_servers": "mcp-client-",
    "output_format": "structured-outputs-",
    "speed": "fast-mode-",
    "diagnostics": "",
}
_BLOCK_FIELDS = {
    "text": {"text", "cache_control", "citations"},
    "image": {"source", "cache_control"},
    "document": {"source", "cache_control", "title", "context", "citations"},
    "tool_use": {"id", "name", "input", "cache_control", "caller"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
_ID = re.compile(r"[a-zA-Z0-9_-]+")


def check(body: Json, headers: Mapping[str, str], model: Model, seals: Seals) -> None:
    _fields(body, headers)
    messages = body["messages"]
    for n, message in enumerate(messages):
        _message(message, n, last=n == len(messages) - 1, model=model)
    _order(messages, model)
    _pairs(messages)
    _thinking(body, messages, seals)
    _cache_marks(body)
    _tools(body)
    limit = model.max_output
    if limit and body["max_tokens"] > limit:
        raise Refusal(
            f"max_tokens: {body['max_tokens']} > {limit}, which is the maximum allowed number of output tokens for {model.name}"
        )


def window(tokens: int, body: Json, model: Model) -> None:
    """Raises where the prompt, or the prompt and what may come of it, is over the window."""
    if tokens > model.window:
        raise Refusal(f"prompt is too long: {tokens} tokens > {model.window} maximum")
    if tokens + body.get("max_tokens", 0) > model.window:
        raise Refusal(
            f"input length and `max_tokens` exceed context limit: {tokens} + {body['max_tokens']} > {model.window}, "
            "decrease input length or `max_tokens` and try again"
        )


def blocks_of(content: Json) -> list[Json]:
    """A content as blocks."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _fields(body: Json, headers: Mapping[str, str]) -> None:
    for key in ("model", "max_tokens", "messages"):
        if key not in body:
            raise Refusal(f"{key}: Field required")
    betas = headers.get("anthropic-beta", "")
    for key in body:
        beta = _BETA_FIELDS.get(key)
        if key not in _FIELDS and (beta is None or beta not in betas):
            raise Refusal(f"{key}: Extra inputs are not permitted")
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        raise Refusal("max_tokens: Input should be greater than or equal to 1")
    if not isinstance(body["messages"], list):
        raise Refusal("messages: Input should be a valid list")
    if not body["messages"]:
        raise Refusal("messages: at least one message is required")
    for n, block in enumerate(body["system"] if isinstance(body.get("system"), list) else []):
        if block.get("type") != "text":
            raise Refusal(f"system.{n}.type: Input should be 'text'")
        if not block.get("text"):
            raise Refusal("system: text content blocks must be non-empty")


def _message(message: Json, n: int, *, last: bool, model: Model) -> None:
    role = message.get("role")
    if role not in ("user", "assistant", "system"):
        raise Refusal(f"messages.{n}.role: Input should be 'user' or 'assistant'")
    if role == "system" and not model.quirks.system_mid:
        raise Refusal(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" '
            "as an input message role."
        )
    for key in message:
        if key not in ("role", "content"):
            raise Refusal(f"messages.{n}.{key}: Extra inputs are not permitted")
    content = message.get("content")
    if not isinstance(content, (str, list)):
        raise Refusal(f"messages.{n}.content: Field required")
    if not content and not (last and role == "assistant"):
        raise Refusal(
            f"messages.{n}: all messages must have non-empty content except for the optional final assistant message"
        )
    for i, block in enumerate(blocks_of(content)):
        _block(block, f"messages.{n}.content.{i}", role)
    if last and role == "assistant":
        _prefill(content, model)


def _prefill(content: Json, model: Model) -> None:
    if not model.quirks.prefill:
        raise Refusal(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    text = blocks_of(content)[-1].get("text", "") if content else ""
    if text and text[-1].isspace():
        raise Refusal("messages: final assistant content cannot end with trailing whitespace")


def _block(block: Json, at: str, role: str) -> None:
    kind = block.get("type")
    if not isinstance(kind, str):
        raise Refusal(f"{at}.type: Field required")
    known = _BLOCK_FIELDS.get(kind)
    for key in block:
        if known is not None and key != "type" and key not in known:
            raise Refusal(f"{at}.{kind}.{key}: Extra inputs are not permitted")
    if kind == "text":
        if not isinstance(block.get("text"), str):
            raise Refusal(f"{at}.text.text: Field required")
        if not block["text"]:
            marked = ".text: cache_control cannot be set for empty text blocks"
            raise Refusal(
                at + marked if "cache_control" in block else "messages: text content blocks must be non-empty"
            )
        if block["text"].isspace():
            raise Refusal("messages: text content blocks must contain non-whitespace text")
    elif kind == "tool_use":
        if role != "assistant":
            raise Refusal(f"{at}: `tool_use` blocks can only be in `assistant` messages")
        if not _ID.fullmatch(str(block.get("id", ""))):
            raise Refusal(f"{at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if not isinstance(block.get("input"), dict):
            raise Refusal(f"{at}.tool_use.input: Input should be a valid dictionary")
    elif kind == "tool_result":
        if role != "user":
            raise Refusal(f"{at}: `tool_result` blocks can only be in `user` messages")
        for i, inner in enumerate(block.get("content") if isinstance(block.get("content"), list) else ()):
            if inner.get("type") == "text" and not inner.get("text"):
                raise Refusal(f"{at}.tool_result.content.{i}: text content blocks must be non-empty")


def _order(messages: list[Json], model: Model) -> None:
    first = next((m["role"] for m in messages if m["role"] != "system"), "")
    if messages[0]["role"] == "system" or (first != "user" and model.quirks.first_user):
        raise Refusal('messages: first message must use the "user" role')


def _turns(messages: list[Json]) -> Iterator[tuple[int, str, list[tuple[str, Json]]]]:
    """Neighbours of one role are one turn: its first message's number, its role, its blocks with their places."""
    start, role, held = 0, "", list[tuple[str, Json]]()
    for n, m in enumerate(messages):
        if m["role"] != role:
            if held or role:
                yield start, role, held
            start, role, held = n, m["role"], []
        held += [(f"messages.{n}.content.{i}", b) for i, b in enumerate(blocks_of(m["content"]))]
    yield start, role, held


def _pairs(messages: list[Json]) -> None:
    """Results stand at the start of the user turn right after their calls, each once."""
    calls: list[str] = []
    place = 0
    for start, role, blocks in [*_turns(messages), (len(messages), "end", [])]:
        results = [(at, b["tool_use_id"]) for at, b in blocks if b.get("type") == "tool_result"]
        for k, (at, call_id) in enumerate(results):
            if call_id not in calls:
                raise Refusal(
                    f"{at}: unexpected `tool_use_id` found in `tool_result` blocks: {call_id}. Each `tool_result` block "
                    "must have a corresponding `tool_use` block in the previous message."
                )
            if call_id in [c for _, c in results[:k]]:
                raise Refusal(
                    f"{at}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {call_id}"
                )
        leading = [b["tool_use_id"] for _, b in _leading_results(blocks)]
        missing = [c for c in calls if c not in leading]
        if missing and role != "system":
            raise Refusal(
                f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
                "message."
            )
        if role == "system" and missing:
            continue
        calls = [b["id"] for _, b in blocks if b.get("type") == "tool_use"]
        place = start
        if len(set(calls)) != len(calls):
            raise Refusal("messages: `tool_use` ids must be unique")


def _leading_results(blocks: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    n = next((i for i, (_, b) in enumerate(blocks) if b.get("type") != "tool_result"), len(blocks))
    return blocks[:n]


def _thinking(body: Json, messages: list[Json], seals: Seals) -> None:
    setting = body.get("thinking") or {}
    if setting.get("type") == "enabled":
        budget = setting.get("budget_tokens", 0)
        if budget < 1024:
            raise Refusal("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if budget >= body["max_tokens"]:
            raise Refusal("`max_tokens` must be greater than `thinking.budget_tokens`.")
    for n, m in enumerate(messages):
        for i, b in enumerate(blocks_of(m["content"])):
            if b.get("type") == "thinking" and not seals.signed(b.get("thinking", ""), b.get("signature", "")):
                raise Refusal(f"messages.{n}.content.{i}: Invalid `signature` in `thinking` block")
            if b.get("type") in ("thinking", "redacted_thinking") and m["role"] != "assistant":
                raise Refusal(f"messages.{n}.content.{i}: `thinking` blocks can only be in `assistant` messages")


def marks(body: Json) -> Iterator[tuple[str, Json]]:
    """Every cache mark with its place, in the order in which the provider reads: tools, system, messages."""
    for n, tool in enumerate(body.get("tools") or ()):
        if tool.get("cache_control"):
            yield f"tools.{n}", tool["cache_control"]
    for n, block in enumerate(body["system"] if isinstance(body.get("system"), list) else ()):
        if block.get("cache_control"):
            yield f"system.{n}", block["cache_control"]
    for n, m in enumerate(body["messages"]):
        for i, block in enumerate(m["content"] if isinstance(m["content"], list) else ()):
            if block.get("cache_control"):
                yield f"messages.{n}.content.{i}", block["cache_control"]
            for j, inner in enumerate(block["content"] if isinstance(block.get("content"), list) else ()):
                if isinstance(inner, dict) and inner.get("cache_control"):
                    yield f"messages.{n}.content.{i}.content.{j}", inner["cache_control"]


def _cache_marks(body: Json) -> None:
    found = [*marks(body), *([("", body["cache_control"])] if body.get("cache_control") else [])]
    if len(found) > 4:
        raise Refusal(f"A maximum of 4 blocks with cache_control may be provided. Found {len(found)}.")
    short = False
    for at, mark in found:
        if mark.get("type") != "ephemeral":
            raise Refusal(f"{at}.cache_control.type: Input should be 'ephemeral'")
        ttl = mark.get("ttl", "5m")
        if ttl not in ("5m", "1h"):
            raise Refusal(f"{at}.cache_control.ephemeral.ttl: Input should be '5m' or '1h'")
        if ttl == "1h" and short:
            raise Refusal(
                f"{at}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control "
                "block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        short = short or ttl == "5m"


def _tools(body: Json) -> None:
    names = [t.get("name") for t in body.get("tools") or ()]
    if len(set(names)) != len(names):
        raise Refusal("tools: Tool names must be unique.")
    for n, tool in enumerate(body.get("tools") or ()):
        if "type" not in tool and not isinstance(tool.get("input_schema"), dict):
            raise Refusal(f"tools.{n}.custom.input_schema: Field required")
