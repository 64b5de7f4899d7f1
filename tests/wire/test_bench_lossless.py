"""Every message of every recorded session: same value, same bytes, and the checker agrees with the bench's own."""

from __future__ import annotations

import ast
import json

from clew import wire
from clew.transcript import Transcript, at_path
from clew.wire.convert import convert
from clew.wire.problems import problems
from tests.wire.builders import compact


def sessions(bench_dir):
    files = sorted((bench_dir / "sessions").glob("*.json"))
    assert files
    return [json.loads(f.read_bytes()) for f in files]


def native(bench_dir):
    """The messages and items inside each native file, as (file, wire name, values)."""
    files = sorted((bench_dir / "native").glob("*.jsonl"))
    assert files
    for file in files:
        rows = [json.loads(line) for line in file.read_bytes().splitlines() if line.strip()]
        items = [r["payload"] for r in rows if r.get("type") == "response_item"]
        said = [r["message"] for r in rows if isinstance(r.get("message"), dict)]
        yield (file.name, "openai-responses", items) if items else (file.name, "anthropic", said)


def parts_are_in_place(m):
    value = m.value
    for p in m.parts:
        there = at_path(value, p.at[:-1]) if p.at else value
        if p.at and isinstance(there, dict) and p.at[-1] not in there:
            assert p.at[-1] in ("content", "output")  # a result may have none
        elif p.at:
            at_path(value, p.at)


def test_sessions_come_back_as_they_were(bench_dir):
    w = wire.get("openai-chat")
    for session in sessions(bench_dir):
        assert wire.detect(session) == "openai-chat"
        for spelled in (compact, lambda v: json.dumps(v, indent=2).encode()):
            body = spelled({k: v for k, v in session.items() if not k.startswith("_")})
            request = w.request(body)
            assert w.render_bytes(request) == body
            again = request.replace(messages=request.messages)
            assert json.loads(w.render_bytes(again)) == json.loads(body)
        for m, value in zip(request.messages, session["messages"], strict=True):
            assert m.value == value
            assert json.loads(m.raw) == value
            parts_are_in_place(m)


def test_native_messages_come_back_as_they_were(bench_dir):
    for _, name, values in native(bench_dir):
        w = wire.get(name)
        assert len(values) > 100
        for value in values:
            raw = compact(value)
            m = w.message(raw)
            assert m.raw == raw
            assert m.value == value
            parts_are_in_place(m)


def test_the_checker_is_as_strict_as_the_bench_s(bench_dir):
    tree = ast.parse((bench_dir / "continuity.py").read_text())
    wanted = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in ("problems", "text_of")]
    oracle: dict = {"json": json}
    exec(compile(ast.Module(wanted, []), "continuity.py", "exec"), oracle)
    w = wire.get("chat")
    for session in sessions(bench_dir):
        values = session["messages"]
        for cut in (values, values[: len(values) // 2], values[len(values) // 2 :], values[::2], values[::-1]):
            ours = problems([w.message(v) for v in cut], "chat")
            assert len(ours) >= oracle["problems"](cut)


def test_recorded_sessions_are_sound_but_for_images_in_results(bench_dir):
    w = wire.get("chat")
    for session in sessions(bench_dir):
        found = problems([w.message(v) for v in session["messages"]], "chat")
        assert {p.code for p in found} <= {"image-in-result"}
    for file, name, values in native(bench_dir):
        found = problems([wire.get(name).message(v) for v in values], name)
        assert {p.code for p in found} <= {"empty-text"}, file


def test_every_call_finds_its_result(bench_dir):
    for _, name, values in native(bench_dir):
        transcript = Transcript(wire.get(name).message(v) for v in values)
        assert len(transcript.open_calls()) <= 1


def test_conversions_are_sound_and_name_what_is_lost(bench_dir):
    for _, name, values in native(bench_dir):
        messages = [wire.get(name).message(v) for v in values]
        words = sorted(t for m in messages for t in m.text.split("\n"))
        for target in wire.WIRES:
            converted = convert(messages, name, target)
            if target == name:
                assert converted.messages == tuple(messages)
                assert converted.lost == ()
                continue
            found = {p.code for p in problems(converted.messages, target)}
            assert not found
            assert sum(len(m.calls) for m in converted.messages) == sum(
                c.kind != "server" for m in messages for c in m.calls
            )
            if not any("tool result" in loss.what for loss in converted.lost) and not converted.system:
                kept = sorted(t for m in converted.messages for t in m.text.split("\n"))
                assert [t for t in kept if t] == [t for t in words if t]
