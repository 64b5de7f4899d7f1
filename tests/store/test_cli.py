"""`clew store` and `clew sessions`: what they print and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew.cli import sessions as sessions_cli
from clew.cli import store as store_cli
from clew.errors import InputError, NotFound, StoreMissing
from clew.handoff.template import frame
from clew.lineage import Lineage
from clew.store import open_store
from clew.testing.builders import assistant, user

KEY = "sk-or-v1-0123456789abcdef0123456789abcdef"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLEW_CONFIG", raising=False)
    return tmp_path / "home"


@pytest.fixture
def house(home) -> Lineage:
    house = Lineage(open_store(str(home / "clew.db")))
    house.begin(id="first", source="cli", title="Task", workspace="/w")
    house.store.append("first", [user("hello there"), user(f"OPENROUTER_API_KEY={KEY}")], at=0)
    house.begin(id="second", source="subagent")
    return house


def run(app, *args: str, typed: str | None = None):
    out = CliRunner().invoke(app, args, input=typed)
    if out.exception and not isinstance(out.exception, SystemExit):
        raise out.exception
    return out


def s(*args: str, **kw):
    return run(sessions_cli.app, *args, **kw)


def st(*args: str, **kw):
    return run(store_cli.app, *args, **kw)


def test_list_hides_subagents_unless_asked(house):
    assert "first" in s("list").stdout
    assert "second" not in s("list").stdout
    assert "second" in s("list", "--all").stdout
    assert [x["id"] for x in json.loads(s("list", "--json", "--all", "--limit", "1").stdout)] == ["second"]
    assert s("list", "--before", "first", "--all").stdout == ""


def test_show_masks_secrets_unless_asked(house):
    shown = s("show", "fir").stdout
    assert "[0] user" in shown
    assert "hello there" in shown
    assert KEY not in shown
    assert KEY in s("show", "first", "--raw").stdout
    value = json.loads(s("show", "first", "--json", "--from", "1").stdout)
    assert [m["position"] for m in value["messages"]] == [1]
    assert KEY not in json.dumps(value)
    with pytest.raises(NotFound):
        s("show", "nobody")
    house.begin(id="firstborn")
    with pytest.raises(InputError, match="several"):
        s("show", "firs")


def test_fork_rename_tree_resume(house):
    made = s("fork", "first", "--at", "1").stdout.strip()
    assert "Task #2" in s("tree", "first").stdout.splitlines()[1]
    assert "Better" in s("rename", made, "Better").stdout
    child = house.rotate("first", [user("sum")])
    house.store.end(child.id, "done")
    assert s("resume", "first").stdout.strip() == child.id
    assert house.store.session(child.id).active
    assert not house.store.session("first").active
    assert s("resume", "first", "--here").stdout.strip() == "first"
    assert house.store.session("first").active


def test_export_and_import(house, tmp_path):
    out = s("export", "first", "--format", "openai").stdout
    assert json.loads(out)["messages"][0] == {"role": "user", "content": "hello there"}
    assert KEY not in out
    whole = tmp_path / "backup.jsonl"
    whole.write_text(s("export", "first").stdout)
    target = str(tmp_path / "other.sqlite")
    assert "2 new of 2" in s("import", str(whole), "--store", target).stdout
    assert "0 new of 2" in s("import", str(whole), "--store", target).stdout
    with pytest.raises(InputError):
        s("export", "first", "--format", "word")


def test_a_backup_has_what_a_session_came_from_and_all_means_all(house, tmp_path):
    fork = house.fork("first", 1).id
    lines = s("export", fork).stdout.splitlines()
    assert [json.loads(x)["session"]["id"] for x in lines] == ["first", fork]
    assert len(s("export", "--all").stdout.splitlines()) == 3
    whole = tmp_path / "all.jsonl"
    whole.write_text("\n".join(lines) + "\n")
    target = str(tmp_path / "other.sqlite")
    done = json.loads(s("import", str(whole), "--store", target, "--json").stdout)
    assert [(d["session"], d["new"], d["length"]) for d in done] == [("first", 2, 2), (fork, 0, 1)]
    assert s("export", fork, "--store", target).stdout.splitlines() == lines
    for wrong in ((), ("first", "--all"), ("first", "--training")):
        with pytest.raises(InputError):
            s("export", *wrong)


def test_what_a_compaction_wrote_is_no_training_data_wherever_it_came_from(house, home):
    record = frame("## Goal\nship it")
    summary = "This session is being continued from a previous conversation. What happened: much."
    house.begin(id="made")
    house.store.append("made", [user(record), assistant("on it"), user(summary), assistant("fine")], at=0)
    marked = json.loads(s("export", "made", "-f", "openai").stdout)["messages"]
    assert [m.get("clew_synthetic") for m in marked] == ["handoff (clew)", None, "handoff (claude-code)", None]
    clean = json.loads(s("export", "made", "-f", "openai", "--training").stdout)["messages"]
    assert [m["content"] for m in clean] == ["on it", "fine"]


@pytest.mark.parametrize("wrong", ["nowhere.json", ".", "garbage", "empty"])
def test_what_can_not_be_imported_is_said(house, tmp_path, wrong):
    (tmp_path / "garbage").write_bytes(b"\xff\x00\x80" * 50)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(InputError):
        s("import", str(tmp_path / wrong))


def test_looking_makes_no_store(home, tmp_path):
    lookups = (
        ("list",), ("show", "x"), ("tree", "x"), ("resume", "x"), ("fork", "x"), ("rename", "x", "y"), ("export", "x"),
        ("rm", "x", "-y"), ("prune", "--older-than", "1d"), ("purge", "--secret", "abcdef"),
    )  # fmt: skip
    for args in lookups:
        with pytest.raises(StoreMissing, match="nothing is stored yet"):
            s(*args, "--tenant", "typo")
    for args in (("info",), ("check",), ("migrate",), ("vacuum",)):
        with pytest.raises(StoreMissing, match="nothing is stored yet"):
            st(*args)
    with pytest.raises(StoreMissing):
        st("copy", str(tmp_path / "nowhere"), str(tmp_path / "to"))
    assert not list(tmp_path.iterdir())


def test_untitled_sessions_are_listed_by_how_they_began(house):
    house.begin(id="third")
    house.store.append("third", [user("please\nlook at " + "it " * 40)], at=0)
    assert "“please look at it it" in s("list").stdout
    assert "Task" in s("list").stdout


def test_json_wherever_something_is_printed(house, tmp_path):
    fork = s("fork", "first").stdout.strip()
    assert [(x["id"], x["depth"]) for x in json.loads(s("tree", fork, "--json").stdout)] == [("first", 0), (fork, 1)]
    assert json.loads(st("migrate", "--json").stdout) == {"version": 1, "backups": 0}
    assert set(json.loads(st("vacuum", "--json").stdout)) == {"before", "after"}
    assert json.loads(st("copy", house.store.url, str(tmp_path / "c"), "--json").stdout) == {"copied": 3, "there": 0}
    assert json.loads(s("purge", "--secret", KEY, "--json").stdout)["places"]["messages"] == 1
    gone = json.loads(s("rm", fork, "--yes", "--json").stdout)
    assert (gone["deleted"], gone["freed"]["sessions"]) == ([fork], 1)
    assert json.loads(s("prune", "--older-than", "1d", "--json").stdout)["deleted"] == []


def test_rm_says_what_it_frees_and_asks(house):
    told = s("rm", "first", typed="n\n")
    assert "1 sessions, 2 messages" in told.stdout
    assert told.exit_code == 1
    assert house.store.session("first").length == 2
    assert s("rm", "first", "--yes").exit_code == 0
    with pytest.raises(NotFound):
        house.store.session("first")


def test_rm_with_descendants(house):
    house.fork("first")
    assert "2 sessions" in s("rm", "first", "--descendants", "--yes").stdout
    assert [x.id for x in house.store.sessions()] == ["second"]


def test_prune(house):
    assert "nothing to prune" in s("prune", "--older-than", "1d", "--yes").stdout
    assert "2 sessions" in s("prune", "--older-than", "0h", "--yes").stdout
    assert not house.store.sessions()
    with pytest.raises(InputError):
        s("prune", "--older-than", "soon")


def test_purge_asks_for_the_value(house):
    out = s("purge", typed=f"{KEY}\n").stdout
    assert "1  messages" in out
    assert KEY not in out
    assert KEY not in s("show", "first", "--raw").stdout
    assert "nowhere" in s("purge", "--secret", KEY).stdout


def test_purge_says_where_the_value_may_still_stand(house):
    house.begin(id=f"about-{KEY}")
    done = s("purge", "--secret", KEY)
    assert done.exit_code == 1
    assert "masked everywhere" not in done.stdout
    assert "can't be changed, only deleted" in done.stderr
    assert KEY not in done.stdout + done.stderr
    with pytest.raises(InputError, match="nothing was masked"):
        s("purge", "--secret", "user")


def test_info_check_migrate_vacuum(house):
    info = json.loads(st("info", "--json").stdout)
    assert (info["sessions"], info["messages"], info["backend"]) == (2, 2, "sqlite")
    assert "sqlite" in st("info").stdout
    assert st("check").stdout == "sound\n"
    assert st("migrate").stdout.startswith("version 1")
    assert "bytes" in st("vacuum", "--reindex").stdout


def test_check_finds_and_repairs(house, home):
    with house.store._pool.write() as link:
        link.db.execute("DELETE FROM contents WHERE id = 2")
    house.store.close()
    out = st("check")
    assert out.exit_code == 1
    assert "no content" in out.stdout
    assert json.loads(st("check", "--json").stdout)[0]["fatal"]
    out = st("check", "--repair")
    assert out.exit_code == 0
    assert "1 messages could not be kept" in out.stdout
    assert list(home.glob("clew.db.corrupt-*"))
    assert st("check").stdout == "sound\n"
    assert open_store(str(home / "clew.db")).session("first").length == 1


def test_what_is_no_store_is_diagnosed(home):
    home.mkdir()
    Path(home / "clew.db").write_bytes(b"x" * 5000)
    out = st("check")
    assert out.exit_code == 1
    assert "damaged or no store" in out.stdout
    assert (home / "clew.db").read_bytes() == b"x" * 5000


def test_copy(house, home, tmp_path):
    target = str(tmp_path / "copy.sqlite")
    assert st("copy", str(home / "clew.db"), target).stdout == "2 sessions copied, 0 were there\n"
    assert st("copy", str(home / "clew.db"), f"sqlite:///{target}").stdout == "0 sessions copied, 2 were there\n"
