"""Counting never raises, agrees with the encoding, and the rough count keeps to the factor that the docs state."""

from __future__ import annotations

import base64
import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from clew import wire
from clew.tokens import Counter, count_message, count_text, encoding, image_size, rough_body, rough_text
from clew.tokens.exact import _parts

PYTHON = "def f(self, name: str) -> int:\n    return len(self._names.get(name, ())) + 1\n\n"
JSON = json.dumps({"id": 4711, "name": "user17", "ok": True, "score": 0.5113, "tags": ["a", "b"]})
LOG = "2026-11-18T21:10:03.123Z INFO [worker-3] request id=9f3ac2d1 status=200 path=/api/v1/users/17 took=0.113\n"
CHINESE = "编译器把源代码翻译成机器码，并在此过程中执行许多优化。"
JAPANESE = "コンパイラはソースコードを機械語に翻訳します。"
KOREAN = "컴파일러는 소스 코드를 기계어로 번역합니다. "
RUSSIAN = "Компилятор переводит исходный код в машинный код. "
ENGLISH = "The compiler turns source code into machine code on the way. "
MINIFIED = '!function(e,t){"object"==typeof exports?module.exports=t():e.Vue=t()}(this,function(){return null==e});'
KINDS = [
    PYTHON,
    JSON,
    LOG,
    CHINESE,
    JAPANESE,
    KOREAN,
    RUSSIAN,
    ENGLISH,
    MINIFIED,
    json.dumps(PYTHON),
    json.dumps(CHINESE),
]

blob = st.integers(0, 2**32).map(lambda seed: base64.b64encode(random.Random(seed).randbytes(60 + seed % 400)).decode())
mixture = st.lists(
    st.one_of(st.tuples(st.sampled_from(KINDS), st.integers(1, 12)).map(lambda p: p[0] * p[1]), blob),
    min_size=4,
    max_size=12,
).map("\n".join)
anything = st.text(max_size=300).flatmap(lambda t: st.integers(1, 60).map(lambda n: t * n))


@given(mixture)
@settings(max_examples=100, deadline=None)
def test_the_rough_count_of_a_mixture_is_within_a_factor_of_1_5(text):
    exact = count_text(text)
    assert exact / 1.5 <= rough_text(text) <= exact * 1.5


@given(mixture)
@settings(max_examples=60, deadline=None)
def test_the_rough_count_of_a_body_is_within_a_factor_of_1_6(text):
    value = {"role": "user", "content": text}
    exact = count_message(wire.get("openai-chat").message(value)) + 20
    for escape in (True, False):
        body = json.dumps({"model": "m", "messages": [value]}, ensure_ascii=escape).encode()
        assert exact / 1.6 <= rough_body(body) <= exact * 1.6


@given(anything)
@settings(max_examples=100, deadline=None)
def test_cutting_adds_at_most_a_token_a_cut(text):
    parts = _parts(text)
    assert "".join(parts) == text
    whole = len(encoding("o200k_base").encode_ordinary(text))
    assert whole <= count_text(text) + 2 * (len(parts) - 1)
    assert count_text(text) <= whole + 2 * (len(parts) - 1)


@given(st.text(st.characters(codec=None), max_size=200), st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_nothing_raises_and_nothing_is_negative(text, data):
    assert count_text(text) >= 0
    assert rough_text(text) >= 0
    assert rough_body(data) >= 0
    assert image_size(text) is None or min(image_size(text)) > 0
    image_size(base64.b64encode(data).decode())


@given(st.lists(st.tuples(st.integers(-10, 10**6), st.integers(-10, 10**6)), max_size=30))
@settings(max_examples=100, deadline=None)
def test_no_series_of_reports_leaves_the_bounds(reports):
    counter = Counter("claude")
    for counted, reported in reports:
        before = counter.learned
        counter = counter.report(counted, reported)
        assert 0.5 <= counter.learned <= 2.0
        assert 1 / 1.25 <= counter.learned / before <= 1.25


@given(st.floats(0.6, 1.8), st.lists(st.integers(1000, 20_000), min_size=60, max_size=60))
@settings(max_examples=40, deadline=None)
def test_honest_reports_lead_there_whatever_their_sizes(real, sizes):
    counter = Counter("other")
    for i, size in enumerate(sizes):
        counted = round(size * counter.learned)
        counter = counter.report(counted, 1 if i % 10 == 5 else round(size * real))
    assert abs(counter.learned / real - 1) < 0.25
