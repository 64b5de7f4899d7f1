"""Messages of each format, as clients really write them."""

from __future__ import annotations

import json
from typing import Any

from clew.wire.detect import WIRES

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="
DATA_URL = "data:image/png;base64," + PNG


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def chat_call(call_id: str, name: str = "read", arguments: str = '{"path": "a.py"}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


CHAT_BODY: dict[str, Any] = {
    "model": "some-model",
    "temperature": 0.5,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": DATA_URL}}]},
        {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [chat_call("c1"), chat_call("c2", "ls", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "name": "read", "content": "print('ä')\n"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "a.py"}]},
        {"role": "assistant", "content": "Done.", "x_unknown": {"deep": [1, 2.5, None, True]}},
        {"role": "user", "content": "Thanks"},
    ],
    "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
    "stream": True,
    "x_unknown": [{"y": 1}],
}  # fmt: skip

ANTHROPIC_BODY: dict[str, Any] = {
    "model": "some-model",
    "max_tokens": 1000,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "read", "input_schema": {"type": "object"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                {"type": "document", "title": "Notes", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "zzz"},
                {"type": "text", "text": "Reading."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.py"}},
                {"type": "tool_use", "id": "toolu_2", "name": "shot", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no such file", "is_error": True},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [
                        {"type": "text", "text": "shot"},
                        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
                    ],
                },
                {"type": "text", "text": "and now?", "cache_control": {"type": "ephemeral"}},
            ],
        },
        {"role": "system", "content": "Stay calm."},
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": [{"type": "web_search_result", "title": "T", "url": "https://example.org", "encrypted_content": "e"}],
                },
                {"type": "text", "text": "Found.", "citations": [{"cited_text": "T"}]},
            ],
        },
        {"role": "user", "content": "Thanks"},
    ],
    "thinking": {"type": "enabled", "budget_tokens": 1024},
}  # fmt: skip

RESPONSES_BODY: dict[str, Any] = {
    "model": "some-model",
    "instructions": "Be brief.",
    "previous_response_id": "resp_1",
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rules."}]},
        {"role": "user", "content": "Look"},
        {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": DATA_URL, "detail": "low"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": '{"path":"a.py"}'},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "*** Begin Patch"},
        {"type": "local_shell_call", "id": "ls_1", "call_id": "call_3", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "function_call_output", "call_id": "call_1", "output": "text"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "ok"}, {"type": "input_image", "image_url": "https://example.org/a.png"}]},
        {"type": "local_shell_call_output", "call_id": "call_3", "output": "a.py"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "clew"}},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed"},
        {"type": "brand_new_item", "payload": [1]},
        {"type": "message", "role": "assistant", "id": "msg_1", "phase": "final", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
    ],
    "store": False,
    "include": ["reasoning.encrypted_content"],
}  # fmt: skip

BODIES = {"openai-chat": CHAT_BODY, "anthropic": ANTHROPIC_BODY, "openai-responses": RESPONSES_BODY}


def messages(name: str, values: list[dict[str, Any]]) -> list[Any]:
    return [WIRES[name].message(v) for v in values]
