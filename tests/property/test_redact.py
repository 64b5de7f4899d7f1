"""Laws of redaction on texts that nobody thought of: made of the pieces that rules hang on, in any order."""

from __future__ import annotations

import json
import random
import re
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.redact import Redactor, redact
from clew.redact.engine import spans
from clew.redact.engine_hyperscan import HyperscanEngine
from clew.redact.engine_stdlib import StdlibEngine
from clew.redact.tokens import Shape, infixes, shapes
from clew.redact.triggers import LITERALS
from tests.test_redact_vectors import NEAR_MISSES, structural_vectors, vendor_vectors

_VECTORS = [v.text for v in vendor_vectors() + structural_vectors()]
_GLUE = [
    *"\n \t\"'`\\%/+=?&;,{}[]()<>|-_.:~@#$!^*nrtbfux0aZ9", "\\n", "\\t", "\\u0041", "\\x41", '\\"', "\x1b[32m", "\x1b[0000032m", "%3D", "%2F", "é", "日本", "\u2028", "\ud800", "😀", "\x00",
    "\r\n", "A" * 20, "-" * 40, " " * 20, "ſ", "\u212a", "[REDACTED]", "[REDACTED:abcd...wxyz]", "[REDACTED", "${X}", "export ", "user:", "hunter22", "→", "12\t",
]  # fmt: skip
_NAMES = [
    "password", "DB_PASSWORD", "token", "api_key", "apiKey", "secret", "auth", "Authorization", "cookie", "code", "sig", "session", "value", "jwt", "pwd", "x-api-key", "é-password",
    "aé-token", "_authToken", "SECRET", "k" * 70 + "key", "a." * 40 + "token",
    "phone", "PASS", "GH_PAT", "bearer", "key", "BASIC_AUTH", "pwd", "requirepass",
]  # fmt: skip
_AFTER = [
    "=", ": ", " = ", "=>", ":=", "==", '("', '", ', "?=", ">", "\t", " ", "\\n", "%3D", '="', "='", '":"', '\\":\\"', " | ", "` | ", " is ", " is: ", " for root is ", " is is: ", ' || "', '") or "',
    " generated for a@b: ",
]  # fmt: skip
_OTHERS = [
    *(literal for _, literal in LITERALS), "hooks.slack.com/services/", "#define ", "SET -X ", "ENV ", "--", "-----BEGIN PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----",
    "Basic dXNlcjpwYXNz", "+1415555", "<@", "12345678901234567", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx", "- name: ", "\n  value: ", "echo ",
    "(415) 555-0132", "415-555-0132", "%2B14155552671", "+44 (0)20 7946 0958", 'variable "db_password" {\n', '\n  default = "', '"password"\r\n\r\n', "u003c@", "postgres:\\/\\/a:", "&#10;", "a.io\tTRUE\t/\tTRUE\t1\tsid\t",
    "login me\n  password ", "me:hunter22", "http -a ", '" -> "', "**", "</", "supersecret", "mysecret123", '"domain"', "aB3xK9aB3xK9aB3xK9aB3xK9aB3xK9aB3x",
]  # fmt: skip
_CLASS = re.compile(r"\[([^\]]+)\](?:\{(\d+)(?:,(\d+))?\})?|\\(.)|(.)", re.DOTALL)
_OPTIONS = re.compile(r"\(\?:([^()]*)\)(\?|\{3\})?")


@lru_cache(maxsize=256)
def _members(inside: str) -> str:
    return "".join([chr(c) for c in range(33, 127) if re.fullmatch(f"[{inside}]", chr(c)) is not None])


def _like(expression: str, rng: random.Random) -> str:
    """A text that such an expression of the tables (classes, counts, a choice) matches."""
    expression = re.sub(r"\(\?<!\[[^\]]*\]\)", "", expression)
    times = {"?": (0, 1), "{3}": (3,), None: (1,)}
    expression = _OPTIONS.sub(lambda m: rng.choice(m[1].split("|")) * rng.choice(times[m[2]]), expression)
    out: list[str] = []
    for inside, least, most, escaped, plain in _CLASS.findall(expression):
        low = int(least or 1)
        out.append(
            "".join(rng.choices(_members(inside), k=rng.randint(low, int(most or low)))) if inside else escaped or plain
        )
    return "".join(out)


def _token(shape: Shape, rng: random.Random) -> str:
    body = max(0, shape.least + rng.choice([-2, -1, 0, 0, 0, 1, 2, 30]))
    return _like(f"{shape.before}{shape.prefix}", rng) + "".join(rng.choices(_members(shape.alphabet), k=body))


def _piece(rng: random.Random) -> str:
    kind = rng.randrange(16)
    if kind < 4:
        return _token(rng.choice(shapes() if kind < 3 else infixes()), rng)
    if kind < 8:
        return rng.choice(_GLUE) + (rng.choice(_GLUE) if kind == 7 else "")
    if kind < 10:
        return rng.choice(_NAMES) + rng.choice(_AFTER)
    if kind < 12:
        other = rng.choice(_OTHERS)
        return other.upper() if rng.random() < 0.3 else other
    if kind == 12:
        return rng.choice(NEAR_MISSES)
    if kind == 13:
        return rng.choice(["x", " ", "ab", "\n", "A1", "=", "pass", "-", "é"]) * rng.choice([50, 300, 5000])
    whole = rng.choice(_VECTORS)
    return whole if kind == 14 else whole[rng.randrange(len(whole)) :][:30]


def _glued(seed: int) -> str:
    rng = random.Random(seed)
    return "".join(_piece(rng) for _ in range(rng.randint(1, 14)))


# What a seed makes is made of everything the rules know; what Hypothesis puts together it can also make small again.
texts = st.one_of(
    st.integers(0, 2**32).map(_glued),
    st.lists(
        st.one_of(st.sampled_from(_GLUE), st.sampled_from(_OTHERS), st.sampled_from(_VECTORS), st.text(max_size=6)),
        max_size=20,
    ).map("".join),
)


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
    masked = json.loads(redact(document))
    assert isinstance(masked, dict)
    assert len(masked) == len(json.loads(document)), "no member went with a secret"


@settings(max_examples=400, deadline=None)
@given(texts, st.booleans())
def test_both_engines_find_the_same(text: str, code_file: bool) -> None:
    pytest.importorskip("hyperscan", reason="left out: the extra redact-fast is not installed")
    assert spans(text, _engines()[0], code_file=code_file) == spans(text, _engines()[1], code_file=code_file)


def _engines(made: list[tuple[HyperscanEngine, StdlibEngine]] = []) -> tuple[HyperscanEngine, StdlibEngine]:  # noqa: B006 - made once
    if not made:
        made.append((HyperscanEngine(), StdlibEngine()))
    return made[0]
