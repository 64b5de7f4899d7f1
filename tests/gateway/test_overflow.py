"""An upstream that says the request is too long: recognised in each provider's words, answered with a shorter one."""

from __future__ import annotations

import asyncio
import gzip
import json

import pytest

from clew import jsonio
from clew.gateway.opening import Opening
from clew.gateway.overflow import Overflow, read
from clew.testing.upstream import Errand, Upstream, running
from tests.gateway.agent import PATHS, Agent, shell
from tests.gateway.raw import RawUpstream, answer

SAID = [
    (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 215000 tokens > 200000 maximum"}}, (200000, 215000)),
    (400, {"error": {"message": "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again"}}, (200000, 190000)),
    (413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}, (0, 0)),
    (400, {"error": {"message": "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages.", "code": "context_length_exceeded"}}, (128000, 130001)),
    (400, {"error": {"message": "This model's maximum context length is 8192 tokens. However, you requested 9192 tokens (8192 in the messages, 1000 in the completion).", "code": 400}}, (8192, 8192)),
    (400, {"error": {"message": "Your input exceeds the context window of this model. Please adjust your input and try again.", "code": "context_length_exceeded"}}, (0, 0)),
    (400, {"error": {"message": "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output)."}}, (131072, 139000)),
    (400, {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}, (131072, 537812)),
    (400, {"error": {"message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}, (1048576, 1200000)),
    (400, {"error": {"code": "model_max_prompt_tokens_exceeded", "message": "prompt token count of 150000 exceeds the limit of 128000"}}, (128000, 150000)),
    (400, {"error": {"code": 400, "message": "the request exceeds the available context size (8192 tokens), try increasing it", "type": "exceed_context_size_error"}}, (8192, 0)),
    (400, {"error": {"message": "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it"}}, (8192, 9001)),
    (400, {"error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}, (4096, 0)),
    (400, {"message": "Input is too long for requested model."}, (0, 0)),
    (400, {"object": "error", "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}, (32768, 40000)),
    (400, {"error": {"message": "Invalid request: Your request exceeded model token limit: 262144", "type": "invalid_request_error"}}, (262144, 0)),
    (400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}, (0, 0)),
    (400, {"error": {"message": "Please reduce the length of the messages or completion.", "code": "context_length_exceeded"}}, (0, 0)),
    (500, {"error": {"message": "Context size has been exceeded."}}, (0, 0)),
    (400, {"error": {"message": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.", "code": "context_length_exceeded"}}, (272000, 300000)),
    (400, {"error": {"message": "You passed 67073 input tokens and requested 64000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 67072 tokens."}}, (131072, 67073)),
    (400, {"error": {"message": "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000)."}}, (8192, 5000)),
    (400, {"message": "The input (516368 tokens) is longer than the model's context length (262144 tokens)."}, (262144, 516368)),
    (400, {"error": {"message": "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 139000 tokens from the input messages and 1000 tokens for the completion."}}, (131072, 139000)),
    (400, {"error": {"message": "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."}}, (131040, 131393)),
    (400, {"error": "prompt too long; exceeded max context length by 4021 tokens"}, (0, 0)),
    (400, {"error": {"message": "tokens to keep from the initial prompt is greater than the context length (n_ctx: 8192)"}}, (8192, 0)),
    (400, {"error": {"code": 400, "message": "the request exceeds the available context size. try increasing the context size", "n_prompt_tokens": 9001, "n_ctx": 8192}}, (8192, 9001)),
    (400, {"error": {"message": "invalid params, context window exceeds limit (2013)"}}, (0, 0)),
    (400, {"error": {"message": "Prompt has 140000 tokens, but the configured context size is 131072 tokens"}}, (131072, 140000)),
    (400, {"error": {"message": "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]"}}, (98304, 0)),
    (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 100 `max_new_tokens`"}, (4097, 5000)),
    (400, {"error": {"message": "The prompt is too long: 140000, model maximum context length: 131071"}}, (131071, 140000)),
    (400, {"message": "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192"}, (8192, 9000)),
    (400, {"error": {"message": "Your request exceeded model token limit: 262144 (requested: 291351)"}}, (262144, 291351)),
    (400, {"error": {"message": "total message size 2306631 exceeds limit 2097152"}}, (0, 0)),
    (400, {"error": {"message": "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again."}}, (1048576, 1200000)),
    (400, {"error": {"message": "Invalid 'messages[3].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.", "code": "string_above_max_length"}}, (0, 0)),
]  # fmt: skip

OTHERS = [
    (400, {"error": {"message": "messages: text content blocks must be non-empty"}}),
    (429, {"error": {"message": "Rate limit reached: prompt is too long for your tier"}}),
    (413, {"error": {"message": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000", "code": "rate_limit_exceeded"}}),
    (401, {"error": {"message": "invalid x-api-key"}}),
    (400, {"error": {"message": "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens"}}),
    (500, {"error": {"message": "Internal server error"}}),
    (400, {"error": {"message": "max_tokens must be at least 1, got -202. (parameter=max_tokens, value=-202)"}}),
    (400, {"error": {"message": "max_tokens is too large: 40000. This model supports at most 32768 completion tokens, whereas you provided 40000."}}),
    (400, {"error": {"message": "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.", "code": "string_above_max_length"}}),
    (400, {"error": {"message": "Invalid 'metadata.x': string too long. Expected a string with maximum length 512.", "code": "string_above_max_length"}}),
    (400, {"error": {"message": "messages.2.content: at least 101 images, which exceeds the limit of 100"}}),
    (200, {"choices": [{"message": {"content": "prompt is too long: 3 tokens > 2 maximum"}}]}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "told"), SAID)
def test_each_providers_words(status, body, told):
    assert read(status, jsonio.dumps(body)) == Overflow(*told)


@pytest.mark.parametrize(("status", "body"), OTHERS)
def test_other_errors_are_left_alone(status, body):
    assert read(status, jsonio.dumps(body)) is None


TOO_LONG = {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}
CREATED = [
    {"type": t, "response": {"id": "r", "status": "in_progress", "error": None, "instructions": "no .delta, no error"}}
    for t in ("response.created", "response.in_progress")
]


def events(*values: object) -> list[bytes]:
    return [b"data: " + jsonio.dumps(v) + b"\n\n" for v in values]


@pytest.mark.parametrize("encoding", ["", "gzip"])
@pytest.mark.parametrize(
    ("began", "told"),
    [
        (events(*CREATED, {"type": "response.failed", "response": {"error": TOO_LONG}}), True),
        (events({"type": "error", **TOO_LONG}), True),
        ([b": OPENROUTER PROCESSING\n\n", *events({"id": "g", "choices": [], "error": TOO_LONG})], True),
        (events(*CREATED, {"type": "response.output_item.added", "item": {}}, {"type": "error", **TOO_LONG}), False),
        (events({"type": "response.output_text.delta", "delta": "error: context_length_exceeded"}), False),
        (events(*CREATED, {"type": "response.failed", "response": {"error": {"code": "server_error"}}}), False),
        (events({"choices": [{"delta": {"content": "context_length_exceeded"}}]}), False),
        ([b"data: {broken\n\n"], False),
    ],
)
def test_how_a_stream_begins(began, told, encoding):
    whole = b"".join(began)
    opening = Opening(encoding)
    for byte in gzip.compress(whole) if encoding else whole:
        opening.feed(bytes([byte]))
    assert opening.decided
    assert opening.told == (Overflow() if told else None)


def test_a_stream_that_fails_after_it_was_created_is_asked_again(serve):
    """As OpenAI does it: 200, two events that say nothing, and then that it is too long."""
    said = events(*CREATED, {"type": "response.completed", "response": {"id": "r", "status": "completed"}})

    async def play(came, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        long = len(came.body) > 30_000
        for event in (
            (*said[:2], *events({"type": "response.failed", "response": {"error": TOO_LONG}})) if long else said
        ):
            writer.write(event)
            await writer.drain()
            await asyncio.sleep(0.05)

    with running(RawUpstream(play)) as up:
        gateway = serve(up.url, models={"gpt-5": {"window": 16_000}})
        agent = Agent("openai-responses", gateway.url, session="one", stream=True, output=500)
        agent.history = [
            {"role": r, "content": f"{r} {i} " + "word " * 400} for i in range(9) for r in ("user", "assistant")
        ]
        agent.history.append({"role": "user", "content": "and now?"})
        status, _, raw = agent.ask()
        assert (status, raw) == (200, b"".join(said))
        assert [len(c.body) > 30_000 for c in up.came] == [True, False]


@pytest.mark.parametrize("wire", PATHS)
def test_a_window_nobody_knew_is_learned_and_kept_to(serve, wire):
    """The catalogue says hundreds of thousands; the upstream takes 9,000. The client sees nothing of it."""
    with running(Upstream(Errand(), window=9_000)) as up:
        gateway = serve(up.url)
        agent = Agent(wire, gateway.url, session="one", results=shell, output=500)
        assert agent.run("errand:alpha steps=25 In the end tell me that alpha value=al4711.") == "done: al4711"
        counts = gateway.gateway.counts.all()
        assert counts["overflows"] == len(up.refused) > 0
        if wire != "openai-responses":  # it names no number: there each wall is met anew, and each time it is less
            assert counts["overflows"] <= 3
            assert gateway.gateway.learned.all() == {f"up/{agent.body()['model']}": 9_000}


@pytest.mark.parametrize("bias", [1.6, 0.7])
def test_a_provider_that_counts_otherwise(serve, bias):
    """Its tokens are half again as many as ours, or fewer: what it reports is believed."""
    models = {"gpt-5": {"window": 16_000}}
    with running(Upstream(Errand(), window=16_000, bias=bias)) as up:
        gateway = serve(up.url, models=models)
        agent = Agent("openai-chat", gateway.url, session="one", results=shell, output=500)
        assert agent.run("errand:alpha steps=40 In the end tell me that alpha value=al4711.") == "done: al4711"
        assert len(up.refused) <= 1


def test_it_gives_up_after_three_tries_and_passes_the_refusal_on(serve):
    body = jsonio.dumps(
        {"error": {"message": "Please reduce the length of the messages", "code": "context_length_exceeded"}}
    )
    with running(
        RawUpstream(answer("400 Bad Request", ["content-type: application/json", f"content-length: {len(body)}"], body))
    ) as up:
        gateway = serve(up.url)
        agent = Agent("openai-chat", gateway.url, session="one")
        agent.history = [
            {"role": r, "content": f"{r} {i} " + "word " * 400} for i in range(30) for r in ("user", "assistant")
        ]
        agent.history.append({"role": "user", "content": "and now?"})
        status, _, raw = agent.ask()
        assert (status, raw) == (400, body)
        sizes = [len(c.body) for c in up.came]
        assert 2 <= len(sizes) <= 4
        assert sizes == sorted(sizes, reverse=True)
        assert len(set(sizes)) == len(sizes)


def test_a_body_too_large_is_shortened(serve):
    """413 without a number: what was learned is nothing, what is sent is less."""
    with running(Upstream(Errand(), window=9_000)) as up:
        gateway = serve(up.url)
        agent = Agent("openai-chat", gateway.url, session="one", results=shell, output=500)
        agent.run("errand:alpha steps=12 In the end tell me that alpha value=al4711.")
        assert json.loads(up.records[-1].raw)["messages"][0] == agent.body()["messages"][0]
