"""The real clients' settings, without the clients: everything points at loopback and nothing of the user's goes in."""

from __future__ import annotations

import tomllib

import pytest

from clew.testing.clients import CLIENTS, CODEX, NoNode, Place
from clew.testing.clients.npm import folder


@pytest.fixture
def place(tmp_path):
    return Place.at(tmp_path, "http://127.0.0.1:1")


@pytest.mark.parametrize("client", CLIENTS, ids=lambda c: c.name)
def test_without_node_it_says_so(client, place, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoNode, match="not installed"):
        client.run("errand:alpha", place)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda c: c.name)
def test_what_is_configured_names_loopback_only(client, place):
    env = dict(client.configure(place))
    written = [p.read_text() for p in place.home.rglob("*") if p.is_file()]
    assert any("http://127.0.0.1:1" in text for text in [*env.values(), *written])
    assert not any("https://" in text for text in [*env.values(), *written])
    assert client.arguments("go", True)[-1] == client.arguments("go", False)[-1] == "go"
    assert client.arguments("go", True) != client.arguments("go", False)


def test_a_small_window_is_told_to_those_that_take_one(place):
    small = Place(place.home, place.work, place.url, window=9000)
    CODEX.configure(small)
    assert tomllib.loads((place.home / ".codex" / "config.toml").read_text())["model_auto_compact_token_limit"] == 9000


def test_a_place_has_values_and_a_repository(place, tmp_path):
    assert place.value("alpha") != place.value("beta")
    assert (place.work / ".git").is_dir()
    again = Place.at(tmp_path, "http://127.0.0.1:2")
    assert again.value("alpha") == place.value("alpha")


def test_where_clients_are_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEW_CLIENTS_DIR", str(tmp_path / "x"))
    assert folder() == tmp_path / "x"
    monkeypatch.delenv("CLEW_CLIENTS_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder() == tmp_path / "clew" / "clients"
