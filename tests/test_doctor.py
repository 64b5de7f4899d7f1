"""Each thing that can be wrong is found, and said with what to do."""

from __future__ import annotations

import pytest

from clew import __version__
from clew.config import from_mapping
from clew.connect import CLIENTS, connect
from clew.connect.reach import Reached
from clew.doctor import Probes, connects, findings, gateway_url
from clew.store.url import open_store
from tests.connect.gateways import listening

URL = "http://127.0.0.1:48800"
CLEW = Reached("clew", __version__)


@pytest.fixture
def env(tmp_path):
    return {"HOME": str(tmp_path), "CLEW_HOME": str(tmp_path / "clew")}


def look(env, *, there=CLEW, why="", installed=(), versions="1.0"):
    probes = Probes(
        lambda _: there, lambda _: why, lambda p: f"/bin/{p}" if p in installed else None, lambda _: versions
    )
    return list(findings(env, probes))


def of(found, area):
    return [f for f in found if f.area == area]


def config(env, text):
    folder = env["CLEW_HOME"]
    from pathlib import Path

    Path(folder).mkdir(exist_ok=True)
    (Path(folder) / "config.yaml").write_text(text)


def test_a_sound_installation_has_no_problem(env):
    found = look(env, installed=["claude"])
    assert [f.area for f in found] == ["versions", "settings", "gateway", "client claude", "store", "upstreams"]
    assert all(f.level == "ok" and not f.do for f in found)


def test_missing_packages(env):
    [_, problem] = of(look(env, versions=""), "versions")
    assert (problem.level, problem.do) == ("problem", "pip install 'clew[gateway]'")


def test_settings_that_cannot_be_read_and_wrong_ones(env):
    config(env, "serve: [")
    assert [f.area for f in look(env)] == ["versions", "settings"]
    config(env, "serve: {prot: 1}\n")
    problem = next(f for f in look(env) if f.level == "problem")
    assert "serve.prot" in problem.says
    assert problem.do == "clew config validate"


@pytest.mark.parametrize(
    ("there", "level", "says"),
    [
        (Reached("nothing"), "note", f"nothing answers at {URL}"),
        (Reached("other"), "problem", f"something else answers at {URL}"),
        (Reached("clew", "0.0.1"), "note", f"is Clew 0.0.1, this is {__version__}"),
        (CLEW, "ok", f"Clew answers at {URL}"),
    ],
)
def test_who_answers(env, there, level, says):
    [finding] = of(look(env, there=there), "gateway")
    assert finding.level == level
    assert says in finding.says
    assert bool(finding.do) == (level != "ok")


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_a_connected_client_without_a_gateway(env, name):
    connect(CLIENTS[name], URL, env)
    [finding] = of(look(env, there=Reached("nothing")), f"client {name}")
    assert finding.level == "problem"
    assert f"clew connect {name} --undo" in finding.do
    [fine] = of(look(env), f"client {name}")
    assert fine.level == "ok"


def test_a_client_connected_to_another_port_of_this_machine(env):
    connect(CLIENTS["claude"], "http://localhost:1", env)
    [finding] = of(look(env), "client claude")
    assert finding.level == "note"
    assert "http://localhost:1" in finding.says


def test_localhost_is_this_machine(env):
    connect(CLIENTS["claude"], "http://localhost:48800", env)
    [finding] = of(look(env), "client claude")
    assert finding.level == "ok"


def test_settings_of_a_client_that_are_broken(env, tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text("{")
    [finding] = of(look(env), "client claude")
    assert finding.level == "problem"
    assert "settings.json" in finding.says


def test_what_goes_past_a_clients_setting(env, tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"env": {"CLAUDE_CODE_USE_VERTEX": "1"}}')
    [finding] = of(look(env), "client claude")
    assert "CLAUDE_CODE_USE_VERTEX" in finding.says


def test_the_store_that_is_there_and_one_that_is_broken(env, tmp_path):
    path = tmp_path / "clew" / "clew.db"
    path.parent.mkdir()
    store = open_store(f"sqlite:///{path}")
    store.sessions(limit=1)
    store.close()
    assert "it holds nothing yet" in of(look(env), "store")[0].says
    path.write_bytes(b"no database at all, but long enough to be read as one" * 100)
    [finding] = of(look(env), "store")
    assert finding.level == "problem"
    assert finding.do


def test_upstreams_are_tried_and_no_credential_is_shown(env):
    config(env, "serve: {upstreams: {mine: 'https://user:secret@llm.example.com/v1'}}\n")
    [down] = of(look(env, why="refused"), "upstreams")
    assert (down.level, down.says) == ("problem", "mine (https://llm.example.com) can't be reached: refused")
    assert of(look(env), "upstreams")[0].level == "ok"


def test_where_clients_find_the_gateway():
    def url(**serve):
        return gateway_url(from_mapping({"serve": {"token": "${T}", **serve}}).settings)

    assert url() == "http://127.0.0.1:48800"
    assert url(host="0.0.0.0", port=9) == "http://127.0.0.1:9"
    assert url(host="::1", port=9) == "http://[::1]:9"
    assert url(host="gpu.example.com") == "http://gpu.example.com:48800"


def test_a_connection_is_made_and_nothing_is_sent():
    with listening(b"") as base:
        assert connects(base) == ""
    assert connects(base)
    assert connects("http://[") != ""
