"""`clew config`: what it prints and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from clew.cli.config import app
from clew.errors import ConfigError

SECRET = "sk-or-v1-0123456789abcdef0123456789abcdef"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    monkeypatch.delenv("CLEW_CONFIG", raising=False)
    return tmp_path


def run(*args: str):
    return CliRunner().invoke(app, args)


def test_path(home):
    assert run("path").stdout == f"{home}/config.yaml\n"


def test_show_says_where_each_value_comes_from(home, monkeypatch):
    (home / "config.yaml").write_text("compression:\n  threshold: 0.6\nmodel: {cache_ttl: 1h}\n")
    monkeypatch.setenv("CLEW_SERVE__PORT", "99")
    out = run("show", "--changed")
    assert [line.split() for line in out.stdout.splitlines()] == [
        ["compression.threshold", "0.6", "#", f"{home}/config.yaml:2"],
        ["prompt_caching.cache_ttl", "1h", "#", f"{home}/config.yaml:3"],
        ["serve.port", "99", "#", "environment", "variable", "CLEW_SERVE__PORT"],
    ]
    assert "note: " in out.stderr
    assert "model.cache_ttl: is deprecated" in out.stderr
    assert "compression.target_ratio" in run("show").stdout
    told = json.loads(run("show", "--json").stdout)
    assert told["settings"]["compression"]["threshold"] == 0.6
    assert told["origins"]["serve.port"] == "environment variable CLEW_SERVE__PORT"
    assert told["source"] == f"{home}/config.yaml"
    assert told["notes"][0]["key"] == "model.cache_ttl"


def test_get(home):
    assert run("get", "compression.threshold").stdout == "0.5\n"
    assert run("get", "auxiliary.compression.model").stdout == "\n"
    assert json.loads(run("get", "silent.manual_mode").stdout) == {"enabled": False, "automatic_strategies": True}
    assert json.loads(run("get", "serve.port", "--json").stdout) == {
        "key": "serve.port",
        "value": 48800,
        "origin": "default",
    }
    assert json.loads(run("get", "compression.summary_model", "--json").stdout)["key"] == "auxiliary.compression.model"
    with pytest.raises(ConfigError, match=r"did you mean compression\.threshold"):
        CliRunner().invoke(app, ["get", "compression.treshold"], catch_exceptions=False)


def test_set_then_get(home):
    assert "compression.threshold = 0.6" in run("set", "compression.threshold", "0.6").stdout
    assert run("get", "compression.threshold").stdout == "0.6\n"
    out = run("set", "serve.token", "${MY_TOKEN}")
    assert out.exit_code == 0
    assert run("get", "serve.token").stdout == "${MY_TOKEN}\n"


def test_no_command_prints_a_credential(home, monkeypatch):
    (home / "config.yaml").write_text(
        f"model: {{api_key: {SECRET}}}\nstore: {{url: 'postgres://u:{SECRET}@h/d'}}\nserve: {{port: {SECRET}}}\n"
    )
    monkeypatch.setenv("CLEW_AUXILIARY__COMPRESSION__API_KEY", SECRET)
    bad = [run("validate"), run("validate", "--json"), run("set", "serve.token", SECRET), run("set", "serve.port", "1")]
    good = [
        run("show"),
        run("show", "--json"),
        run("get", "model"),
        run("get", "model.api_key"),
        run("get", "store.url", "--json"),
    ]
    for result in bad + good:
        assert SECRET not in result.output + str(result.exception)
    assert [r.exit_code for r in good] == [0] * len(good)
    assert run("get", "model.api_key").stdout == "********\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [("compression: {threshold: 0.6}\n", 0), ("other: {}\ncompresion: {}\n", 0), ("compression: {x: 1}\n", 1), ("a: [\n", 2), ("- 1\n", 2), (None, 2)],
)  # fmt: skip
def test_validate_ends_as_documented(home, text, code):
    path = home / "some.yaml"
    if text is not None:
        path.write_text(text)
    told = run("validate", str(path), "--json")
    assert told.exit_code == code
    report = json.loads(told.stdout)
    assert (report["readable"], bool(report["problems"])) == (code < 2, code > 0)
    done = subprocess.run(
        [sys.executable, "-c", "from clew.cli.main import main; main()", "config", "validate", str(path)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_validate_lists_problems_with_file_line_and_nearest_key(home):
    (home / "config.yaml").write_text("compression:\n  treshold: 0.4\n")
    out = run("validate")
    assert out.stdout.splitlines() == [
        f"{home}/config.yaml:2: compression.treshold: no such key; did you mean compression.threshold?",
        f"{home}/config.yaml: 1 problem",
    ]
    (home / "config.yaml").unlink()
    assert run("validate").stdout == "no file, defaults: no problems\n"
