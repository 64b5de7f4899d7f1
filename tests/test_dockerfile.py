"""What the Dockerfile names is there: a build needs a daemon, which tests don't have."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from clew.config.loader import examine_text
from tests.conftest import ROOT

TEXT = (ROOT / "Dockerfile").read_text()


def test_what_it_copies_is_there_and_not_ignored():
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {word for line in re.findall(r"^COPY (.+)$", TEXT, re.MULTILINE) for word in line.split()[:-1]}
    assert copied
    assert copied <= let_in
    assert all((ROOT / name).exists() for name in copied)


def test_the_extra_and_the_settings_are_known():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(re.findall(r"\.\[(\w+)\]", TEXT)) <= set(project["optional-dependencies"])
    line = re.search(r"^ENV (.+)$", TEXT, re.MULTILINE)
    env = dict(pair.split("=") for pair in line[1].split())
    # A public address is refused without a token, which only who runs it can give.
    assert [p.key for p in examine_text(None, Path("config.yaml"), env).problems] == ["serve.host"]
    loaded = examine_text(None, Path("config.yaml"), {**env, "CLEW_SERVE__TOKEN": "${TOKEN}"})
    assert not loaded.problems
    assert f"EXPOSE {loaded.settings.serve.port}\n" in TEXT
    assert loaded.settings.serve.host == "0.0.0.0"
