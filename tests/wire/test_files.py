"""Session files of every format, small ones made for this: what is read out of each, to the last sentence."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace

import pytest

from clew import jsonio
from clew.errors import InputError
from clew.transcript import Transcript
from clew.wire import files
from clew.wire.usage import Usage
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden" / "files"
FILES = sorted(p for p in GOLDEN.iterdir() if not p.name.endswith(".expected.json"))


def summary(session):
    """All that a reader found, as JSON that a person can check."""

    def shown(messages):
        return [{"role": m.role, "value": m.value, "meta": dict(m.meta)} for m in messages]

    return {
        "head": asdict(session.head),
        "messages": shown(session.messages),
        "reports": [asdict(r) for r in session.reports],
        "compactions": [
            {**asdict(replace(c, replacement=())), "kept": list(c.kept), "replacement": shown(c.replacement)}
            for c in session.compactions
        ],
        "sidechains": {s.name: shown(s.messages) for s in session.sidechains},
        "left_out": list(session.left_out),
    }


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_each_golden_file_reads_as_expected(path):
    expected = json.loads((GOLDEN / f"{path.name}.expected.json").read_text())
    assert json.loads(json.dumps(summary(files.read(path)))) == expected


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_the_format_is_told_by_content_not_by_name(path, tmp_path):
    copy = tmp_path / "session.bin"
    shutil.copy(path, copy)
    assert files.read(copy).format == files.read(path).format


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_line_can_be_read_again_to_the_byte(path):
    whole = path.read_bytes()
    for line in files.lines(path):
        assert whole[line.offset :].startswith(line.raw)
    assert b"".join(line.raw + b"\n" for line in files.lines(path)) == whole


@pytest.mark.parametrize("name", ["claude-code.jsonl", "codex.jsonl", "chat.jsonl", "sharegpt.jsonl", "anthropic.json"])
def test_every_call_has_its_result(name):
    assert Transcript(files.read(GOLDEN / name).messages).open_calls() == ()


def test_a_claude_message_is_its_lines_together_with_their_results_after_it():
    session = files.read(GOLDEN / "claude-code.jsonl")
    said = session.messages[1]
    assert [type(p).__name__ for p in said.parts] == ["Reasoning", "ToolCall", "ToolCall"]
    assert [r.call_id for m in session.messages[2:4] for r in m.results] == ["toolu_1", "toolu_2"]
    assert session.messages[4].text == "Keep the rate at 19%."


def test_streamed_usage_is_reported_once_with_its_last_numbers():
    session = files.read(GOLDEN / "claude-code.jsonl")
    main = [r for r in session.reports if r.chain == files.MAIN]
    assert [r.position for r in main] == [1, 5, 8]
    assert main[0].usage == Usage(input=4, cache_read=2000, cache_write_1h=300, output=40)
    assert all(session.messages[r.position].role == "assistant" for r in main)


def test_a_codex_report_names_where_its_reply_began():
    session = files.read(GOLDEN / "codex.jsonl")
    assert [(r.position, r.usage.prompt) for r in session.reports] == [(2, 5000), (5, 5200), (7, 2000)]


def test_the_claude_compaction_stands_at_its_handoff():
    session = files.read(GOLDEN / "claude-code.jsonl")
    (compaction,) = session.compactions
    assert session.messages[compaction.position].text == compaction.handoff
    assert (compaction.trigger, compaction.tokens_before) == ("auto", 168000)


def write(path, *rows):
    path.write_bytes(b"".join(jsonio.dumps(r) + b"\n" for r in rows))
    return path


def claude(uuid, parent, content, kind="user", **more):
    message = {"role": kind, "content": content}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message, **more}


def texts(session):
    return [m.text for m in session.messages]


def test_preserved_messages_of_a_compaction_are_named_and_not_repeated(tmp_path):
    segment = {"headUuid": "b", "anchorUuid": "s", "tailUuid": "c"}
    boundary = {
        "type": "system", "subtype": "compact_boundary", "uuid": "x", "parentUuid": None, "logicalParentUuid": "c",
        "sessionId": "s", "compactMetadata": {"trigger": "manual", "preTokens": 9, "preservedSegment": segment},
    }  # fmt: skip
    path = write(
        tmp_path / "f",
        claude("a", None, "one"),
        claude("b", "a", "two"),
        claude("c", "b", "three"),
        boundary,
        claude("s", "x", "handoff", isCompactSummary=True),
        claude("d", "c", "four"),
    )
    session = files.read(path)
    assert texts(session) == ["one", "two", "three", "handoff", "four"]
    (compaction,) = session.compactions
    assert (compaction.position, list(compaction.kept), compaction.handoff) == (3, [1, 2], "handoff")


def test_a_file_of_side_chain_lines_alone_is_a_conversation(tmp_path):
    rows = [
        claude("a", None, "go", isSidechain=True, agentId="7"),
        claude("b", "a", "on", isSidechain=True, agentId="7"),
    ]
    assert texts(files.read(write(tmp_path / "agent.jsonl", *rows))) == ["go", "on"]


def test_side_chains_without_agent_ids_are_told_apart_by_their_roots(tmp_path):
    rows = [
        claude("a", None, "main"),
        claude("s1", None, "first", isSidechain=True),
        claude("t1", None, "second", isSidechain=True),
        claude("s2", "s1", "first more", isSidechain=True),
    ]
    session = files.read(write(tmp_path / "f", *rows))
    assert texts(session) == ["main"]
    assert [(s.name, [m.text for m in s.messages]) for s in session.sidechains] == [
        ("s1", ["first", "first more"]),
        ("t1", ["second"]),
    ]


def test_an_older_compaction_without_a_boundary_line_is_recognised(tmp_path):
    rows = [claude("a", None, "one"), claude("s", None, "handoff", isCompactSummary=True), claude("b", "s", "two")]
    session = files.read(write(tmp_path / "f", *rows))
    assert texts(session) == ["one", "handoff", "two"]
    assert [(c.position, c.handoff) for c in session.compactions] == [(1, "handoff")]


def test_numbers_over_64_bits_stay_exact(tmp_path):
    big = 123456789012345678901234567890
    path = tmp_path / "f"
    path.write_text(f'{{"role":"user","content":"x","n":{big}}}\n')
    assert files.read(path).messages[0].value["n"] == big


def test_a_format_can_be_named_and_must_fit():
    assert files.read(GOLDEN / "chat.jsonl", format="openai-chat").format == "openai-chat"
    with pytest.raises(InputError, match="looks like codex"):
        files.read(GOLDEN / "codex.jsonl", format="claude-code")
    with pytest.raises(InputError, match="one of claude-code, codex"):
        files.read(GOLDEN / "codex.jsonl", format="gopher")


@pytest.mark.parametrize("name", ["anthropic", "openai-responses", "openai-chat"])
@pytest.mark.parametrize("lines", [True, False])
def test_a_name_decides_where_the_content_does_not(tmp_path, name, lines):
    said = [{"role": "user", "content": "Is it up?"}, {"role": "assistant", "content": "It is."}]
    path = tmp_path / "s.json"
    path.write_text("\n".join(map(json.dumps, said)) if lines else json.dumps({"messages": said}))
    session = files.read(path, format=name)
    assert (session.format, session.wire) == (name, name)
    assert [m.text for m in session.messages] == ["Is it up?", "It is."]
    assert files.read(path).format == "openai-chat"


def test_records_come_head_first_and_left_out_last():
    kinds = [type(r).__name__ for r in files.iter_records(GOLDEN / "claude-code.jsonl")]
    assert kinds[0] == "Head"
    assert kinds[-1] == "LeftOut"
    assert "Said" not in kinds[kinds.index("LeftOut") :]
