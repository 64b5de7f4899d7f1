"""Real session files of the bench folder, each counted a second way. Figures are printed: `pytest -s`."""

from __future__ import annotations

import pytest

from clew import jsonio
from clew.transcript import Transcript
from clew.wire import files
from tests.conftest import bench_files

NATIVE, SESSIONS = "native/*.jsonl", "sessions/*.json"


def shown(session):
    compactions = [(c.position, c.kind, c.trigger, c.tokens_before) for c in session.compactions]
    print(
        f"\n{session.path.rsplit('/', 1)[-1]}: {session.format}, {len(session.messages)} messages, "
        f"{len(session.reports)} reports, {sum(r.usage.prompt for r in session.reports)} tokens read, "
        f"compactions {compactions}, {len(session.sidechains)} side chains; {'; '.join(session.left_out)}"
    )


def test_the_bench_folder_holds_what_the_tests_below_read(bench_dir):
    assert list((bench_dir / "native").glob("*.jsonl"))
    assert list((bench_dir / "sessions").glob("*.json"))


@pytest.mark.parametrize("path", bench_files(NATIVE), ids=lambda p: p.stem)
def test_native_files_lose_no_message_no_report_and_no_compaction(path):
    rows = [jsonio.loads(raw) for raw in path.read_bytes().splitlines()]
    session = files.read(path)
    shown(session)
    if session.format == "codex":
        check_codex(rows, session)
    else:
        check_claude(rows, session)
    called = {c.id for m in session.messages for c in m.calls}
    answered = {r.call_id for m in session.messages for r in m.results}
    transcript = Transcript(session.messages)
    assert {transcript.part(place).id for place in transcript.open_calls()} == called - answered
    assert answered <= called


def check_codex(rows, session):
    items = [r["payload"] for r in rows if r["type"] == "response_item"]
    assert [m.value for m in session.messages] == items
    infos = [r["payload"].get("info") for r in rows if r["payload"].get("type") == "token_count"]
    totals = []
    for info in filter(None, infos):
        if not totals or info["total_token_usage"] != totals[-1]:
            totals.append(info["total_token_usage"])
    assert len(session.reports) == len(totals)
    assert len(session.compactions) == sum(r["type"] == "compacted" for r in rows)
    assert all(c.replacement for c in session.compactions)


def check_claude(rows, session):
    said = [r for r in rows if r["type"] in {"user", "assistant"}]
    queued = [r for r in rows if r["type"] == "attachment" and r["attachment"]["type"] == "queued_command"]
    replies = {r["message"]["id"] for r in said if r["type"] == "assistant"}
    users = [r for r in said if r["type"] == "user"]
    assert len(session.messages) == len(replies) + len(users) + len(queued)
    assert len(session.reports) == len(replies)
    assert len(session.compactions) == sum(r.get("subtype") == "compact_boundary" for r in rows)
    blocks = [b for r in said if isinstance(r["message"]["content"], list) for b in r["message"]["content"]]
    told = [b for m in session.messages if isinstance(m.value["content"], list) for b in m.value["content"]]
    assert sorted(map(jsonio.canonical, told)) == sorted(map(jsonio.canonical, blocks))
    last = {r["message"]["id"]: r["message"]["usage"]["output_tokens"] for r in said if r["type"] == "assistant"}
    assert sum(r.usage.output for r in session.reports) == sum(last.values())


@pytest.mark.parametrize("path", bench_files(SESSIONS), ids=lambda p: p.stem)
def test_chat_sessions_come_out_as_they_are(path):
    session = files.read(path)
    shown(session)
    document = jsonio.loads(path.read_bytes())
    assert [m.value for m in session.messages] == document["messages"]
    assert list(session.tools) == (document["tools"] or [])


@pytest.mark.parametrize("path", bench_files(NATIVE, SESSIONS), ids=lambda p: p.stem)
def test_every_line_comes_back_to_the_byte(path):
    assert b"".join(line.raw for line in files.lines(path)) == path.read_bytes().replace(b"\n", b"")
