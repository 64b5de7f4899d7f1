"""Review rules as checks: the direction of imports, the public names, what `import clew` loads, what the code may hold."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SRC = ROOT / "src" / "clew"

# DESIGN's house, top to bottom: a file imports only from those above it.
ORDER = [
    "errors", "jsonio", "config", "catalog", "transcript", "wire", "tokens", "economics", "redact",
    "store", "lineage", "recall", "ledger", "strategies", "boundaries", "handoff", "assemble", "engine", "engines",
    "summarise", "memory", "context", "caching", "analytics", "control", "inspect", "replay", "report", "testing",
    "record", "page", "gateway", "connect", "service", "doctor", "agent", "integrations", "demo", "cli",
]  # fmt: skip


def room(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "clew":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {a.name for a in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("clew.")}
    return found


FILES = sorted(p for p in SRC.rglob("*.py") if p != SRC / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_a_file_imports_only_from_the_files_above_it(path: Path):
    own = room(path)
    assert own in ORDER, f"{own} has no place in the house: add it to ORDER and DESIGN"
    below = {r for r in imported_rooms(path) if r in ORDER and ORDER.index(r) > ORDER.index(own)}
    unknown = {r for r in imported_rooms(path) if r not in ORDER and r != "__version__"}
    assert not below, f"{path.name} imports from below: {sorted(below)}"
    assert not unknown, f"{path.name} imports rooms the house doesn't have: {sorted(unknown)}"


def test_importing_clew_loads_nothing_heavy():
    heavy = {
        "tiktoken", "yaml", "rich", "typer", "aiohttp", "starlette", "uvicorn", "hyperscan", "zstandard", "sqlite3",
        "asyncio", "requests", "regex", "http.client", "ssl", "hypothesis", "pytest",
    }  # fmt: skip
    code = "import sys; before = set(sys.modules); import clew; print('\\n'.join(sorted(set(sys.modules) - before)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not heavy & set(out.stdout.split())


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_files_keep_to_their_size(path: Path):
    assert path.read_text().count("\n") <= 600
