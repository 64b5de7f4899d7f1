"""From a URL to a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.errors import ConfigError
from clew.store import NewSession, open_store


def test_urls_and_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert open_store("sqlite:///rel.sqlite").path == tmp_path / "rel.sqlite"
    assert open_store("sqlite:////abs/x.sqlite").path == Path("/abs/x.sqlite")
    assert open_store("odd ?#name.sqlite").path == tmp_path / "odd ?#name.sqlite"
    assert open_store("sqlite:///with%20space.sqlite").path == tmp_path / "with space.sqlite"
    assert open_store("~/x.sqlite").path == Path.home() / "x.sqlite"
    assert open_store("sqlite:///x.sqlite?synchronous=full")._settings.full
    assert open_store("x.sqlite", tenant="t").path == tmp_path / "x@t.sqlite"
    odd = open_store("odd ?#name%41.sqlite")
    odd.create(NewSession("s"))
    assert (tmp_path / "odd ?#name%41.sqlite").exists()


def test_memory_stores_of_one_name_are_one():
    one, two, other = open_store("memory://a"), open_store("memory://a"), open_store("memory://")
    one.create(NewSession("s"))
    assert two.sessions()
    assert not other.sessions()
    assert one.url == "memory://a"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://x",
        "sqlite://",
        "sqlite:///",
        "sqlite://host/x",
        "sqlite:///x?mode=ro",
        "sqlite:///x?synchronous=off",
        "sqlite:///x?.sqlite",
    ],
)
def test_what_is_not_understood_is_said(url):
    with pytest.raises(ConfigError):
        open_store(url)


@pytest.mark.parametrize(
    "name", ["plain.sqlite", "with space", "what?.sqlite", "50%25.sqlite", "a#b.sqlite", "ü.sqlite", "a&b=c"]
)
def test_a_stores_url_opens_the_same_store(tmp_path, name):
    store = open_store(str(tmp_path / name), synchronous="full")
    store.create(NewSession("s"))
    again = open_store(store.url)
    assert again.session("s").id == "s"
    assert (again.url, again.path) == (store.url, store.path)
    assert store.url.endswith("?synchronous=full")
