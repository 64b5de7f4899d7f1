"""What redaction promises apart from finding secrets: marks, switches, two engines, streams, valid JSON, linear time."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clew.redact import FAMILIES, Redactor, engine_name, find, redact
from clew.redact.engine import Engine, apply, default, findings, spans
from clew.redact.engine_hyperscan import HyperscanEngine
from clew.redact.engine_stdlib import StdlibEngine
from clew.redact.marks import Marks
from clew.redact.tokens import heads, shapes
from tests.redact_shapes import CONTEXTS, build
from tests.test_redact_vectors import NEAR_MISSES, structural_vectors, vendor_vectors

CORPUS = [vector.text for vector in vendor_vectors() + structural_vectors()] + list(NEAR_MISSES)


def token(seed: int, shape: str = "ghp_{a36}") -> str:
    return build(shape, random.Random(seed))


@pytest.fixture(scope="module")
def stdlib() -> Engine:
    return StdlibEngine()


@pytest.fixture(scope="module")
def hyperscan() -> Engine:
    pytest.importorskip("hyperscan", reason="left out: the extra redact-fast is not installed")
    return HyperscanEngine()


def test_a_long_secret_keeps_a_hint_and_a_short_one_none() -> None:
    long = token(1)
    assert redact(f"use {long} now") == f"use [REDACTED:{long[:4]}...{long[-4:]}] now"
    assert redact("DB_PASSWORD=" + "hunt" + "er22") == "DB_PASSWORD=[REDACTED]"


def test_equal_secrets_get_equal_marks_and_different_ones_different_marks() -> None:
    assert (
        redact("A_PASSWORD=s3cret99\nB_PASSWORD=s3cret77\nC_PASSWORD=s3cret99")
        == "A_PASSWORD=[REDACTED]\nB_PASSWORD=[REDACTED#2]\nC_PASSWORD=[REDACTED]"
    )
    first = token(2)
    twin = first[:10] + first[10:-10][::-1] + first[-10:]
    marks = [f.mask for f in find(f"{first} {twin} {first}")]
    assert marks == [f"[REDACTED:{first[:4]}...{first[-4:]}]", f"[REDACTED:{first[:4]}...{first[-4:]}#2]", marks[0]]


def test_an_equal_secret_is_equal_in_other_surroundings() -> None:
    secret = token(3)
    text = f"export T={secret}\nAuthorization: Bearer {secret}\nhttps://{secret}@host/x\n{json.dumps({'token': secret})}\n?access_token={secret}&a=1"
    assert {f.mask for f in find(text)} == {f"[REDACTED:{secret[:4]}...{secret[-4:]}]"}
    assert len(find(text)) == 5


def test_numbers_go_on_after_marks_that_were_there_before() -> None:
    assert redact("A_PASSWORD=[REDACTED]\nB_PASSWORD=s3cret77") == "A_PASSWORD=[REDACTED]\nB_PASSWORD=[REDACTED#2]"


def test_a_private_key_is_one_mark_and_the_same_however_its_lines_end() -> None:
    rng = random.Random(4)
    pem = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "\n".join(build("{b64}", rng) for _ in range(5))
        + "\n-----END PRIVATE KEY-----"
    )
    assert redact(f"a\n{pem}\nb") == "a\n[REDACTED PRIVATE KEY]\nb"
    both = redact(f"{pem}\n{json.dumps({'k': pem})}")
    assert both == '[REDACTED PRIVATE KEY]\n{"k": "[REDACTED PRIVATE KEY]"}'


def test_preference_and_force() -> None:
    text = f"key {token(5)}"
    assert redact(text, enabled=False) == text
    assert redact(text, enabled=False, force=True) == redact(text) != text


def test_code_file_leaves_assignments_and_keeps_what_is_certain() -> None:
    secret = token(6)
    text = f'password = "hunter22x"\napi = {{"apiKey": "{secret}"}}\nurl = "postgres://u:pw77@h/x"'
    out = redact(text, code_file=True)
    assert "hunter22x" in out
    assert secret not in out
    assert "pw77" not in out


@pytest.mark.parametrize("text", CORPUS[::7])
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


def test_both_engines_find_the_same(stdlib: Engine, hyperscan: Engine) -> None:
    for text in [*CORPUS, "\n".join(CORPUS), "é".join(CORPUS), "\ud800 " + CORPUS[0]]:
        for code_file in (False, True):
            assert spans(text, stdlib, code_file=code_file) == spans(text, hyperscan, code_file=code_file)


def test_both_engines_find_the_same_in_real_sessions(bench_dir: Path, stdlib: Engine, hyperscan: Engine) -> None:
    for path in sorted((bench_dir / "sessions").glob("*.json"))[::6]:
        text = path.read_text(encoding="utf-8")
        assert spans(text, stdlib, code_file=False) == spans(text, hyperscan, code_file=False)


def test_json_stays_json_and_lines_stay_lines() -> None:
    for vector in vendor_vectors()[::5] + structural_vectors():
        document = json.dumps({"out": vector.text, "deep": [json.dumps({"in": vector.text})]})
        redacted = redact(document)
        assert sorted(json.loads(redacted)) == ["deep", "out"]
        json.loads(json.loads(redacted)["deep"][0])
        if vector.family != "private-key":
            assert redact(vector.text).count("\n") == vector.text.count("\n")


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_a_stream_gives_what_the_whole_gives(size: int) -> None:
    for text in ["\n".join(CORPUS[start : start + 40]) for start in range(0, len(CORPUS), 400)]:
        redactor = Redactor()
        out = "".join([redactor.push(text[at : at + size]) for at in range(0, len(text), size)] + [redactor.close()])
        assert out == redact(text)


STREAMED = (
    "one\nthe key is {} indeed\ntwo\n", "A=1\nexport DB_PASSWORD={}\nB=2", '{{"out": "a\\nAuthorization: Bearer {}\\nb"}}', "env:\n- name: API_TOKEN\n  value: {}\n- name: X\n  value: 1\n",
    "postgres://u:{}@h/x\nnext", "é\r\nCookie: sid={}\r\n\r\nbody", "| API_KEY | {} |\n| b | c |\n",
)  # fmt: skip


@pytest.mark.parametrize("template", STREAMED)
def test_a_secret_that_straddles_two_chunks_at_any_place(template: str, stdlib: Engine, hyperscan: Engine) -> None:
    text = template.format(secret := token(20))
    for engine in (stdlib, hyperscan):
        whole = apply(text, findings(text, engine, Marks(), code_file=False))
        assert not any(secret[at : at + 9] in whole for at in range(len(secret) - 8))
        for split in range(len(text) + 1):
            redactor = Redactor(engine=engine)
            first = redactor.push(text[:split])
            assert whole.startswith(first)
            assert first + redactor.push(text[split:]) + redactor.close() == whole


def test_a_stream_never_shows_a_part_of_a_secret() -> None:
    secret = token(8)
    redactor = Redactor()
    shown = ""
    for char in f"first line\nthe key is {secret} indeed\nlast":
        shown += redactor.push(char)
        assert not any(secret[:n] in shown for n in (9, len(secret)))
    assert shown.startswith("first line\n")
    assert secret not in shown + redactor.close()


def test_a_stream_holds_a_private_key_back_from_either_end() -> None:
    rng = random.Random(9)
    rows = [build("{b64}", rng) for _ in range(6)]
    for lines in (["-----BEGIN PRIVATE KEY-----", *rows], [*rows, "-----END PRIVATE KEY-----"]):
        redactor = Redactor()
        shown = "".join(redactor.push(line + "\n") for line in ["before", *lines])
        assert shown == "before\n" or shown == ""
        assert shown + redactor.push("after that\n") == "before\n[REDACTED PRIVATE KEY]\nafter that\n"
        assert redactor.push("the end") + redactor.close() == "the end"


ADVERSARIAL = (
    "password=", 'password="', "password='\\", "\\" * 64 + '"', "sk-", "a", "A1", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----", "A" * 64 + "\n",
    "A" * 64 + "\n-----END PRIVATE KEY-----\n", "://a:", "eyJ", "eyJ" + "a" * 12 + ".", "+123 45", "12345678:", "Authorization: Digest ", "cookie: a=b; ", "--password ",
    " -u a:", " mysql -p", "<password>", "value=", '"key","value"=', "&token=", "?code=aaaaaa", "[REDACTED:", "password=[REDACTED", "pwd:", "12\t", "\\nghp_", "api_key=${", " ", "0123456789abcdef" * 2 + "-us1", "12345678:" + "aB3" * 12,
    "password | ", "token is ", "secret a: ", "- name: token\n", '{"name": "token",\\n', 'KEY || "', "jwt.sign({a", 'login("a", ', "echo a | --password-stdin ", 'cookies={"', "$1$", "sk_", "+ASt", "01234567-",
    'variable "a_key" {\n  type = "a"\n', 'default = "a', 'form-data; name="', "TRUE\t/\tTRUE\t1\ta\t", "login\n", "login a\n", "a@tcp(", "phone: 1", "phone 1", "key: ", "(415) 555", "+44 (0)20", "%2B14155", "u003c@", " chpasswd",
    "a:\\/\\/", "convertto-securestring ", "requirepass ", " http -a a:", "token to ", "Authorization: A a", "user%5Bpassword%5D=", "&#10;", "a/b-1-", "password" + " " * 40,
)  # fmt: skip


@pytest.mark.parametrize("unit", ADVERSARIAL)
def test_time_grows_with_the_text_and_no_faster(unit: str, hyperscan: Engine) -> None:
    """Eight times the text: eight times the time where it is linear, sixty-four where it is quadratic."""

    def cost(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        begun = time.process_time()
        apply(text, findings(text, hyperscan, Marks(), code_file=False))
        return time.process_time() - begun

    # The least of several, and a floor under the small one: noise only ever adds.
    small = max(min(cost(8_000) for _ in range(3)), 0.01)
    assert any(cost(64_000) < 30 * small for _ in range(3))


@pytest.mark.slow
@pytest.mark.parametrize("unit", ADVERSARIAL)
def test_a_megabyte_of_anything_is_the_same_to_both_engines(unit: str, hyperscan: Engine, stdlib: Engine) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    assert len(hyperscan.places(text.encode())) <= len(text)
    assert spans(text, hyperscan, code_file=False) == spans(text, stdlib, code_file=False)


def test_every_prefix_in_the_table_is_one_that_the_engines_look_for() -> None:
    assert len({head for shape in shapes() for head in heads(shape.prefix)}) >= 150
    assert len({shape.family for shape in shapes()}) >= 60
    assert len(FAMILIES) == len(set(FAMILIES))


def test_findings_say_where_and_what() -> None:
    secret = token(10)
    (found,) = find(CONTEXTS[1].format(secret))
    assert (found.family, CONTEXTS[1].format(secret)[found.start : found.end]) == ("github", secret)
    assert engine_name() == default().name


def test_threads_may_share_an_engine(hyperscan: Engine) -> None:
    texts = ["\n".join(CORPUS[at::8]) * 3 for at in range(8)]
    expected = [spans(text, hyperscan, code_file=False) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(lambda text: spans(text, hyperscan, code_file=False), texts)) == expected


def test_without_the_extra_the_other_engine_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    default.cache_clear()
    try:
        assert engine_name() == "stdlib"
        assert token(12) not in redact(f"key {token(12)}")
    finally:
        default.cache_clear()


def test_import_compiles_nothing_and_loads_no_engine() -> None:
    code = "import sys, clew.redact as r; from clew.redact import tokens, triggers, engine; print('hyperscan' in sys.modules, tokens._starting.cache_info().currsize, triggers.expressions.cache_info().currsize, engine.default.cache_info().currsize)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "0", "0", "0"]
