"""Whether caching is on and why; OpenAI's key."""

from __future__ import annotations

import pytest

from clew.caching import describe, keyed, route
from clew.catalog import lookup
from clew.wire import get
from tests.caching.requests import OPENROUTER

OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("wire", "model", "upstream", "way", "line"),
    [
        ("anthropic", "claude-sonnet-4-6", "", "anthropic", "Prompt caching: on (claude-sonnet-4-6 through Anthropic's API, 1h, from 1,024 tokens)"),
        ("openai-chat", "claude-opus-4-6", OPENROUTER, "openrouter", "Prompt caching: on (claude-opus-4-6 through OpenRouter, 1h, from 4,096 tokens)"),
        ("openai-responses", "gpt-5.1", OPENAI, "openai", "Prompt caching: on (gpt-5.1: OpenAI caches by itself; Clew sends a prompt_cache_key)"),
        ("openai-chat", "deepseek-v4-pro", "https://api.deepseek.com", "provider", "Prompt caching: on (deepseek-v4-pro: the provider caches by itself, nothing is marked)"),
        ("openai-chat", "gpt-5.1", "http://[", "provider", "Prompt caching: on (gpt-5.1: the provider caches by itself, nothing is marked)"),
        ("openai-chat", "gpt-4", OPENAI, "none", "Prompt caching: off (gpt-4 has no prefix cache)"),
        (
            "openai-chat", "claude-sonnet-4-6", "https://llm.example.com/v1", "none",
            "Prompt caching: off (claude-sonnet-4-6 caches only what is marked, and on this route marks are not known to be accepted: openai-chat at llm.example.com)",
        ),
    ],
)  # fmt: skip
def test_the_way_and_the_line(wire, model, upstream, way, line):
    assert route(wire, lookup(model), upstream) == way
    assert describe(lookup(model), wire, "1h", upstream) == line


def responses(**rest):
    return get("openai-responses").request({"model": "gpt-5.1", "input": "hi", **rest})


def test_a_clients_key_stays_and_a_missing_one_is_set():
    model = lookup("gpt-5.1")
    given = responses(prompt_cache_key="mine")
    assert keyed(given, model, "session", upstream=OPENAI) is given
    one = keyed(responses(), model, "session", upstream=OPENAI).rest["prompt_cache_key"]
    assert one == keyed(responses(), model, "session", upstream=OPENAI).rest["prompt_cache_key"]
    assert one != keyed(responses(), model, "other", upstream=OPENAI).rest["prompt_cache_key"]
    assert len(one) <= 64
    assert "session" not in one


@pytest.mark.parametrize(
    ("upstream", "session"),
    [("https://llm.example.com/v1", "s"), (OPENAI, ""), ("https://api.openai.com.example.com", "s")],
)
def test_elsewhere_no_unknown_member_is_sent(upstream, session):
    request = responses()
    assert keyed(request, lookup("gpt-5.1"), session, upstream=upstream) is request
