"""What every test may use: the bench folder, where there is one. And what CI thinks of a test that was left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# On a desk each run tries other examples; in CI the same ones every time, so that what fails there failed for the change.
settings.register_profile("ci", derandomize=True, database=None)
if os.environ.get("CI", "").lower() in ("1", "true"):
    settings.load_profile("ci")

ROOT = Path(__file__).resolve().parents[1]
BENCH = Path(os.environ.get("CLEW_BENCH_DIR", ROOT.parent / "shared" / "bench"))
NO_BENCH = f"left out: no bench sessions at {BENCH} (set CLEW_BENCH_DIR)"


@pytest.fixture(scope="session")
def bench_dir() -> Path:
    """The folder of real sessions; a clone without it says so and passes."""
    if not (BENCH / "sessions").is_dir():
        pytest.skip(NO_BENCH)
    return BENCH


def bench_files(*patterns: str) -> list[object]:
    """The bench folder's files as parameters; without the folder one that is left out and says why."""
    found: list[object] = [p for pattern in patterns for p in sorted(BENCH.glob(pattern))]
    return found or [pytest.param(BENCH, marks=pytest.mark.skip(NO_BENCH))]


def left_out(reasons: list[str]) -> list[str]:
    """The reasons that lie in the machine: in CI they are failures. The bench folder may be missing anywhere."""
    return sorted({r for r in reasons if NO_BENCH not in r})


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A test that the machine makes impossible is skipped loudly on a desk and fails the run in CI."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or hasattr(session.config, "workerinput"):
        return
    reasons = left_out([str(r.longrepr[2]) for r in terminal.stats.get("skipped", ()) if isinstance(r.longrepr, tuple)])
    for reason in reasons:
        terminal.write_line(f"LEFT OUT {reason}", yellow=True)
    if reasons and os.environ.get("CI", "").lower() in ("1", "true"):
        terminal.write_line("CI does not pass with tests left out", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
