"""The `openai` and `anthropic` SDKs and `litellm` through the gateway, past a small window: sync, async, streaming, with
tools and pictures. Only an address is set.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import importlib.util
import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.agent import PARAMETERS, shell

pytestmark = pytest.mark.slow

WINDOW = 24_000
CHAT, CLAUDE = "gpt-5", "claude-sonnet-4-6"
MODELS = {CHAT: {"window": WINDOW}, CLAUDE: {"window": WINDOW}}
ASKED = "errand:alpha steps=30 In the end tell me that alpha value=al4711."
SYSTEM = "You are a careful worker."
FUNCTION = {"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": PARAMETERS}}
CLAUDE_TOOL = {"name": "bash", "description": "Runs.", "input_schema": PARAMETERS}
RESPONSES_TOOL = {"type": "function", "name": "bash", "description": "Runs.", "parameters": PARAMETERS}


def sdk(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"left out: {name} is not installed (pip install 'clew[sdks]')")


def picture(width: int = 64, height: int = 64) -> str:
    """A PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x20\x60\xa0" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(png).decode()


@pytest.fixture
def place(serve):
    """The upstream, and the gateway's address."""
    with running(Upstream(Errand(), window=WINDOW)) as up:
        gateway = serve(up.url, models=MODELS)
        yield up, gateway
        assert up.refused == []
        counts = gateway.gateway.counts.all()
        assert counts.get("faults", 0) == 0
        assert counts["epochs"] >= 2


def chat_start():
    shown = [
        {"type": "text", "text": ASKED},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture()}"}},
    ]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": shown}]


def took(messages, calls):
    """A chat turn's calls carried out; `calls` are (id, arguments)."""
    asked = [{"id": i, "type": "function", "function": {"name": "bash", "arguments": a}} for i, a in calls]
    messages.append({"role": "assistant", "content": None, "tool_calls": asked})
    for i, arguments in calls:
        messages.append({"role": "tool", "tool_call_id": i, "content": shell(json.loads(arguments)["command"])})


def chat_turn(message):
    return [(c.id, c.function.arguments) for c in message.tool_calls or ()], message.content or ""


def streamed(chunks):
    """Calls and words of a chat stream."""
    calls, words = {}, ""
    for chunk in chunks:
        for choice in chunk.choices:
            words += choice.delta.content or ""
            for c in choice.delta.tool_calls or ():
                kept = calls.setdefault(c.index, ["", ""])
                kept[0] += c.id or ""
                kept[1] += c.function.arguments or ""
    return [tuple(c) for c in calls.values()], words


def looped(ask, messages):
    """`ask` answers with calls and words until there are no more calls."""
    for _ in range(60):
        calls, words = ask(messages)
        if not calls:
            return words
        took(messages, calls)
    raise AssertionError("the model doesn't come to an end")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_openai_chat(place, stream):
    openai = sdk("openai")
    _, gateway = place
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="sk-one", max_retries=0) as client:

        def ask(messages):
            given = {"model": CHAT, "messages": messages, "tools": [FUNCTION], "max_completion_tokens": 500}
            if stream:
                return streamed(client.chat.completions.create(**given, stream=True))
            return chat_turn(client.chat.completions.create(**given).choices[0].message)

        assert looped(ask, chat_start()) == "done: al4711"


def test_openai_chat_async(place):
    openai = sdk("openai")
    _, gateway = place

    async def work():
        async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="sk-one", max_retries=0) as client:
            messages = chat_start()
            for _ in range(60):
                given = {"model": CHAT, "messages": messages, "tools": [FUNCTION], "max_completion_tokens": 500}
                chunks = [c async for c in await client.chat.completions.create(**given, stream=True)]
                calls, words = streamed(chunks)
                if not calls:
                    return words
                took(messages, calls)
        return None

    assert asyncio.run(work()) == "done: al4711"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_openai_responses(place, stream):
    openai = sdk("openai")
    _, gateway = place
    said = [
        {"type": "input_text", "text": ASKED},
        {"type": "input_image", "image_url": f"data:image/png;base64,{picture()}", "detail": "auto"},
    ]
    items = [{"role": "user", "content": said}]
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="sk-one", max_retries=0) as client:
        for _ in range(60):
            given = {"model": CHAT, "input": items, "tools": [RESPONSES_TOOL], "instructions": SYSTEM, "store": False}
            given["max_output_tokens"] = 500
            if stream:
                with client.responses.stream(**given) as events:
                    answer = events.get_final_response()
            else:
                answer = client.responses.create(**given)
            items += [i.model_dump(exclude_none=True) for i in answer.output]
            calls = [i for i in answer.output if i.type == "function_call"]
            for c in calls:
                output = shell(json.loads(c.arguments)["command"])
                items.append({"type": "function_call_output", "call_id": c.call_id, "output": output})
            if not calls:
                break
    assert answer.output_text == "done: al4711"


def claude_start():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture()}}
    return [{"role": "user", "content": [{"type": "text", "text": ASKED}, image]}]


def claude_took(messages, answer):
    """Whether there is more to do."""
    messages.append({"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in answer.content]})
    results = [
        {"type": "tool_result", "tool_use_id": b.id, "content": shell(b.input["command"])}
        for b in answer.content
        if b.type == "tool_use"
    ]
    if results:
        messages.append({"role": "user", "content": results})
    return bool(results)


def claude_asked(messages):
    return {"model": CLAUDE, "max_tokens": 500, "system": SYSTEM, "tools": [CLAUDE_TOOL], "messages": messages}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_anthropic(place, stream):
    anthropic = sdk("anthropic")
    up, gateway = place
    messages = claude_start()
    with anthropic.Anthropic(base_url=gateway.url, api_key="sk-ant-one", max_retries=0) as client:
        for _ in range(60):
            if stream:
                with client.messages.stream(**claude_asked(messages)) as events:
                    answer = events.get_final_message()
            else:
                answer = client.messages.create(**claude_asked(messages))
            if not claude_took(messages, answer):
                break
        counted = client.messages.count_tokens(
            **{k: v for k, v in claude_asked(messages[:-1]).items() if k != "max_tokens"}
        )
    assert answer.content[-1].text == "done: al4711"
    told = answer.usage
    prompt = told.input_tokens + (told.cache_read_input_tokens or 0) + (told.cache_creation_input_tokens or 0)
    assert counted.input_tokens == prompt == up.records[-2].usage.prompt
    assert prompt < WINDOW
    assert told.cache_read_input_tokens > 0  # marked by Clew, as this agent marks nothing


def test_anthropic_async(place):
    anthropic = sdk("anthropic")
    _, gateway = place

    async def work():
        messages = claude_start()
        async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key="sk-ant-one", max_retries=0) as client:
            for _ in range(60):
                async with client.messages.stream(**claude_asked(messages)) as events:
                    answer = await events.get_final_message()
                if not claude_took(messages, answer):
                    return answer.content[-1].text
        return None

    assert asyncio.run(work()) == "done: al4711"


@pytest.mark.parametrize("way", ["whole", "stream", "async"])
def test_litellm(place, way):
    """To an OpenAI model, whole and streaming; to one of Anthropic's, async."""
    if importlib.util.find_spec("litellm") is None:
        pytest.skip("left out: litellm is not installed (pip install 'clew[sdks]')")
    up, gateway = place
    command = [sys.executable, str(Path(__file__).with_name("litellm_agent.py")), gateway.url, way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1])["said"] == "done: al4711"
    assert {r.wire for r in up.records} == {"anthropic" if way == "async" else "openai-chat"}
