"""What holds of any conversation's ledger: built step by step or at once, the same; and no fact without evidence."""

from __future__ import annotations

import json
import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.ledger import Builder, Ledger, heard, mood, names, of, orders, requests, settled, topics, values, withdrawal
from clew.ledger.sentences import sentences
from clew.ledger.shell import simple_commands
from clew.transcript import Transcript
from clew.wire import get
from tests.ledger.script import WIRES, Talk, observed

PIECES = [
    "Fix the parser.", "Never touch the tests.", "The budget is $800.", "Actually make it $500.", "continue", "stop", "undo that",
    "I'll use SQLite because it is small.", "The root cause is a stale index.", "Done.", "Could you please provide your id?", "",
    "FAILED t/a.py::test_x - no\n1 failed in 0.1s", "3 passed in 0.1s", "Exit code 1\nValueError: bad", "ok", "不要修改测试。", "a\n\nb",
    "<system-reminder>x</system-reminder>hi", "[Request interrupted by user]", "M src/a.py", "[main 1a2b3c4] x", "See AB-1234 on port 8080.",
]  # fmt: skip
SCRIPTS = [
    "pytest", "python run.py", "cat > a.py <<EOF\nx\nEOF", "sed -n 1,5p src/a.py", "rm a.py", "git status --short", "cd src && ls | head",
    "git commit -m x", "mv a.py b.py", "echo 'unclosed",
]  # fmt: skip
words = st.sampled_from(PIECES) | st.text(max_size=60)
turns = st.one_of(
    st.tuples(st.just("user"), words),
    st.tuples(st.just("agent"), words),
    st.tuples(st.just("ran"), st.sampled_from(SCRIPTS) | st.text(max_size=40), words),
    st.tuples(st.just("read"), st.sampled_from(["/w/a.py", "src/a.py", "b"]), words),
    st.tuples(st.just("edit"), st.sampled_from(["/w/a.py", "src/a.py", "b"]), words),
)


def talk(steps: list[tuple[str, ...]], wire: str) -> Talk:
    made = Talk(wire)
    for kind, *rest in steps:
        if kind == "user":
            made.user(rest[0])
        elif kind == "agent":
            made.agent(rest[0])
        elif kind == "ran":
            made.ran(rest[0], rest[1])
        else:
            made.call("Read" if kind == "read" else "Edit", {"file_path": rest[0]}, rest[1])
    return made


conversations = st.builds(talk, st.lists(turns, max_size=14), st.sampled_from(WIRES))


@given(conversations)
@settings(max_examples=80, deadline=None)
def test_step_by_step_is_the_same_as_at_once(made: Talk):
    ledger, transcript = observed(made)
    assert ledger == of(transcript)
    wire, builder, log = get(made.wire), Builder(), Transcript()
    for value in made.values:
        message = wire.message(json.loads(json.dumps(value)))
        builder.observe(log.append(message), message, log)
        builder.ledger()  # looking at it changes nothing
    assert builder.ledger() == ledger


@given(conversations)
@settings(max_examples=80, deadline=None)
def test_requests_only_grow_and_keep_their_words(made: Talk):
    wire, builder, log = get(made.wire), Builder(), Transcript()
    before: list[tuple[str, int]] = []
    for value in made.values:
        message = wire.message(value)
        builder.observe(log.append(message), message, log)
        now = [(r.text, r.source) for r in builder.ledger().requests]
        assert now[: len(before)] == before
        before = now


def spoken(transcript: Transcript, position: int) -> str:
    message = transcript[position]
    calls = "\n".join(str(v) for c in message.calls for v in (c.input.values() if isinstance(c.input, dict) else ()))
    return message.text + "\n" + calls


def flat(text: str) -> str:
    return " ".join(text.split())


def evidence(ledger: Ledger) -> list[tuple[str, int]]:
    found = [
        (f.text, f.source)
        for f in (*ledger.requests, *ledger.constraints, *ledger.commands, *ledger.errors, *ledger.decisions)
    ]
    return found + [(v.text, v.source) for v in ledger.values if v.kind != "port"]


@given(conversations)
@settings(max_examples=100, deadline=None)
def test_no_fact_stands_without_its_words_in_the_message_it_names(made: Talk):
    ledger, transcript = observed(made)
    for text, source in evidence(ledger):
        assert flat(text) in flat(spoken(transcript, source))
    for file in ledger.files:
        name = file.path.rsplit("/", 1)[-1]
        assert any(name in spoken(transcript, i) for i in range(len(transcript)))


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_can_be_taken_apart(text: str):
    for command in simple_commands(text):
        assert command.words or command.writes
    for sentence in sentences(text):
        assert flat(sentence) in flat(text)


_PIECES = [
    "a", "foo", "Foo", "FOO", "port", "Port", "is", "number", " ", "  ", "\n", "\t", "8080", "12", "1", "v1.2.3", "foo_bar", "FOO_BAR",
    "x@y.z", "-", "--port", ".", "..", "+", ":", "/", "//", "~", "@", "#", "http", "https://", "localhost", "#12", "ABC-12", "$", "é", "_",
    "abc_123", "1a2b3c4", "defaced", "deadbeefcafe", "abcdefab-abcd-abcd-abcd-abcdefabcdef", "camelCase", ".py", ".md", "(", "'",
]  # fmt: skip
_ODD = st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)


@settings(max_examples=100)
@given(_ODD)
def test_what_is_passed_over_holds_no_value(text: str):
    alone = [(m.lastgroup, m.group(), m.start()) for m in re.finditer(values._FORMS, text, re.VERBOSE)]
    assert [(k, m[k], m.start(k)) for m in values._VALUE.finditer(text) if (k := m.lastgroup)] == alone


@settings(max_examples=100)
@given(_ODD)
def test_what_is_passed_over_holds_no_name(text: str):
    alone = [m.span() for m in re.finditer(names._FORMS, text, re.VERBOSE)]
    assert [m.span("name") for m in names._NAME.finditer(text) if m["name"]] == alone


RUNS = [
    "keep ", "please keep it ", "leave a ", "i want the a b ", "per a !!!! ", "!", " ", "no-a-", "a", "a ", "also please ", "first a ", "we have to be ",
    "i'm keeping ", "the a ", "found a a ", "; so i ", "should not ", "all a is ", "(", "in a small ", '"="', "let me ", "i've now ", "under 1 ", "*_`",
]  # fmt: skip


def test_no_build_of_a_sentence_takes_more_than_linear_time():
    """Sentences are cut long before this length; a pattern that needs that is wrong all the same."""
    patterns = [
        p
        for m in (heard, mood, orders, settled, topics, withdrawal)
        for p in vars(m).values()
        if isinstance(p, re.Pattern)
    ]
    patterns.append(requests._AT_WORK)  # as it is used, of a reply's last characters
    for run in RUNS:
        text = (run * 12_000)[:12_000] + "x"
        start = time.process_time()
        for pattern in patterns:
            pattern.search(text)
        assert time.process_time() - start < 0.7, run  # some 0.1 s; more than a second where one is quadratic
