"""Whatever a client sends, the gateway answers, and never with a fault of its own; what isn't understood passes."""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
from argparse import Namespace
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.gateway import status
from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing.upstream import running
from tests.conftest import ROOT
from tests.gateway.agent import PATHS
from tests.gateway.conftest import settings as gateway_settings
from tests.gateway.raw import RawUpstream, ok

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=8), v, max_size=4),
    max_leaves=12,
)
ROLES = st.sampled_from(["user", "assistant", "system", "tool", "developer", "function", "", 5, None])
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image", "image_url", "input_text", "x", 3])},
    optional={"text": JSON, "id": JSON, "tool_use_id": JSON, "input": JSON, "content": JSON, "name": JSON, "source": JSON,
              "cache_control": JSON},
)  # fmt: skip
MESSAGE = st.fixed_dictionaries(
    {},
    optional={"role": ROLES, "content": JSON | st.lists(BLOCK, max_size=3), "tool_calls": JSON, "tool_call_id": JSON,
              "type": st.sampled_from(["message", "function_call", "function_call_output", "reasoning", "x"]) | JSON,
              "call_id": JSON, "arguments": JSON, "output": JSON, "name": JSON, "_private": JSON},
)  # fmt: skip
BODY = st.fixed_dictionaries(
    {},
    optional={"model": st.text(max_size=12) | JSON, "messages": st.lists(MESSAGE | JSON, max_size=5) | JSON,
              "input": st.lists(MESSAGE | JSON, max_size=5) | JSON, "system": JSON, "instructions": JSON, "tools": JSON,
              "max_tokens": JSON, "metadata": JSON, "prompt_cache_key": JSON, "stream": JSON, "previous_response_id": JSON},
)  # fmt: skip
NAMES = st.sampled_from(
    ["x-clew-session", "session-id", "user-agent", "content-encoding", "accept-encoding", "anthropic-beta", "x-clew", "expect",
     "x-claude-code-agent-id", "authorization", "x-api-key", "content-type"]
)  # fmt: skip
VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20) | st.sampled_from(
    ["gzip", "zstd", "off"]
)


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[RawUpstream, Serving]]:
    with running(RawUpstream(ok())) as up, running(Serving(gateway_settings(up.url), open_store("memory:"))) as gateway:
        yield up, gateway


def ask(gateway: Serving, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    where = urlsplit(gateway.url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
    try:
        connection.request("POST", path, body, headers)
        got = connection.getresponse()
        return got.status, got.read()
    finally:
        connection.close()


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from([*PATHS.values(), "/v1/messages/count_tokens"]), st.lists(BODY, min_size=1, max_size=3), st.data()
)
def test_bodies_of_any_shape_pass(place, path, bodies, data):
    """One after the other, as if it were one conversation that a broken client keeps."""
    up, gateway = place
    for body in bodies:
        raw = json.dumps(body).encode()
        if data.draw(st.booleans()) and raw:
            at = data.draw(st.integers(0, len(raw) - 1))
            raw = raw[:at] + data.draw(st.binary(max_size=4)) + raw[at + data.draw(st.integers(0, 4)) :]
        up.plays(ok())
        headers = {"authorization": "k", "x-clew-session": "fuzz"} | data.draw(
            st.dictionaries(NAMES, VALUES, max_size=3)
        )
        headers.pop("expect", None)
        status, said = ask(gateway, path, raw, headers)
        assert (status, said) == (200, b"{}")
        assert len(up.came) == 1
        assert up.came[0].body == raw
    assert gateway.gateway.counts.all().get("faults", 0) == 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=60), st.sampled_from(["/v1/messages", "/%2e%2e/x", "/v1//x", "/;", "/v1/responses?input=%ff"])
)
def test_any_bytes_on_any_path(place, body, path):
    up, gateway = place
    up.plays(ok())
    status, _ = ask(gateway, path, body, {"authorization": "k"})
    assert status in (200, 400)
    assert (status == 200) == (len(up.came) == 1)
    assert gateway.gateway.counts.all().get("faults", 0) == 0


def fuzzing():
    spec = importlib.util.spec_from_file_location("fuzz", ROOT / "bench" / "fuzz.py")
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    return bench


@pytest.mark.parametrize("recall", ["command", "tool"])
def test_mutated_requests_break_nothing(recall, capsys):
    """The bench's own run, short: no 5xx, no silence, no body changed that isn't understood."""
    given = Namespace(count=60, seed=7, endpoint=None, recall=recall, schemathesis="", examples=0)
    assert not asyncio.run(fuzzing().run(given)), capsys.readouterr().err


@pytest.mark.slow
def test_many_mutated_requests_break_nothing(capsys):
    given = Namespace(count=2_000, seed=8, endpoint=None, recall="tool", schemathesis="", examples=0)
    assert not asyncio.run(fuzzing().run(given)), capsys.readouterr().err


def test_the_description_names_what_is_served(place):
    _, gateway = place
    where = urlsplit(gateway.url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
    connection.request("GET", "/clew/openapi.json")
    told = json.loads(connection.getresponse().read())
    connection.close()
    assert told["openapi"].startswith("3.1")
    assert {*PATHS.values(), "/v1/messages/count_tokens", "/v1/models", *status.PATHS} <= told["paths"].keys()
    for path, operations in told["paths"].items():
        for method in operations:
            assert (path in status.PATHS) == (method == "get" and path != "/v1/models")
