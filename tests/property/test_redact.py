"""Laws of redaction on texts that nobody thought of: made of the pieces that rules hang on, in any order."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.redact import Redactor, redact
from clew.redact.engine import spans
from clew.redact.engine_hyperscan import HyperscanEngine
from clew.redact.engine_stdlib import StdlibEngine
from tests.test_redact_vectors import NEAR_MISSES, build, structural_vectors, vendor_vectors

_RNG = random.Random(11)
_PIECES = [
    "password", "token", "api_key", "=", ": ", "=>", ":=", '"', "'", '\\"', "\\n", "\n", " ", ",", ";", "&", "?", "://", "@", "user:", "hunter22", "Authorization: ", "Bearer ",
    "Cookie: ", "sid=", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "{", "}", "[", "]", "<password>", "</password>", "--password ", "curl -u ", " -p", "+14155552671",
    "[REDACTED]", "[REDACTED:abcd...wxyz]", "[REDACTED", "eyJ", ".", "postgres", "https", "é", "→", "12\t", "\r\n", "\x1b[32m", "%3D", "$", "${X}", "export ", "key",
]  # fmt: skip
_TOKENS = [
    build(s, _RNG)
    for s in (
        "ghp_{a36}",
        "sk-ant-{}api03-{w93}",
        "AKIA{c16}",
        "{b64}",
        "{h40}",
        "{a32}",
        "{n10}:AA{w33}",
        "xoxb-{n12}-{n12}-{a24}",
        "{h32}-us12",
    )
]
_VECTORS = [v.text for v in (vendor_vectors() + structural_vectors())[::9]] + list(NEAR_MISSES[::4])
texts = st.lists(
    st.one_of(st.sampled_from(_PIECES), st.sampled_from(_TOKENS), st.sampled_from(_VECTORS), st.text(max_size=6)),
    max_size=24,
).map("".join)


@settings(max_examples=100, deadline=None)
@given(texts)
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=100, deadline=None)
@given(texts, st.lists(st.integers(1, 60), min_size=1, max_size=8))
def test_a_stream_gives_what_the_whole_gives(text: str, sizes: list[int]) -> None:
    redactor, out, at, turn = Redactor(), [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        out.append(redactor.push(text[at : at + size]))
        at, turn = at + size, turn + 1
    assert "".join(out) + redactor.close() == redact(text)


@settings(max_examples=100, deadline=None)
@given(texts)
def test_json_stays_json(text: str) -> None:
    document = json.dumps({"a": text, text: [1, text]}, ensure_ascii=False)
    json.loads(redact(document))


@settings(max_examples=100, deadline=None)
@given(texts)
def test_both_engines_find_the_same(text: str) -> None:
    pytest.importorskip("hyperscan", reason="left out: the extra redact-fast is not installed")
    assert spans(text, _engines()[0], code_file=False) == spans(text, _engines()[1], code_file=False)


def _engines(made: list[tuple[HyperscanEngine, StdlibEngine]] = []) -> tuple[HyperscanEngine, StdlibEngine]:  # noqa: B006 - made once
    if not made:
        made.append((HyperscanEngine(), StdlibEngine()))
    return made[0]
