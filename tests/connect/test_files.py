"""Each client connected and restored: byte for byte, in one step, whatever its settings were."""

from __future__ import annotations

import json
import tomllib

import pytest

from clew.connect import CLIENTS, connect, current, plan, undo
from clew.errors import ConfigError, InputError

URL = "http://127.0.0.1:48800"
NAMES = sorted(CLIENTS)
BEFORE = {
    "claude": '{\n  "model": "opus",\n  "env": {"FOO": "1"},\n  "permissions": {"allow": ["Bash(ls:*)"]}\n}\n',
    "codex": '# mine\nmodel = "gpt-5"\n\n[features]\nx = true\n\n[model_providers.azure]\nname = "Azure"\nbase_url = "https://a.example.com"\n',
    "opencode": '{\n\t// theme\n\t"theme": "dark",\n\t"provider": {"anthropic": {"options": {"timeout": 5}}}\n}',
    "pi": '{"providers": {"ollama": {"baseUrl": "http://localhost:11434/v1", "models": [{"id": "x"}]}}}',
}
SET = {
    "claude": (URL,),
    "codex": (f"{URL}/v1",),
    "opencode": (f"{URL}/v1", f"{URL}/v1", f"{URL}/openrouter/v1"),
    "pi": (URL, f"{URL}/v1", f"{URL}/openrouter/v1"),
}


@pytest.fixture
def env(tmp_path):
    return {"HOME": str(tmp_path)}


@pytest.fixture(params=NAMES)
def client(request):
    return CLIENTS[request.param]


def written(client, env, text):
    path = client.path(env)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_connected_and_restored_byte_for_byte(client, env, tmp_path):
    path = written(client, env, BEFORE[client.name])
    path.chmod(0o640)
    before = tree(tmp_path)
    done = connect(client, URL + "/", env)
    assert client.bases(current(client, env)) == SET[client.name]
    assert str(path) in done.says
    assert path.stat().st_mode & 0o777 == 0o640
    assert undo(client, env).says == f"{client.title} is as it was ({path})"
    assert tree(tmp_path) == before
    assert path.stat().st_mode & 0o777 == 0o640


def test_an_address_that_gives_way_is_named(env):
    """Clew goes to the provider itself, so who used another address before has to tell the gateway of it."""
    claude = CLIENTS["claude"]
    for base, told in (("https://llm.corp.example/v1", True), ("https://api.anthropic.com", False), (URL, False)):
        path = claude.path(env)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": base}}))
        notes = connect(claude, "http://127.0.0.1:1", env).notes
        assert [f"--upstream NAME={base}" in n for n in notes] == [True] * told
        undo(claude, env)


def test_what_else_the_file_says_stays(client, env):
    path = written(client, env, BEFORE[client.name])
    connect(client, URL, env)
    text = path.read_text()
    if client.name == "codex":
        was, now = tomllib.loads(BEFORE["codex"]), tomllib.loads(text)
        assert now.pop("model_provider") == "clew"
        assert now["model_providers"].pop("clew")["supports_websockets"] is False
        assert now == was
        assert text.endswith(
            '[model_providers.clew]\nname = "Clew"\nbase_url = "http://127.0.0.1:48800/v1"\nwire_api = "responses"\nsupports_websockets = false\nrequires_openai_auth = true\n'
        )
    elif client.name == "claude":
        assert json.loads(text) == {**json.loads(BEFORE["claude"]), "env": {"FOO": "1", "ANTHROPIC_BASE_URL": URL}}
    elif client.name == "opencode":
        assert "// theme" in text
        assert '"timeout": 5' in text
    else:
        assert json.loads(text)["providers"]["ollama"] == json.loads(BEFORE["pi"])["providers"]["ollama"]


def test_a_file_that_was_not_there_is_gone_again(client, env, tmp_path):
    connect(client, URL, env)
    path = client.path(env)
    assert path.stat().st_mode & 0o777 == 0o600
    assert client.bases(path.read_text()) == SET[client.name]
    undo(client, env)
    assert tree(tmp_path) == {}


def test_connecting_twice_and_to_another_address_keeps_the_first_backup(client, env, tmp_path):
    written(client, env, BEFORE[client.name])
    before = tree(tmp_path)
    connect(client, URL, env)
    assert "already connected" in connect(client, URL, env).says
    connect(client, "http://127.0.0.1:9", env)
    assert all("127.0.0.1:9" in base for base in client.bases(current(client, env)))
    undo(client, env)
    assert tree(tmp_path) == before


def test_what_was_changed_since_stays_and_only_clews_setting_goes(client, env, tmp_path):
    path = written(client, env, BEFORE[client.name])
    connect(client, URL, env)
    added = "\n[added]\nx = 1\n" if client.name == "codex" else ""
    text = path.read_text()
    path.write_text(text + added if added else text.replace("{", '{"added": 1, ', 1))
    done = undo(client, env)
    assert "those changes stay" in done.notes[0]
    assert client.bases(path.read_text()) == ()
    read = tomllib.loads if client.name == "codex" else __import__("clew.connect.jsontext").connect.jsontext.read
    was, now = read(BEFORE[client.name]), read(path.read_text())
    assert now.pop("added")
    assert now == was
    assert list(tree(tmp_path)) == [str(path.relative_to(tmp_path))]


def test_an_address_the_user_had_comes_back_even_then(env):
    text = '{"env": {"ANTHROPIC_BASE_URL": "https://proxy.example.com"}}'
    path = written(CLIENTS["claude"], env, text)
    connect(CLIENTS["claude"], URL, env)
    path.write_text(path.read_text() + "\n")
    undo(CLIENTS["claude"], env)
    assert json.loads(path.read_text()) == json.loads(text)


def test_a_dry_run_writes_nothing(client, env, tmp_path):
    written(client, env, BEFORE[client.name])
    before = tree(tmp_path)
    p = plan(client, URL, env)
    assert p.changes
    assert client.bases(p.after.decode()) == SET[client.name]
    assert tree(tmp_path) == before


def test_undoing_what_was_never_done_touches_nothing(client, env, tmp_path):
    written(client, env, BEFORE[client.name])
    before = tree(tmp_path)
    assert "was not connected by Clew" in undo(client, env).says
    assert tree(tmp_path) == before


def test_a_broken_file_is_refused_and_left(client, env, tmp_path):
    path = written(client, env, "{ broken = [")
    with pytest.raises(ConfigError, match=str(path)):
        connect(client, URL, env)
    assert tree(tmp_path) == {str(path.relative_to(tmp_path)): b"{ broken = ["}


def test_bytes_that_are_no_text_are_refused(client, env):
    path = client.path(env)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(ConfigError, match="no UTF-8"):
        connect(client, URL, env)


def test_a_link_stays_one(client, env, tmp_path):
    real = tmp_path / "dotfiles"
    real.write_text(BEFORE[client.name])
    path = client.path(env)
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    connect(client, URL, env)
    assert path.is_symlink()
    assert client.bases(real.read_text()) == SET[client.name]
    undo(client, env)
    assert path.is_symlink()
    assert real.read_text() == BEFORE[client.name]


def test_a_backup_that_was_deleted_is_told_and_the_file_stays(env):
    claude = CLIENTS["claude"]
    path = written(claude, env, BEFORE["claude"])
    connect(claude, URL, env)
    path.with_name("settings.json.before-clew").unlink()
    now = path.read_bytes()
    with pytest.raises(InputError, match="before-clew is gone"):
        undo(claude, env)
    assert path.read_bytes() == now


def test_a_place_that_is_no_folder_is_told(env, tmp_path):
    (tmp_path / ".claude").write_text("a file")
    with pytest.raises(InputError, match="can't be read"):
        connect(CLIENTS["claude"], URL, env)
    assert (tmp_path / ".claude").read_text() == "a file"


def test_a_write_that_fails_leaves_the_old_file_whole(env, monkeypatch):
    claude = CLIENTS["claude"]
    path = written(claude, env, BEFORE["claude"])

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("clew.connect.files.os.fsync", full)
    with pytest.raises(InputError, match="disk full"):
        connect(claude, URL, env)
    assert tree(path.parent) == {"settings.json": BEFORE["claude"].encode()}
