"""Every example of the docs runs: Python blocks as they stand, commands on a session made here."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from clew.record import read, write
from clew.testing.session import generate
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language):
    for page in PAGES:
        for n, found in enumerate(BLOCK.finditer(page.read_text())):
            if found[1] == language:
                yield pytest.param(found[2], id=f"{page.relative_to(ROOT)}:{n}")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a session file and a store that holds it."""
    session = generate(1, turns=20)
    for name in ("session.json", "short.json"):
        (tmp_path / name).write_text(json.dumps({"messages": session.messages}))
    (tmp_path / "my-settings.yaml").write_text("compression:\n  threshold: 0.6\n")
    (tmp_path / "clew-traffic").mkdir()
    write(
        tmp_path / "clew-traffic" / "20260318-101502.jsonl", read(ROOT / "tests" / "data" / "traffic" / "pi.jsonl.zst")
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize("code", list(blocks("python")))
def test_python_examples_run(code, place):
    exec(compile(code, "example", "exec"), {"__name__": "example"})
    assert place.is_dir()


def commands():
    for page in PAGES:
        for found in BLOCK.finditer(page.read_text()):
            if found[1] == "console":
                for line in found[2].splitlines():
                    if line.startswith("$ clew "):
                        yield line[2:].split("  #")[0].strip()


def run(args, place):
    env = {**os.environ, "HOME": str(place), "CLEW_HOME": str(place / "home"), "NO_COLOR": "1"}
    env.pop("CLAUDE_CONFIG_DIR", None)
    clew = Path(sys.executable).with_name("clew")
    return subprocess.run([clew, *args], check=False, capture_output=True, text=True, env=env, cwd=place, timeout=120)


# What a page calls FILE or REF, and what stands for it here.
STAND_INS = {
    "FILE": "session.json", "FILE…": "session.json", "FOLDER": ".", "OUT": "out.json", "QUERY": "migrations", "N": "30",
    "REF": "clew:aaaaaaaaaaaa", "clew:…": "clew:aaaaaaaaaaaa",
}  # fmt: skip
LASTING = {"record", "serve", "run"}  # these go on until they are stopped: their options are read, no more


@pytest.mark.parametrize("command", sorted(set(commands())))
def test_commands_run(command, place):
    run(["sessions", "import", "session.json"], place)
    if "--undo" in command:  # there is something to take back
        run(shlex.split(command.replace("--undo", ""))[1:], place)
    args = [STAND_INS.get(a, a) for a in shlex.split(command)[1:]]
    if args[0] in LASTING or any(a.isupper() or "…" in a for a in args):
        # what has no stand-in is looked up instead: the command and its options exist
        shown = run([*args[: 2 if args[0] in ("sessions", "store", "config") else 1], "--help"], place)
        assert shown.returncode == 0, shown.stderr
        for option in (a for a in args if a.startswith("--")):
            assert option.split("=")[0] in shown.stdout
        return
    done = run(args, place)
    known = {"recall": {0, 3}, "replay": {0, 1}, "validate": {0, 1}, "search": {0, 1, 4}}.get(args[0], {0})
    assert done.returncode in known, f"{command}: {done.stderr}"
    assert "Traceback" not in done.stderr


LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert [to for to in LINK.findall(page.read_text()) if not (page.parent / to).exists()] == []
