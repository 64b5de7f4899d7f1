"""CI fails where the machine made a test impossible; a desk only says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import NO_BENCH, ROOT

CASES = """
import pytest
from tests.conftest import NO_BENCH

def test_that_runs():
    assert True

def test_that_does_not():
    pytest.skip({reason})
"""


@pytest.mark.parametrize(
    ("reason", "ci", "code"),
    [
        ("'left out: no Node here'", "true", 1),
        ("'left out: no Node here'", "", 0),
        ("NO_BENCH", "true", 0),
    ],
)
def test_what_was_left_out_decides(reason, ci, code, tmp_path):
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_sessionfinish\n")
    (tmp_path / "test_cases.py").write_text(CASES.format(reason=reason))
    env = {**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    done = subprocess.run(command, check=False, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout
    assert ("LEFT OUT Skipped: left out: no Node here" in done.stdout) == (reason != "NO_BENCH")
    assert NO_BENCH.startswith("left out")


def test_a_clone_without_the_bench_folder_passes(tmp_path):
    env = {**os.environ, "CI": "true", "CLEW_BENCH_DIR": str(tmp_path / "none")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/wire/test_files_bench.py"]
    done = subprocess.run(command, check=False, env=env, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    assert f"no bench sessions at {tmp_path / 'none'}" in done.stdout
    assert "LEFT OUT" not in done.stdout
