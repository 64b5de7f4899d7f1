"""What is particular to one client: where its file is, what goes past it, and how one process is pointed at Clew."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from clew.connect import CLIENTS, other
from clew.connect.jsontext import read
from clew.errors import ConfigError

URL = "http://127.0.0.1:48800"
CLAUDE, CODEX, OPENCODE, PI = (CLIENTS[n] for n in ("claude", "codex", "opencode", "pi"))


@pytest.mark.parametrize(
    ("name", "env", "path"),
    [
        ("claude", {"HOME": "/h"}, "/h/.claude/settings.json"),
        ("claude", {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, "/c/settings.json"),
        ("codex", {"HOME": "/h"}, "/h/.codex/config.toml"),
        ("codex", {"HOME": "/h", "CODEX_HOME": "/c"}, "/c/config.toml"),
        ("opencode", {"HOME": "/h"}, "/h/.config/opencode/opencode.json"),
        ("opencode", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/opencode/opencode.json"),
        ("opencode", {"HOME": "/h", "OPENCODE_CONFIG": "/o.json"}, "/o.json"),
        ("pi", {"HOME": "/h"}, "/h/.pi/agent/models.json"),
        ("pi", {"HOME": "/h", "PI_CODING_AGENT_DIR": "/p"}, "/p/models.json"),
    ],
)
def test_where_the_settings_are(name, env, path):
    assert CLIENTS[name].path(env) == Path(path)


def test_opencodes_commented_file_is_used_where_there_is_one(tmp_path):
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").touch()
    assert OPENCODE.path({"HOME": str(tmp_path)}).name == "opencode.jsonc"


# --- Codex


def codex(tmp_path, text="", **env):
    return tomllib.loads(CODEX.connected(text, URL, {"CODEX_HOME": str(tmp_path), **env}))


def test_codex_uses_its_own_login_or_the_variable_and_never_a_websocket(tmp_path):
    provider = codex(tmp_path, OPENAI_API_KEY="x")["model_providers"]["clew"]
    assert provider == {
        "name": "Clew", "base_url": f"{URL}/v1", "wire_api": "responses", "supports_websockets": False, "env_key": "OPENAI_API_KEY",
    }  # fmt: skip
    (tmp_path / "auth.json").write_text('{"OPENAI_API_KEY": "x", "tokens": null}')
    assert codex(tmp_path, OPENAI_API_KEY="x")["model_providers"]["clew"]["requires_openai_auth"] is True
    (tmp_path / "auth.json").write_text('{"OPENAI_API_KEY": null, "tokens": {"access_token": "y"}}')
    chatgpt = codex(tmp_path)["model_providers"]["clew"]
    assert (chatgpt["base_url"], chatgpt["requires_openai_auth"]) == (f"{URL}/chatgpt", True)


def test_codexs_other_providers_are_not_taken_over(tmp_path):
    with pytest.raises(ConfigError, match="'azure'") as e:
        codex(
            tmp_path, 'model_provider = "azure"\n[model_providers.azure]\nname="A"\nbase_url="https://a.example.com"\n'
        )
    assert f"{URL}/azure" in e.value.hint


@pytest.mark.parametrize(
    "text",
    [
        'model_provider = "openai" # comment\n',
        "'model_provider'='openai'\nx=1\n",
        'note = """\nmodel_provider = "no"\n[fake]\n"""\n[t]\nmodel_provider = "inner"\n',
        "[a]\nb=1",
        '[model_providers.clew]\nname = "old"\nbase_url = "http://old"\n\n[z]\ny = 2\n',
        'model_providers.local = {name = "L", base_url = "http://l"}\n',
        "x = '''\n[model_providers.clew]\n'''\r\n",
    ],
)  # fmt: skip
def test_codexs_file_in_many_spellings(tmp_path, text):
    was, now = tomllib.loads(text), codex(tmp_path, text)
    assert now.pop("model_provider") == "clew"
    assert now["model_providers"].pop("clew")["base_url"] == f"{URL}/v1"
    was.pop("model_provider", None)
    was.get("model_providers", {}).pop("clew", None)
    assert {k: v for k, v in now.items() if v != {}} == {k: v for k, v in was.items() if v != {}}


def test_a_spelling_that_cannot_be_edited_is_refused_rather_than_broken(tmp_path):
    with pytest.raises(ConfigError, match="can't edit"):
        codex(tmp_path, 'model_providers = {local = {name = "L"}}\n')


def test_a_profile_that_goes_over_the_setting_is_named():
    text = 'profile = "work"\n[profiles.work]\nmodel_provider = "azure"\n'
    assert "'work'" in CODEX.notes(text)[0]
    assert CODEX.notes('profile = "work"\n[profiles.work]\nmodel = "x"\n') == ()


# --- notes


def test_what_goes_past_the_setting_is_named():
    assert "CLAUDE_CODE_USE_BEDROCK" in CLAUDE.notes('{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}')[0]
    assert CLAUDE.notes("{}") == ()
    note = OPENCODE.notes('{"provider": {"mine": {"options": {"baseURL": "https://m.example.com"}}, "openai": {}}}')
    assert len(note) == 1
    assert "'mine'" in note[0]


# --- one process


def test_claude_by_its_variable_and_where_its_settings_would_win_by_its_option(tmp_path):
    plain = CLAUDE.once(["claude", "-p", "hi"], URL, {}, "", tmp_path)
    assert (plain.arguments, plain.environment) == (("claude", "-p", "hi"), {"ANTHROPIC_BASE_URL": URL})
    held = CLAUDE.once(["claude", "-p", "hi"], URL, {}, '{"env": {"ANTHROPIC_BASE_URL": "https://other"}}', tmp_path)
    assert held.arguments[1] == "--settings"
    assert json.loads(held.arguments[2]) == {"env": {"ANTHROPIC_BASE_URL": URL}}
    assert held.arguments[3:] == ("-p", "hi")


def test_codex_by_options_that_are_toml(tmp_path):
    once = CODEX.once(["codex", "exec", "hi"], URL, {"CODEX_HOME": str(tmp_path)}, "", tmp_path)
    assert once.arguments[-2:] == ("exec", "hi")
    said = tomllib.loads("\n".join(once.arguments[2:-2:2]))
    assert said["model_provider"] == "clew"
    assert said["model_providers"]["clew"]["supports_websockets"] is False


def test_opencode_by_its_variable_with_what_the_user_has_in_it(tmp_path):
    once = OPENCODE.once(["opencode"], URL, {"OPENCODE_CONFIG_CONTENT": '{"model": "x"}'}, "", tmp_path)
    content = read(once.environment["OPENCODE_CONFIG_CONTENT"])
    assert content["model"] == "x"
    assert content["provider"]["anthropic"]["options"]["baseURL"] == f"{URL}/v1"


def test_pi_by_an_extension(tmp_path):
    once = PI.once(["pi", "-p", "hi"], URL, {}, "", tmp_path)
    [(file, source)] = once.files.items()
    assert once.arguments == ("pi", "-e", file, "-p", "hi")
    assert f'pi.registerProvider("anthropic", {{ baseUrl: "{URL}" }});' in source


def test_any_other_program_by_the_sdks_variables():
    assert other(["python", "agent.py"], URL).environment == {"ANTHROPIC_BASE_URL": URL, "OPENAI_BASE_URL": f"{URL}/v1"}
