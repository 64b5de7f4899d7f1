"""Copying, archiving, exporting, importing, pruning."""

from __future__ import annotations

import json

import pytest

from clew import transcript
from clew.errors import Conflict, InputError
from clew.lineage import Lineage
from clew.store import NewSession, Original, open_store
from clew.store.archive import from_line, to_line
from clew.store.copy import copy
from clew.store.export import MARK, SYNTHETIC, Options, export
from clew.store.imports import import_file, said_at
from clew.store.prune import prunable
from clew.store.records import Epoch
from clew.testing.builders import Clock, assistant, call, message, result, user


def synthetic(text: str) -> transcript.Message:
    m = user(text)
    return transcript.Message(m.role, m.parts, m.raw, m.wire, {SYNTHETIC: "handoff"})


@pytest.fixture
def store(tmp_path):
    made = open_store(str(tmp_path / "from.sqlite"), clock=Clock())
    made.create(NewSession("a", "cli", title="T", extra={"k": 1}))
    thread = [
        message({"role": "system", "content": "be good"}),
        user("go"),
        call("c", "bash", {"cmd": "ls"}),
        result("c", "x y"),
    ]
    made.append("a", [*thread, assistant("done \ud800"), synthetic("SUMMARY")], at=0)
    made.commit_epoch("a", Epoch(1, made.chain("a", 1), 2, {"h": "x"}), None)
    made.add_originals("a", [Original(transcript.text_address("x y"), "x y", position=3, part=0)])
    made.add_event("a", "usage", {"n": 1})
    made.create(NewSession("b", parent="a", shared=2, kind="branch"))
    made.append("b", [user("other")], at=2)
    made.for_tenant("t").create(NewSession("a"))
    return made


@pytest.mark.parametrize("url", ["memory://", "sqlite"])
def test_a_copy_holds_everything_and_goes_on_where_it_was_broken_off(store, tmp_path, url):
    target = open_store(url if url == "memory://" else str(tmp_path / "to.sqlite"))
    assert [c.new for c in copy(store, target)] == [True, True, True]
    assert [c.new for c in copy(store, target)] == [False, False, False]
    for name in ("a", "b"):
        assert target.dump(name).messages == store.dump(name).messages
        assert target.epochs(name) == store.epochs(name)
    assert target.original(transcript.text_address("x y")).position == 3
    assert set(target.tenants()) == {"", "t"}
    target.append("a", [user("only there")], at=6)
    with pytest.raises(Conflict):
        list(copy(store, target))


def test_an_archived_session_comes_back_whole(store):
    for name in ("a", "b"):
        dump = store.dump(name)
        again = from_line(to_line(dump))
        assert again.session == dump.session
        assert again.messages == dump.messages
        assert [m.message.raw for m in again.messages] == [m.message.raw for m in dump.messages]
        assert [dict(m.message.meta) for m in again.messages] == [dict(m.message.meta) for m in dump.messages]
        assert (again.events, again.epochs, again.originals) == (dump.events, dump.epochs, dump.originals)
    for wrong in (b"{", b"[]", b'{"type":"x"}', b'{"type":"clew-session"}'):
        with pytest.raises(InputError):
            from_line(wrong)


def one(store, kind, **options):
    [line] = export(store, ["a"], kind, Options(**options))
    return json.loads(line)


def test_what_clew_made_is_marked_or_left_out(store):
    for kind, key in (("openai", "messages"), ("anthropic", "messages"), ("sharegpt", "conversations")):
        marked = one(store, kind)[key]
        assert [m[MARK] for m in marked if MARK in m] == ["handoff"]
        assert "SUMMARY" in json.dumps([m for m in marked if MARK in m])
        training = one(store, kind, training=True)[key]
        assert MARK not in json.dumps(training)
        assert "SUMMARY" not in json.dumps(training)
        assert len(training) == len(marked) - 1


def test_the_formats_are_what_their_readers_expect(store):
    said = one(store, "openai")["messages"]
    assert [m["role"] for m in said] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert said[2] == call("c", "bash", {"cmd": "ls"}).value
    blocks = one(store, "anthropic")
    assert blocks["system"] == "be good"
    assert blocks["messages"][1]["content"] == [{"type": "tool_use", "id": "c", "name": "bash", "input": {"cmd": "ls"}}]
    assert blocks["messages"][2]["content"][0]["tool_use_id"] == "c"
    turns = one(store, "sharegpt")["conversations"]
    assert [t["from"] for t in turns] == ["system", "human", "function_call", "tool", "gpt", "human"]


def test_an_anthropic_session_exports_as_openai(store):
    store.create(NewSession("n"))
    blocks = [
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "ok"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}, {"type": "text", "text": "and"}]},
    ]  # fmt: skip
    store.append("n", [message(b, "anthropic") for b in blocks], at=0)
    [line] = export(store, ["n"], "openai")
    said = json.loads(line)["messages"]
    assert [m["role"] for m in said] == ["user", "assistant", "tool", "user"]
    assert said[0]["content"][1]["image_url"]["url"] == "data:image/png;base64,QQ=="
    assert said[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}
    assert (said[2]["content"], said[3]["content"]) == ("42", "and")
    [line] = export(store, ["n"], "anthropic")
    assert json.loads(line)["messages"] == blocks


def test_masks_go_over_every_string(store):
    assert "[m]" in one(store, "sharegpt", mask=lambda t: t.replace("x y", "[m]"))["conversations"][3]["value"]


def test_importing_again_does_no_harm(store, tmp_path):
    path = tmp_path / "s.json"
    thread = {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]}
    path.write_text(json.dumps(thread))
    [first] = import_file(store, path)
    [second] = import_file(store, path)
    assert (first.new, second.new, first.session.id) == (2, 0, second.session.id)
    assert first.session.kind == "import"
    archive = tmp_path / "a.jsonl"
    archive.write_bytes(b"".join(to_line(store.dump(n)) + b"\n" for n in ("a", "b")))
    target = open_store("memory://")
    assert [i.new for i in import_file(target, archive)] == [6, 1]
    assert [i.new for i in import_file(target, archive)] == [0, 0]
    target.append("b", [user("more")], at=3)
    with pytest.raises(Conflict):
        list(import_file(target, archive))


def thread(*texts: str) -> list[dict]:
    return [{"role": ("user", "assistant")[n % 2], "content": x} for n, x in enumerate(texts)]


def test_conversations_without_an_id_that_begin_alike_are_kept_apart(tmp_path):
    store = open_store("memory://")
    long = "You are careful. " * 400
    files = {
        "a": [{"role": "system", "content": long}, *thread("fix it", "ok", "thanks")],
        "b": [{"role": "system", "content": long}, *thread("fix it", "ok", "no, differently", "sure")],
        "c": [{"role": "system", "content": long}, *thread("another thing", "ok")],
    }
    for name, messages in files.items():
        (tmp_path / name).write_text(json.dumps({"messages": messages}))
    ids = {name: next(import_file(store, tmp_path / name)).session.id for name in files}
    assert len(set(ids.values())) == 3
    (tmp_path / "b").write_text(json.dumps({"messages": [*files["b"], *thread("more")]}))
    for name, new in (("a", 0), ("b", 1), ("c", 0)):
        [again] = import_file(store, tmp_path / name)
        assert (again.session.id, again.new) == (ids[name], new)


@pytest.mark.parametrize("to", ["openai", "anthropic", "sharegpt"])
def test_an_export_of_several_conversations_comes_in_as_several(tmp_path, to):
    store = open_store("memory://")
    for name in ("first", "second"):
        store.create(NewSession(name))
        store.append(name, [user(f"ask {name}"), assistant(f"answer {name}")], at=0)
    lines = list(export(store, ["first", "second"], to, Options()))
    (tmp_path / "both.jsonl").write_bytes(b"\n".join([*lines, b'{"messages":[{"role":"user","content":"no id"}]}']))
    other = open_store("memory://")
    for _ in range(2):
        done = list(import_file(other, tmp_path / "both.jsonl"))
        named = [d.session for d in done[:2]]
        assert [(s.id, s.kind, s.parent, s.source == named[0].source) for s in named] == [
            ("first", "import", "", True), ("second", "import", "", True),
        ]  # fmt: skip
        assert [m.message.text for m in other.messages("second")] == ["ask second", "answer second"]


def test_times_are_those_of_the_file(tmp_path):
    store = open_store("memory://")
    said = thread("no time", "iso", "seconds", "milliseconds", "nonsense")
    stamps = (None, "2026-01-02T03:04:05.5Z", 1_767_323_100, 1_767_323_200_000, "yesterday")
    for m, stamp in zip(said, stamps, strict=True):
        if stamp is not None:
            m["timestamp"] = stamp
    (tmp_path / "t.json").write_text(json.dumps({"messages": said}))
    [done] = import_file(store, tmp_path / "t.json")
    times = [m.time for m in store.messages(done.session.id)]
    assert times == [1_767_323_045.5, 1_767_323_045.5, 1_767_323_100, 1_767_323_200, 1_767_323_200]
    assert (done.session.created, done.session.updated) == (times[0], times[-1])
    assert said_at(store.messages(done.session.id)[:0], 5.0) == []


@pytest.mark.parametrize("first", ["memory://", "sqlite"])
@pytest.mark.parametrize("second", ["memory://", "sqlite"])
def test_what_was_exported_and_imported_exports_to_the_same_bytes(store, tmp_path, first, second):
    store.create(NewSession("c", "cli", kind="compression", parent="b"))
    store.append("c", [synthetic("SUMMARY"), user("on \ue000 \x00 😀")], at=0)
    store.add_usage("c", "m", {"n": 1.5})
    store.put_state("c", "k", 1, {"a": [1.0, None, "\ud800"]})
    store.end("c", "done")
    store.purge("x y", "[masked]")
    ids = Lineage(store).with_ancestors(["c"])
    assert ids == ("a", "b", "c")
    whole = b"".join(to_line(store.dump(n)) + b"\n" for n in ids)
    for n, url in enumerate((first, second)):
        path = tmp_path / f"{n}.jsonl"
        path.write_bytes(whole)
        target = open_store(url if url == "memory://" else str(tmp_path / f"to{n}.sqlite"))
        assert [i.session.id for i in import_file(target, path)] == ["a", "b", "c"]
        assert b"".join(to_line(target.dump(i)) + b"\n" for i in ids) == whole
        assert not target.check()


def test_a_summary_that_a_client_wrote_is_marked_or_left_out(store):
    summary = message({"role": "user", "content": "the story so far"})
    noted_ = transcript.Message(summary.role, summary.parts, summary.raw, summary.wire, {"compact_summary": True})
    store.append("b", [noted_], at=3)
    [line] = export(store, ["b"], "openai")
    assert [m.get(MARK) for m in json.loads(line)["messages"]] == [None, None, None, "summary"]
    [line] = export(store, ["b"], "openai", Options(training=True))
    assert len(json.loads(line)["messages"]) == 3


def test_native_files_come_in_to_the_byte(bench_dir, tmp_path):
    from clew.wire import files

    store = open_store(str(tmp_path / "native.sqlite"))
    paths = sorted((bench_dir / "native").glob("*.jsonl"), key=lambda p: p.stat().st_size)[:3]
    for path in paths:
        first, *_ = import_file(store, path)
        read = files.read(path)
        assert [m.message.raw for m in store.messages(first.session.id)] == [m.raw for m in read.messages]
        assert first.session.workspace == read.head.cwd
    assert not store.check()


def test_pruning_takes_whole_branches(tmp_path):
    clock = Clock()
    store = open_store(str(tmp_path / "p.sqlite"), clock=clock)
    house = Lineage(store)
    old, old2 = house.begin(source="cli").id, house.begin(source="api").id
    leaf = house.delegate(old2, goal="x").id
    clock.tick(1000)
    young = house.fork(old).id
    found = prunable(store, before=clock.now - 500)
    assert set(found.sessions) == {old2, leaf}
    assert found.needed == (old,)
    assert prunable(store, before=clock.now - 500, source="cli").sessions == ()
    assert prunable(store, before=clock.now - 500, keep=9).sessions == ()
    assert store.delete(found.sessions).sessions == 2
    assert {s.id for s in store.sessions()} == {old, young}
