"""What every test may use: the bench folder, where there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCH = Path(os.environ.get("CLEW_BENCH_DIR", ROOT.parent / "shared" / "bench"))


@pytest.fixture(scope="session")
def bench_dir() -> Path:
    """The folder of real sessions; a clone without it says so and passes."""
    if not (BENCH / "sessions").is_dir():
        pytest.skip(f"left out: no bench sessions at {BENCH} (set CLEW_BENCH_DIR)")
    return BENCH
