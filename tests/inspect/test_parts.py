"""The pieces an inspection is made of: labels, light messages, breaches, secrets, figures."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import wire
from clew.inspect import Options, figures, inspect_file
from clew.inspect.gather import seconds
from clew.inspect.label import label, read_by, relative
from clew.inspect.light import light
from clew.transcript import ToolCall
from clew.wire.problems import problems
from tests.inspect.builders import KEY, Claude, chat, shop, tool_turn


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cat cart.py", "cart.py"),
        ("sed -n '1,80p' src/cart.py", "src/cart.py"),
        ("cd /srv && head -50 a.txt", "a.txt"),
        ("nl -ba cart.py | sed -n '10,20p'", "cart.py"),
        ("tail -n 5 log.txt", "log.txt"),
        ("cat 'a b.txt'", "a b.txt"),
        ("cat a.py b.py", ""),
        ("cat a.py > b.py", ""),
        ("sed -i s/a/b/ cart.py", ""),
        ("cat a.py && rm a.py", ""),
        ("cat a.py | xargs rm", ""),
        ("cat $FILE", ""),
        ("cat 'unclosed", ""),
        ("grep x cart.py", ""),
        ("cat", ""),
        ("", ""),
    ],
)
def test_a_command_that_only_prints_one_file_reads_it(command, path):
    assert read_by(command) == path


def test_labels_say_what_a_call_is_about():
    made = label(ToolCall("1", "Read", '{"file_path":"/home/dev/shop/cart.py"}'), "/home/dev/shop")
    assert (made.kind, made.path, made.verb, made.target) == ("file", "cart.py", "read", "cart.py")
    changed = label(ToolCall("1", "Write", '{"file_path":"a.py","content":"x"}'))
    assert (changed.verb, changed.key) == ("change", "")
    ran = label(ToolCall("1", "bash", '{"command":"pytest -q"}'))
    assert (ran.kind, ran.target, ran.path) == ("command", "pytest -q", "")
    assert label(ToolCall("1", "", "not json")).tool == "nameless tool"


def test_paths_read_from_the_sessions_folder():
    assert relative("/a/b/c.py", "/a/b") == "c.py"
    assert relative("/a/bc/c.py", "/a/b") == "/a/bc/c.py"
    assert relative("./c.py", "") == "c.py"


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-05-01T10:00:00.000Z", 1777629600.0),
        ("2026-05-01T10:00:00", 1777629600.0),
        (1777629600, 1777629600.0),
        (1777629600000, 1777629600.0),
        ("yesterday", None),
        (None, None),
        (True, None),
    ],
)
def test_times_in_any_spelling(stamp, expected):
    assert seconds(stamp) == expected


TEXTS = st.sampled_from(["", " ", "word", "word ", '"arguments": {', "ünï"])
ARGUMENTS = st.sampled_from(["", "{}", '{"a": 1}', "[1]", "5", "{", "nope", ' {"a":1}'])
CHAT = st.one_of(
    st.builds(lambda r, t: {"role": r, "content": t}, st.sampled_from(["user", "assistant", "system", "odd"]), TEXTS),
    st.builds(lambda i, t: {"role": "tool", "tool_call_id": i, "content": t}, st.sampled_from("ab"), TEXTS),
    st.builds(
        lambda i, n, a, t: {
            "role": "assistant", "content": t,
            "tool_calls": [{"id": i, "type": "function", "function": {"name": n, "arguments": a}}],
        },
        st.sampled_from(["a", "b", "bad id", ""]), st.sampled_from(["run", ""]),
        ARGUMENTS | st.just({"a": 1}), TEXTS | st.none(),
    ),
)  # fmt: skip
BLOCKS = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, TEXTS),
    st.builds(lambda t, s: {"type": "thinking", "thinking": t, "signature": s}, TEXTS, st.sampled_from(["", "c2ln"])),
    st.builds(lambda i, a: {"type": "tool_use", "id": i, "name": "run", "input": a}, st.sampled_from("ab"),
              st.sampled_from([{}, {"a": 1}, [1], "text", None])),
    st.builds(lambda i, t: {"type": "tool_result", "tool_use_id": i, "content": t}, st.sampled_from("ab"), TEXTS),
    st.just({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}),
)  # fmt: skip
ANTHROPIC = st.builds(
    lambda r, c: {"role": r, "content": c}, st.sampled_from(["user", "assistant"]), TEXTS | st.lists(BLOCKS, max_size=4)
)


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.tuples(st.just("openai-chat"), st.lists(CHAT, max_size=6)),
        st.tuples(st.just("anthropic"), st.lists(ANTHROPIC, max_size=6)),
    ),
    st.booleans(),
)
def test_a_light_message_has_the_problems_of_the_whole(drawn, final):
    name, values = drawn
    messages = [wire.get(name).message(v) for v in values]
    whole = problems(messages, name, final=final)
    assert problems([light(m) for m in messages], name, final=final) == whole


def test_breaches_are_told_once_with_their_lines(tmp_path):
    messages = [
        {"role": "user", "content": "go"},
        *tool_turn(1, "x"),
        {"role": "tool", "tool_call_id": "z", "content": "y"},
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(m) + "\n" for m in messages))
    (found,) = inspect_file(path).problems
    assert (found.code, found.message, found.line) == ("orphan-result", 3, 4)


def test_a_log_may_end_with_a_call_that_waits_but_a_body_may_not(tmp_path):
    session = shop().write(tmp_path / "log.jsonl")
    lines = session.read_text().splitlines()
    while '"tool_use"' not in lines[-1]:
        lines.pop()
    session.write_text("\n".join(lines) + "\n")
    assert inspect_file(session).problem_counts == ()
    body = inspect_file(chat(tmp_path / "s.json", tool_turn(1, "x")[:1]))
    assert body.problem_counts == (("missing-result", 1),)


def test_a_compaction_parts_calls_from_results_without_blame(tmp_path):
    """What was sent after it is judged by itself."""
    session = Claude().user("go").call("Bash", {"command": "ls"}, "a b", 900).compact("so far", 900).say("done", 500)
    assert inspect_file(session.write(tmp_path / "s.jsonl")).problem_counts == ()


def test_secrets_are_counted_by_family_and_shown_masked(tmp_path):
    path = chat(tmp_path / "s.json", [*tool_turn(1, f"GITHUB_TOKEN={KEY}\nagain GITHUB_TOKEN={KEY}", "env")])
    made = inspect_file(path)
    (found,) = made.secrets
    assert (found.count, found.distinct) == (2, 1)
    assert found.places[0].where.startswith("result of env")
    assert KEY not in repr(made)


@pytest.mark.parametrize(
    ("n", "shown"),
    [(0, "0"), (999, "999"), (1000, "1K"), (1234, "1.23K"), (12_345, "12.3K"), (123_456, "123K"), (999_600, "1M"),
     (1_234_567, "1.23M"), (2e9, "2B"), (-1500, "-1.5K")],
)  # fmt: skip
def test_tokens_in_three_digits(n, shown):
    assert figures.tokens(n) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(0, 10, "0%"), (1, 0, "0%"), (1, 10_000, "<0.1%"), (5, 1000, "0.5%"), (96, 10_000, "1%"), (99.6, 100, "99.6%"),
     (99.99, 100, "99.9%"), (100, 100, "100%"), (50, 100, "50%")],
)  # fmt: skip
def test_a_share_is_never_rounded_to_nothing_or_all(part, whole, shown):
    assert figures.percent(part, whole) == shown


def test_money_time_size_and_paths():
    assert [figures.money(x) for x in (0, 0.00001, 0.0042, 0.5, 1234.5)] == [
        "$0.00",
        "<$0.0001",
        "$0.0042",
        "$0.50",
        "$1,234.50",
    ]
    assert [figures.waited(x) for x in (45, 720, 12_600, 200_000)] == ["45 s", "12 min", "3.5 h", "2 days"]
    assert [figures.size(x) for x in (5, 5e3, 5e6, 5e9)] == ["5 B", "5.0 KB", "5.0 MB", "5.0 GB"]
    assert figures.short_path("/very/long/way/to/the/file.py", 18) == "…/to/the/file.py"
    assert figures.short_path("a command with words that is long", 12) == "a command w…"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.integers(2, 60))
def test_short_paths_fit(text, width):
    assert len(figures.short_path(text, width)) <= width


def test_blank_words_that_claude_code_writes_down_and_never_sends_are_no_breach(tmp_path):
    session = Claude().user("Look.").say("\n\n", 900).call("Read", {"file_path": "/a"}, "words", 950).say("Done.", 990)
    assert inspect_file(session.write(tmp_path / "s.jsonl")).problem_counts == ()
    body = tmp_path / "body.json"
    said = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": [{"type": "text", "text": " "}]}]
    body.write_text(json.dumps({"model": "claude-sonnet-4-6", "max_tokens": 9, "messages": [*said, said[0]]}))
    assert "empty-text" in dict(inspect_file(body, Options("anthropic")).problem_counts)
