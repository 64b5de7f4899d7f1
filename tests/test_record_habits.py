"""The recorded fixtures, and the page that says what they show."""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise

import pytest

from clew import jsonio
from clew.record import read
from clew.record.habits import compacted, habits, kind, session, successive
from clew.redact import find
from clew.testing.clients import CLIENTS
from clew.wire import get
from clew.wire.problems import problems
from tests.conftest import ROOT

TRAFFIC = ROOT / "tests" / "data" / "traffic"
PAGE = ROOT / "docs" / "explanation" / "what-clients-send.md"
BEGIN, END = "<!-- habits: begin -->\n", "<!-- habits: end -->"
NAMES = [c.name for c in CLIENTS]


def traffic(name):
    return list(read(TRAFFIC / f"{name}.jsonl.zst"))


def cell(text: str) -> str:
    text = text.replace("\n", "⏎").replace("|", "\\|").replace("`", "'").strip("⏎ ")
    return f"`{text if len(text) <= 60 else text[:59] + '…'}`" if text else ""


def table() -> str:
    out = ["\n| client | where | what | seen | before | after |\n|---|---|---|---|---|---|\n"]
    for name in NAMES:
        for h in habits(traffic(name)):
            # A client's random ids would change the page with every recording; that they changed is the finding.
            before, after = ("", "") if h.what == "changed" and "metadata" in h.where else map(cell, h.example)
            out.append(f"| {name} | `{h.where}` | {h.what} | {h.times} of {h.of} | {before} | {after} |\n")
    return "".join(out) + "\n"


def test_the_page_says_what_the_fixtures_show():
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    written = f"{head}{BEGIN}{table()}{END}{tail}"
    if os.environ.get("CLEW_WRITE_DOCS") == "1":
        PAGE.write_text(written)
    assert page == written, "CLEW_WRITE_DOCS=1 writes the table anew"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda c: c.name)
def test_the_page_names_the_versions_that_were_recorded(client):
    row = next(line for line in PAGE.read_text().splitlines() if client.version in line)
    assert f"`{client.wire}`" in row


@pytest.mark.parametrize("name", NAMES)
def test_what_was_recorded_would_be_accepted(name):
    for e in traffic(name):
        if e.method == "POST":
            request = get(e.wire).request(e.body)
            assert problems(request.messages, e.wire) == [], e.n


@pytest.mark.parametrize("name", NAMES)
def test_every_story_is_whole(name):
    kinds = Counter(kind(e) for e in traffic(name))
    assert kinds["turn"] >= 20
    assert kinds["summary"] >= 1
    assert sum(compacted(a, b) for a, b in successive(traffic(name))) >= 1


def test_ids_tell_conversations_apart():
    ids = {name: {session(e) for e in traffic(name) if kind(e) in ("turn", "subagent")} for name in NAMES}
    assert {name: len(found) for name, found in ids.items()} == {"claude-code": 2, "codex": 1, "opencode": 2, "pi": 1}
    assert ids["pi"] == {""}
    assert all("" not in found for name, found in ids.items() if name != "pi")


def test_a_side_request_has_its_conversations_id():
    for name in ("codex", "opencode", "claude-code"):
        es = traffic(name)
        turns = {session(e) for e in es if kind(e) == "turn"}
        assert {session(e) for e in es if kind(e) in ("summary", "title")} <= turns
    assert sum(kind(e) == "title" for e in traffic("opencode")) >= 1
    assert sum(kind(e) == "subagent" for e in traffic("opencode")) >= 3
    assert sum(kind(e) == "subagent" for e in traffic("claude-code")) >= 3


def test_claude_codes_billing_line_follows_the_first_prompt():
    lines = {}
    for e in traffic("claude-code"):
        if e.method == "POST":
            first = next(m for m in e.body["messages"] if m["role"] == "user")
            lines.setdefault(jsonio.dumps(first["content"][1]["text"]), set()).add(e.body["system"][0]["text"])
    assert len(lines) == 3
    assert all(len(found) == 1 for found in lines.values())
    assert all(line.startswith("x-anthropic-billing-header:") for found in lines.values() for line in found)


def test_claude_code_adds_system_messages_at_the_end_and_leaves_them():
    turns = [e for e in traffic("claude-code") if kind(e) == "turn"]
    assert any(
        [m["role"] for m in b.body["messages"][len(a.body["messages"]) :]][-1:] == ["system"]
        for a, b in pairwise(turns)
    )
    for a, b in successive(traffic("claude-code")):
        if not compacted(a, b):
            roles = [[m["role"] for m in e.body["messages"]] for e in (a, b)]
            assert roles[1][: len(roles[0])] == roles[0]


def test_a_prompt_is_sent_as_a_block_and_then_as_a_string():
    changes = [h for h in habits(traffic("claude-code")) if h.where == "messages[].content" and h.what == "changed"]
    (habit,) = changes
    assert habit.example[0].startswith('[{"type":"text"')
    assert not habit.example[1].startswith("[")


@pytest.mark.parametrize("name", ["codex", "opencode", "pi"])
def test_the_others_change_nothing_in_what_they_sent(name):
    touched = {h.where for h in habits(traffic(name)) if h.where.startswith(("messages", "input", "tools", "system"))}
    assert touched == {"input" if name == "codex" else "messages"}  # the compaction


@pytest.mark.parametrize("name", NAMES)
def test_no_secret_and_no_path_of_a_machine_is_in_a_fixture(name):
    for e in traffic(name):
        text = jsonio.dumps(e.value()).decode()
        assert not [f for f in find(text) if "token" in f.family or "key" in f.family]
        assert "/root/" not in text
        assert "pytest-of" not in text
        assert "loopback-only" not in text
