"""The counter: exact, by family, cached, corrected."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tomllib

import pytest

from clew import wire
from clew.catalog import lookup
from clew.errors import ConfigError
from clew.tokens import FAMILIES, Counter, count_message, count_system, count_text, count_tools, encoding, family
from clew.tokens import message as message_module
from clew.tokens.encodings import ENCODINGS, resolve, tokens_by_rank
from clew.tokens.exact import _parts
from clew.tokens.images import RULES
from tests.conftest import ROOT

CHAT, ANTHROPIC, RESPONSES = (wire.get(n) for n in ("openai-chat", "anthropic", "openai-responses"))


def test_importing_loads_no_vocabulary():
    code = "import sys, clew.tokens; print([m for m in ('tiktoken', 'regex', 'requests', 'zstandard') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name, sha256",
    [
        ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
        ("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    ],
)
def test_the_ranks_are_the_published_ones(name, sha256):
    lines = (base64.b64encode(t) + b" %d\n" % rank for rank, t in enumerate(tokens_by_rank(name)))
    assert hashlib.sha256(b"".join(lines)).hexdigest() == sha256


@pytest.mark.parametrize(
    "name, text, tokens",
    [
        ("o200k_base", "hello world", [24912, 2375]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("cl100k_base", "tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
    ],
)
def test_known_encodings(name, text, tokens):
    assert encoding(name).encode(text) == tokens
    assert count_text(text, name) == len(tokens)


def test_aliases_and_unknown_encodings():
    assert encoding("o200k_harmony") is encoding("o200k_base")
    assert resolve("cl100k") == "cl100k_base"
    with pytest.raises(ConfigError, match="o200k_base"):
        encoding("p50k_base")


def test_special_tokens_are_text():
    assert count_text("<|endoftext|><|fim_prefix|><|start|>") > 5
    assert count_text("\ud800 lone") > 0
    assert count_text("") == 0


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, " " * 1_000_000, "\n" * 500_000, "." * 500_000, "a\u0301" * 250_000], ids=len
)
def test_runs_without_end_are_counted_and_cut(name, text):
    parts = _parts(text)
    assert "".join(parts) == text
    assert max(map(len, parts)) <= 2048
    assert 0 < count_text(text, name) <= len(text)


def test_what_is_no_single_run_is_not_cut():
    code = 'if(a.b){return c.d("e",f)}' * 400
    assert _parts(code) == [code]
    assert count_text(code) == len(encoding("o200k_base").encode_ordinary(code))


def test_long_texts_are_cut_where_it_changes_nothing():
    text = "The 12 quick brown foxes, they jump;\n\n    over(the) lazy dog's back!\r\nAgain " * 20_000
    assert len(_parts(text)) > 2
    for name in ENCODINGS:
        assert count_text(text, name) == len(encoding(name).encode_ordinary(text))


def test_session_texts_count_as_tiktoken_counts_them(bench_dir):
    whole = "\n\n".join(
        CHAT.message(m).text
        for path in sorted((bench_dir / "sessions").glob("*.json"))[:4]
        for m in json.loads(path.read_bytes())["messages"]
    )
    assert count_text(whole) == len(encoding("o200k_base").encode_ordinary(whole))


def test_a_message_counts_its_words_calls_and_frames():
    words = count_message(CHAT.message({"role": "user", "content": "hello world"}))
    assert words == 2 + FAMILIES["gpt-o200k"].message
    arguments = json.dumps({"path": "src/main.py"})
    call = CHAT.message(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": arguments}}],
        }
    )
    frames = FAMILIES["gpt-o200k"]
    assert count_message(call) == count_text("read") + count_text(arguments) + frames.message + frames.call
    result = CHAT.message({"role": "tool", "tool_call_id": "c1", "content": "hello world"})
    assert count_message(result) == 2 + frames.message + frames.result


def test_claude_is_shown_arguments_without_escapes():
    code = 'def f():\n\treturn "x"\n' * 50
    call = {"type": "tool_use", "id": "t", "name": "Write", "input": {"content": code}}
    m = ANTHROPIC.message({"role": "assistant", "content": [call]})
    frames = FAMILIES["claude-4.7"]
    words = count_text("Write") + count_text("content") + count_text(code)
    expected = round(words * frames.ratio) + frames.message + frames.call + frames.parameter
    assert Counter("claude-4.7").message(m) == expected


def test_reasoning_is_counted_where_it_is_kept():
    thought = {"type": "thinking", "thinking": "short", "signature": "x" * 4330}
    said = {"type": "text", "text": "done"}
    m = ANTHROPIC.message({"role": "assistant", "content": [thought, said]})
    bare = ANTHROPIC.message({"role": "assistant", "content": [said]})
    counter = Counter("claude-4.7")
    assert counter.message(m) - counter.message(bare) == round(4000 * FAMILIES["claude-4.7"].seal)
    silent = Counter("claude-4.7", reasoning="none")
    assert silent.message(m) == silent.message(bare)


def test_reasoning_of_earlier_turns_leaves_where_the_model_drops_it():
    thought = RESPONSES.message({"type": "reasoning", "summary": [], "encrypted_content": "A" * 8000})
    ask = RESPONSES.message({"type": "message", "role": "user", "content": "go on"})
    counter = Counter("gpt-o200k", reasoning="turn")
    hidden = (8000 * 3 // 4 - 650) // 4
    frame = FAMILIES["gpt-o200k"].message
    assert counter.messages([ask, thought]) - counter.messages([ask]) == hidden + frame
    assert counter.messages([ask, thought, ask]) - counter.messages([ask, ask]) == frame


def test_a_grown_conversation_costs_only_what_is_new(monkeypatch):
    made = []
    original = message_module._tally
    monkeypatch.setattr(message_module, "_tally", lambda m, r: made.append(m) or original(m, r))
    monkeypatch.setattr(message_module, "_CACHE", message_module._Cache(100))
    talk = [{"role": "user", "content": f"message {i}"} for i in range(30)]
    counter = Counter("gpt-o200k")
    counter.messages([CHAT.message(m) for m in talk])
    assert len(made) == 30
    counter.messages([CHAT.message(m) for m in [*talk, {"role": "user", "content": "one more"}]])
    assert len(made) == 31
    learned = counter.report(1000, 1200)
    learned.messages([CHAT.message(m) for m in talk])
    assert len(made) == 31


def test_the_cache_is_bounded(monkeypatch):
    cache = message_module._Cache(10)
    monkeypatch.setattr(message_module, "_CACHE", cache)
    for i in range(50):
        count_message(CHAT.message({"role": "user", "content": f"m{i}"}))
    assert len(cache) == 10


def test_tools_and_system():
    tool = {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a file.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Where it is."},
                    "lines": {"type": "array", "items": {"type": "integer"}},
                    "mode": {"enum": ["text", "bytes"]},
                    "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
                },
                "required": ["path"],
            },
        },
    }
    assert count_tools([]) == 0
    one, two = count_tools([tool]), count_tools([tool, {**tool, "function": {**tool["function"], "name": "other"}}])
    assert 30 < one < count_text(json.dumps(tool)) + 20
    assert one < two < 2 * one
    assert count_tools([tool], "claude") > 346
    assert count_tools([{"type": "web_search"}]) > 0
    assert count_system(None) == count_system("") == 0
    assert count_system("hello world") == 2 + FAMILIES["gpt-o200k"].message
    blocks = [{"type": "text", "text": "hello world", "cache_control": {"type": "ephemeral"}}]
    assert count_system(blocks) == count_system("hello world")


def test_every_family_and_image_rule_of_the_catalog_is_known():
    rules = tomllib.loads((ROOT / "src/clew/data/models.toml").read_text(encoding="utf-8"))
    entries = [*rules["rules"].values(), *rules["models"].values(), *rules["guess"].values()]
    assert {e["family"] for e in entries if "family" in e} <= FAMILIES.keys()
    assert {e["image_rule"] for e in entries if "image_rule" in e} <= set(RULES)
    assert family("nobody knows") == FAMILIES["other"]


def test_a_counter_of_a_model():
    assert Counter.of(lookup("claude-opus-4-6")) == Counter("claude", "claude", "all")
    assert Counter.of(lookup("gpt-5.5")).reasoning == "turn"


def test_reports_lead_to_the_real_ratio():
    counter, real = Counter("other"), 1.6 / 1.1
    for _ in range(60):
        counter = counter.report(2000 * counter.learned, 2000 * real)
    assert counter.learned == pytest.approx(real, rel=0.02)


@pytest.mark.parametrize("counted, reported", [(1000, 0), (1000, -5), (0, 1000), (50, 90), (1000, 5000), (5000, 1000)])
def test_what_cannot_be_true_is_ignored(counted, reported):
    counter = Counter("claude")
    assert counter.report(counted, reported) is counter


def test_one_report_moves_little_and_all_together_stay_in_bounds():
    counter = Counter("claude")
    assert counter.report(100_000, 300_000).learned < 1.25
    low = high = counter
    for _ in range(500):
        low, high = low.report(9000, 3000), high.report(3000, 9000)
    assert low.learned == 0.5
    assert high.learned == 2.0
    assert counter == Counter("claude")
