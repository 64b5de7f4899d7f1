"""Usage in every provider's spelling."""

from __future__ import annotations

import pytest

from clew.wire import usage
from clew.wire.usage import Usage

SPELLINGS = [
    ("openai-chat", {"prompt_tokens": 100, "completion_tokens": 9}, Usage(input=100, output=9)),
    (
        "openai-chat",
        {
            "prompt_tokens": 100,
            "completion_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
        Usage(input=36, cache_read=64, output=9, reasoning=4),
    ),
    (
        "openai-responses",
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 64},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4},
        },
        Usage(input=36, cache_read=64, output=9, reasoning=4),
    ),
    (  # Codex' own records of Responses
        "openai-responses",
        {"input_tokens": 100, "cached_input_tokens": 64, "output_tokens": 9, "reasoning_output_tokens": 4},
        Usage(input=36, cache_read=64, output=9, reasoning=4),
    ),
    (
        "anthropic",
        {"input_tokens": 3, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 900, "output_tokens": 7},
        Usage(input=3, cache_read=900, cache_write_5m=50, output=7),
    ),
    (
        "anthropic",
        {
            "input_tokens": 3,
            "cache_creation_input_tokens": 50,
            "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
            "output_tokens": 7,
        },
        Usage(input=3, cache_write_5m=20, cache_write_1h=30, output=7),
    ),
    (  # OpenRouter
        "openai-chat",
        {
            "prompt_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 50},
            "completion_tokens": 9,
            "cost": 0.1,
        },
        Usage(input=10, cache_read=40, cache_write_5m=50, output=9),
    ),
    (  # DeepSeek
        "openai-chat",
        {"prompt_tokens": 100, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36, "completion_tokens": 9},
        Usage(input=36, cache_read=64, output=9),
    ),
    (  # Moonshot
        "openai-chat",
        {"prompt_tokens": 100, "cached_tokens": 64, "completion_tokens": 9},
        Usage(input=36, cache_read=64, output=9),
    ),
    (  # xAI counts reasoning beside the completion
        "openai-chat",
        {
            "prompt_tokens": 100,
            "completion_tokens": 9,
            "total_tokens": 129,
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
        Usage(input=100, output=29, reasoning=20),
    ),
    (  # Gemini
        "",
        {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 5, "thoughtsTokenCount": 4},
        Usage(input=40, cache_read=60, output=9, reasoning=4),
    ),
    (  # Bedrock
        "",
        {"inputTokens": 3, "outputTokens": 7, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 50},
        Usage(input=3, cache_read=900, cache_write_5m=50, output=7),
    ),
    (  # an Anthropic model behind the chat format
        "openai-chat",
        {
            "prompt_tokens": 100,
            "cache_read_input_tokens": 60,
            "cache_creation_input_tokens": 30,
            "completion_tokens": 9,
        },
        Usage(input=10, cache_read=60, cache_write_5m=30, output=9),
    ),
]


@pytest.mark.parametrize("wire, told, expected", SPELLINGS)
def test_every_spelling_is_read(wire, told, expected):
    assert usage.read(told, wire) == expected
    assert usage.read({"id": "x", "usage": told}, wire) == expected


def test_the_prompt_is_everything_that_was_read():
    assert Usage(1, 2, 3, 4, 5, 1).prompt == 10
    assert Usage(1, 2, 3, 4, 5, 1).cache_write == 7


def test_usage_is_found_in_bodies_events_and_gemini_answers():
    told = {"input_tokens": 5, "output_tokens": 1}
    assert usage.read({"type": "message_start", "message": {"usage": told}}, "anthropic") == Usage(input=5, output=1)
    event = {"type": "response.completed", "response": {"usage": told}}
    assert usage.read(event, "openai-responses") == Usage(input=5, output=1)
    assert usage.read({"usageMetadata": {"promptTokenCount": 5}}) == Usage(input=5)


@pytest.mark.parametrize("value", [None, [], "x", 5, {}, {"usage": None}, {"usage": {}}, {"choices": []}])
def test_nothing_told_is_none(value):
    assert usage.read(value, "openai-chat") is None


def test_lies_are_cut_to_what_can_be():
    lying = {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 99}, "completion_tokens": -4}
    assert usage.read(lying, "openai-chat") == Usage(cache_read=10)
    odd = {"input_tokens": "12", "output_tokens": True, "cache_read_input_tokens": float("inf")}
    assert usage.read(odd, "anthropic") == Usage()
    more = {"prompt_tokens": 10, "cache_creation_input_tokens": 8, "cache_read_input_tokens": 6, "completion_tokens": 1}
    assert usage.read(more, "openai-chat").prompt == 10


def test_without_a_wire_the_anthropic_spelling_is_told_by_its_cache_counts():
    assert usage.read({"input_tokens": 3, "cache_read_input_tokens": 9, "output_tokens": 1}).prompt == 12
    assert usage.read({"input_tokens": 12, "input_tokens_details": {"cached_tokens": 9}}).prompt == 12


def test_later_counts_win_but_never_shrink():
    merged = usage.merged({"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 0, "output_tokens": 9, "x": None})
    assert merged == {"input_tokens": 5, "output_tokens": 9, "x": None}
    assert usage.merged(None, {"a": 1}) == {"a": 1}
    assert usage.merged({"a": 1}, None) == {"a": 1}
