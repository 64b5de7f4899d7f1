"""The catalog's facts hang together, names find their model, the user's file wins, and a guess warns once."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from dataclasses import fields

import pytest

from clew import catalog
from clew.catalog import Model, Prices, names
from clew.errors import ClewWarning, ConfigError
from tests.conftest import ROOT

MODELS = catalog.models()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_the_facts_of_a_model_hang_together(model: Model):
    assert model.window >= 1_000
    assert 0 <= model.max_output <= model.window
    assert not model.guessed
    for prices in filter(None, (model.prices, model.long_prices)):
        assert 0 <= prices.cache_read <= prices.input <= prices.output
        assert prices.input <= prices.cache_write_5m <= prices.cache_write_1h
    assert bool(model.long_over) == (model.long_prices is not None)
    assert model.long_over <= model.window
    if model.cache.kind == "explicit":
        assert model.cache.max_breakpoints == 4
        assert model.cache.lookback == 20
    re.compile(model.quirks.call_id)


def test_anthropics_multipliers_hold():
    for m in MODELS:
        if m.provider == "anthropic":
            assert m.prices.cache_write_5m == pytest.approx(1.25 * m.prices.input, rel=0.05), m.name
            assert m.prices.cache_write_1h == pytest.approx(2 * m.prices.input, rel=0.01), m.name
            assert m.prices.cache_read <= 0.12 * m.prices.input + 1e-9, m.name


def test_the_main_providers_are_there():
    providers = {m.provider for m in MODELS}
    assert providers >= {
        "anthropic", "openai", "google", "xai", "deepseek", "alibaba", "mistral", "zai", "moonshot", "minimax", "local",
    }  # fmt: skip
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", catalog.written())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("Claude-Sonnet-4.5", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("bedrock/anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("claude-opus-4@20250514", "claude-opus-4"),
        ("anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5.1-codex-max", "gpt-5.1-codex-max"),
        ("gpt-5.2-codex-high", "gpt-5.2-codex"),
        ("azure/gpt-4.1-mini", "gpt-4.1-mini"),
        ("o3-2025-04-16", "o3"),
        ("x-ai/grok-code-fast-1", "grok-code-fast-1"),
        ("moonshotai/kimi-k2.6", "kimi-k2.6"),
        ("z-ai/glm-4.6", "glm-4.6"),
        ("MiniMaxAI/MiniMax-M2", "minimax-m2"),
        ("magistral-medium-2509", "magistral-medium-latest"),
        ("ollama/llama3.1:8b", "llama-3.1"),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama-3.3"),
        ("accounts/fireworks/models/llama-v3p1-70b-instruct", "llama-3.1"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama-3.1"),
        ("qwen2.5-coder:7b-instruct-q4_K_M", "qwen2.5-coder"),
        ("gpt-oss:20b", "gpt-oss-20b"),
    ],
)
def test_a_model_is_found_by_the_names_it_goes_by(name: str, expected: str):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert catalog.lookup(name).name == expected


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_every_model_is_found_by_its_own_name_and_with_a_prefix(model: Model):
    assert catalog.lookup(model.name) == model
    assert catalog.lookup(f"openrouter/{model.provider}/{model.name}") == model


@pytest.mark.parametrize("name", ["gpt-5.9", "claude-opus-9", "gpt-4o-audio-preview", "gemini-99-pro"])
def test_a_newer_version_is_not_taken_for_an_older_one(name: str):
    with pytest.warns(ClewWarning):
        assert catalog.lookup(name).guessed


def test_the_long_window_marker_and_self_hosting():
    assert catalog.lookup("claude-sonnet-4-5[1m]").window == 1_000_000
    assert catalog.lookup("claude-sonnet-4-5").window == 200_000
    assert catalog.lookup("ollama/deepseek-r1:7b").prices == Prices(0, 0, 0, 0, 0)
    assert catalog.lookup("deepseek-r1").prices.input > 0


def test_long_requests_have_their_own_prices():
    gpt = catalog.lookup("gpt-5.4")
    assert gpt.prices_at(272_000) == gpt.prices
    assert gpt.prices_at(272_001).input == 2 * gpt.prices.input
    assert catalog.lookup("gpt-4o").prices_at(10**7) == catalog.lookup("gpt-4o").prices


def test_an_unknown_model_is_guessed_with_one_warning_that_says_how_to_add_it():
    with pytest.warns(ClewWarning, match=r"models:\n\s+'claude-next-9'") as told:
        first = catalog.lookup("claude-next-9")
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert catalog.lookup("claude-next-9") is first
    assert first.guessed
    assert (first.family, first.window) == ("claude-4.7", 200_000)


def test_guesses_are_careful():
    for kind, listed in {"claude": "claude-", "gpt": "gpt-5", "deepseek": "deepseek-"}.items():
        with pytest.warns(ClewWarning):
            guess = catalog.lookup(f"{kind}-unheard-of")
        same = [m for m in MODELS if m.name.startswith(listed) and not m.retires]
        assert guess.window <= min(m.window for m in same)
    with pytest.warns(ClewWarning, match="small local model"):
        assert catalog.lookup("nobody/knows-this").window == 8192


def test_the_users_file_overrides_field_by_field():
    extra = {
        "claude-opus-4-5": {"window": 100_000, "cache": {"minimum": 10}},
        "house-model": {"like": "gpt-5", "price": [1, 2], "quirks": {"alternation": True}, "aliases": ["hm"]},
        "gpt-77": {"window": 500_000, "price": [7, 8, 0.7]},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        claude = catalog.lookup("anthropic/claude-opus-4-5-20251101", extra)
        house = catalog.lookup("proxy/hm", extra)
        gpt = catalog.lookup("gpt-77", extra)
    shipped = catalog.lookup("claude-opus-4-5")
    assert (claude.window, claude.cache.minimum, claude.cache.lookback) == (100_000, 10, 20)
    assert claude.prices == shipped.prices
    assert (house.name, house.family, house.window) == ("house-model", "gpt-o200k", 400_000)
    assert house.prices == Prices(1, 2, 1, 1, 1)
    assert house.quirks.alternation
    assert house.quirks.system_mid
    assert (gpt.window, gpt.prices.cache_read, gpt.guessed) == (500_000, 0.7, False)
    assert catalog.lookup("claude-opus-4-5", extra={}) == shipped


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"windw": 1}, "models.m.windw"),
        ({"cache": {"min": 1}}, "models.m.cache.min"),
        ({"quirks": {"x": True}}, "models.m.quirks.x"),
        ({"quirks": 3}, "models.m.quirks"),
        ({"price": [1]}, "models.m.price"),
        ({"price": [1, -2]}, "models.m.price"),
        ({"price": "free"}, "models.m.price"),
        ({"window": "big"}, "models.m.window"),
        ({"window": True}, "models.m.window"),
        ({"aliases": "m2"}, "models.m.aliases"),
        ({"like": "nothing-known"}, "models.m.like"),
        (12, "models.m"),
    ],
)
def test_a_bad_entry_is_an_error_that_names_the_place(entry: object, place: str):
    with pytest.raises(ConfigError, match=re.escape(place)):
        catalog.lookup("other-model", {"m": entry}) if place.endswith("aliases") else catalog.lookup("m", {"m": entry})


def test_the_table_is_read_only_when_asked_for():
    code = "import clew.catalog as c, clew.catalog.table as t; print(t._data.cache_info().misses)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "0"


def test_spellings_end():
    for text in ("", "-", "/", ":", "a/b/c/", "-latest", "x" * 5000, "-v1:0"):
        assert len(names.spellings(text)) < 5000
    assert {f.name for f in fields(Model)} >= {"window", "prices", "cache", "quirks"}


def row(m: Model) -> str:
    """One line of the table in the docs."""
    p, rules = m.prices, m.cache
    prices = " / ".join(f"{x:g}" for x in (p.input, p.cache_read, p.cache_write_5m, p.cache_write_1h, p.output))
    kind = rules.kind if rules.kind != "automatic" else f"automatic, by {rules.hits}"
    limit = f"{m.max_output:,}" if m.max_output else "none of its own"
    over = f" (over {m.long_over:,} dearer)" if m.long_over else ""
    return f"| `{m.name}` | {m.family} | {m.window:,} | {limit} | {prices}{over} | {kind}, from {rules.minimum:,} |"


def test_the_table_in_the_docs_is_the_catalog():
    text = (ROOT / "docs" / "reference" / "models.md").read_text(encoding="utf-8")
    shown = [line for line in text.splitlines() if line.startswith("| `") and line.count("|") == 7]
    assert shown == [row(m) for m in MODELS]
    assert f"read on {catalog.written()}" in text
