"""Summarisers: what a spec names, what is sent, what comes back, and which class a failure has."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clew import summarise
from clew.config import Settings
from clew.errors import ConfigError, SummaryError
from clew.handoff.prompt import PREVIOUS_ANSWER
from clew.summarise import Cancel, Reply, from_spec, kinds, run
from clew.summarise.client import Client
from clew.summarise.spec import Called, Missing
from clew.testing.model import Provider, Scripted, anthropic_stream, chat_stream, json_answer
from clew.wire.usage import Usage

KEY = "sk-test-A1b2C3d4E5f6G7h8I9j0K1l2M3n4"


def settings(**keys: object) -> Settings:
    return Settings().with_({k.replace("__", "."): v for k, v in keys.items()})


# --- what a spec names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "env", "url", "model", "dialect"),
    [
        ("anthropic:claude-haiku-4-5", {"ANTHROPIC_API_KEY": KEY}, "https://api.anthropic.com", "claude-haiku-4-5", "anthropic"),
        ("openai:gpt-5-mini", {"OPENAI_API_KEY": KEY}, "https://api.openai.com/v1", "gpt-5-mini", "openai-chat"),
        ("openrouter:qwen/qwen3", {"OPENROUTER_API_KEY": KEY}, "https://openrouter.ai/api/v1", "qwen/qwen3", "openai-chat"),
        ("nous:Hermes-4", {"NOUS_API_KEY": KEY}, "https://inference-api.nousresearch.com/v1", "Hermes-4", "openai-chat"),
        ("openai:gpt-5", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://localhost:1/v1"}, "http://localhost:1/v1", "gpt-5", "openai-chat"),
    ],
)  # fmt: skip
def test_a_provider_and_model(spec: str, env: dict[str, str], url: str, model: str, dialect: str):
    made = from_spec(spec, env=env)
    assert isinstance(made, Client)
    assert (made.url, made.model, made.dialect, made.key) == (url, model, dialect, KEY)


def test_a_url_never_gets_a_known_providers_key():
    env = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    made = from_spec("http://127.0.0.1:8080/v1#qwen", env=env)
    assert isinstance(made, Client)
    assert (made.url, made.model, made.key, made.window) == ("http://127.0.0.1:8080/v1", "qwen", "", 0)
    own = from_spec("http://127.0.0.1:8080/v1", env={"CLEW_SUMMARIZER_API_KEY": KEY}, window=8_192)
    assert isinstance(own, Client)
    assert (own.model, own.key, own.window) == ("default", KEY, 8_192)


def test_nothing_configured_is_no_summariser():
    assert from_spec(None, env={"OPENAI_API_KEY": KEY}) is None
    assert from_spec("main", env={"OPENAI_API_KEY": KEY}) is None
    assert from_spec("none") is None


@pytest.mark.parametrize(
    ("keys", "env", "expected"),
    [
        ({"model": "claude-haiku-4-5"}, {"ANTHROPIC_API_KEY": KEY}, ("https://api.anthropic.com", "claude-haiku-4-5")),
        ({"model": "claude-haiku-4-5"}, {"OPENROUTER_API_KEY": KEY}, ("https://openrouter.ai/api/v1", "claude-haiku-4-5")),
        ({"provider": "nous", "model": "Hermes-4"}, {"NOUS_API_KEY": KEY}, ("https://inference-api.nousresearch.com/v1", "Hermes-4")),
        ({"provider": "http://10.0.0.1/v1", "model": "m"}, {}, ("http://10.0.0.1/v1", "m")),
        ({"base_url": "http://10.0.0.2/v1"}, {}, ("http://10.0.0.2/v1", "default")),
        ({"provider": "openai", "model": "gpt-5", "api_key": "${MINE}"}, {"MINE": KEY}, ("https://api.openai.com/v1", "gpt-5")),
    ],
)  # fmt: skip
def test_the_settings_name_one(keys: dict[str, str], env: dict[str, str], expected: tuple[str, str]):
    made = from_spec(None, settings(**{f"auxiliary__compression__{k}": v for k, v in keys.items()}), env=env)
    assert isinstance(made, Client)
    assert (made.url, made.model) == expected


def test_main_is_the_settings_main_model():
    s = settings(model__default="glm-5", model__base_url="http://10.0.0.3/v1", model__context_length=64_000)
    made = from_spec("main", s, env={})
    assert isinstance(made, Client)
    assert (made.url, made.model, made.window) == ("http://10.0.0.3/v1", "glm-5", 64_000)
    aux = from_spec(None, s.with_({"auxiliary.compression.provider": "main"}), env={})
    assert aux == made


@pytest.mark.parametrize(
    ("spec", "keys"),
    [
        ("openai:gpt-5", {}),
        (None, {"auxiliary__compression__provider": "openrouter"}),
        (None, {"auxiliary__compression__provider": "openrouter", "auxiliary__compression__model": "m"}),
        (None, {"auxiliary__compression__provider": "main"}),
        (None, {"auxiliary__compression__model": "some-model"}),
    ],
)
def test_one_that_was_asked_for_and_has_no_credential_says_so_at_the_call(spec: str | None, keys: dict[str, str]):
    made = from_spec(spec, settings(**keys), env={})
    assert isinstance(made, Missing)
    with pytest.raises(SummaryError) as caught:
        made("x", 10)
    assert caught.value.kind == "no_provider"


@pytest.mark.parametrize("spec", ["gpt-5", "openai:", "bedrock:claude", "ftp://x"])
def test_other_specs_are_errors(spec: str):
    with pytest.raises(ConfigError, match="no summarizer is known"):
        from_spec(spec, env={})


def test_the_window_is_the_catalogues_where_it_knows_one():
    known = from_spec("anthropic:claude-haiku-4-5", env={"ANTHROPIC_API_KEY": KEY})
    assert known is not None
    assert known.window >= 200_000


def test_a_callable_may_return_text_and_raise_anything():
    made = from_spec(lambda prompt, max_tokens: f"{prompt} {max_tokens}")
    assert isinstance(made, Called)
    assert made("x", 7) == Reply("x 7")

    def broken(prompt: str, max_tokens: int) -> str:
        raise ConnectionResetError("gone")

    failing, odd = from_spec(broken), from_spec(lambda p, n: 3)
    assert failing is not None
    assert odd is not None
    with pytest.raises(SummaryError) as caught:
        failing("x", 7)
    assert caught.value.kind == "network"
    with pytest.raises(SummaryError, match="returned int"):
        odd("x", 7)


def test_a_summariser_stays_what_it_is():
    own = Scripted("hi", window=9_000)
    assert from_spec(own) is own


# --- the call ------------------------------------------------------------------------------------------------------


def test_a_chat_completion_is_streamed_and_put_together():
    with Provider(chat_stream("## Goal\nShip it, ünïcode and all.")) as provider:
        reply = Client(f"{provider.url}/v1", "m", KEY, effort="low", extra={"temperature": 0.2})("the prompt", 500)
    (asked,) = provider.asked
    assert reply.text == "## Goal\nShip it, ünïcode and all."
    assert (reply.finish, reply.model) == ("stop", "scripted")
    assert reply.usage is not None
    assert reply.usage.input == 1_200
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "m", "messages": [{"role": "user", "content": "the prompt"}], "stream": True, "max_tokens": 500,
        "stream_options": {"include_usage": True}, "reasoning_effort": "low", "temperature": 0.2,
    }  # fmt: skip


def test_an_anthropic_message_too():
    with Provider(anthropic_stream("## Goal\nShip it.", "max_tokens")) as provider:
        reply = Client(provider.url, "claude", KEY, "anthropic")("the prompt", 500)
    (asked,) = provider.asked
    assert (reply.text, reply.finish) == ("## Goal\nShip it.", "max_tokens")
    assert asked.path == "/v1/messages"
    assert asked.headers["x-api-key"] == KEY
    assert "anthropic-version" in asked.headers
    assert asked.body["max_tokens"] == 500


def test_a_server_that_does_not_stream_is_read_all_the_same():
    whole = {
        "model": "x",
        "choices": [{"message": {"content": [{"type": "text", "text": "hello"}]}, "finish_reason": "length"}],
    }
    with Provider(json_answer(whole)) as provider:
        reply = Client(provider.url, "m")("p", 5)
    assert (reply.text, reply.finish, reply.model) == ("hello", "length", "x")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "Incorrect API key provided"}}, "auth"),
        (403, {"error": {"message": "Country not supported"}}, "auth"),
        (402, {"error": {"message": "Payment Required"}}, "quota"),
        (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}, "quota"),
        (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}, "quota"),
        (429, {"error": {"message": "Rate limit reached"}}, "rate_limit"),
        (404, {"error": {"message": "nope"}}, "not_found"),
        (400, {"error": {"message": "The model `x` does not exist"}}, "not_found"),
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens"}}, "overflow"),
        (400, {"error": {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"}}, "overflow"),
        (413, {"error": "Request Entity Too Large"}, "overflow"),
        (400, {"error": {"message": "prompt is too long: 210000 tokens > 200000"}}, "overflow"),
        (500, {"error": {"message": "boom"}}, "server"),
        (529, {"error": {"type": "overloaded_error"}}, "server"),
        (503, {"detail": "Loading model"}, "server"),
        (504, {}, "timeout"),
        (408, {}, "timeout"),
        (400, {"error": {"code": "content_filter", "message": "filtered"}}, "refused"),
        (418, {"error": {"message": "teapot"}}, "other"),
    ],
)  # fmt: skip
def test_what_a_provider_answers_has_a_class(status: int, body: object, kind: str):
    with Provider(json_answer(body, status)) as provider, pytest.raises(SummaryError) as caught:
        Client(provider.url, "m", retries=0)("p", 5)
    assert caught.value.kind == kind
    assert str(status) in str(caught.value)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("x"), "timeout"), (ConnectionRefusedError(), "network"), (OSError("x"), "network"),
        (ValueError("x"), "other"), (KeyError("x"), "other"), (UnicodeDecodeError("utf-8", b"", 0, 1, "x"), "json"),
    ],
)  # fmt: skip
def test_what_is_raised_has_a_class(error: Exception, kind: str):
    assert kinds.of_exception(error) == kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None), ({"retry-after": "20"}, 20.0), ({"retry-after": "1.5"}, 1.5), ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Wed, 04 Mar 2026 10:01:00 GMT"}, 60.0), ({"retry-after": "Wed, 04 Mar 2026 09:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
    ],
)  # fmt: skip
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None):
    assert kinds.retry_after(headers, datetime(2026, 3, 4, 10, 0, tzinfo=UTC)) == seconds


def test_retry_after_comes_with_the_error():
    answer = json_answer({"error": {"message": "Rate limit reached"}}, 429, {"Retry-After": "77"})
    with Provider(answer) as provider, pytest.raises(SummaryError) as caught:
        Client(provider.url, "m")("p", 5)
    assert caught.value.retry_after == 77.0
    assert len(provider.asked) == 1


def test_what_passes_quickly_is_tried_once_more():
    busy = json_answer({"error": {"message": "overloaded"}}, 529, {"Retry-After-Ms": "10"})
    with Provider(busy, chat_stream("fine")) as provider:
        assert Client(provider.url, "m")("p", 5).text == "fine"
    assert len(provider.asked) == 2


# --- pieces --------------------------------------------------------------------------------------------------------


def test_each_answer_goes_into_the_next_prompt():
    model = Scripted(
        Reply("first", usage=Usage(10, output=2)), Reply("<think>hm</think>second", usage=Usage(20, output=3)), "third"
    )
    reply = run(["a", f"b {PREVIOUS_ANSWER}", f"c {PREVIOUS_ANSWER}"], 100, model)
    assert model.prompts == ["a", "b first", "c second"]
    assert reply.text == "third"
    assert reply.usage == Usage(30, output=5)


@pytest.mark.parametrize(("said", "kind"), [("", "empty"), ("I'm sorry, but I can't help with that.", "refused")])
def test_a_piece_that_is_lost_fails_the_whole(said: str, kind: str):
    with pytest.raises(SummaryError) as caught:
        run(
            ["a", f"b {PREVIOUS_ANSWER}"],
            100,
            Scripted(said, "fine"),
        )
    assert caught.value.kind == kind


def test_the_limit_leaves_room_for_the_prompt():
    model = Scripted("x", window=2_000)
    run(["word " * 1_500], 1_000, model)
    assert 256 <= model.limits[0] < 900


def test_cancelled_between_pieces_asks_no_more():
    cancel = Cancel()
    asked = []

    def once(prompt: str, max_tokens: int) -> str:
        asked.append(prompt)
        cancel.cancel()
        return "## Goal\nx"

    made = from_spec(once)
    assert made is not None
    with pytest.raises(SummaryError) as caught:
        run(["a", "b"], 100, made, cancel)
    assert caught.value.kind == "cancelled"
    assert asked == ["a"]


def test_the_package_names_what_others_use():
    assert set(summarise.__all__) == {"Cancel", "Reply", "Summariser", "from_spec", "run"}
