"""What is said of test runs and exit codes, against what the ledger saw."""

from __future__ import annotations

import pytest

from clew.handoff import template as t
from clew.handoff.outcomes import corrected
from clew.ledger.facts import Command, Ledger, TestRun
from tests.handoff.facts import LEDGER

TRUE = "5 passed, 1 failed (test_total)"


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        (t.STATE, "tests: 5 passed, 1 failed"),
        (t.STATE, "`pytest -q tests/test_cart.py`: 5/6 passed"),
        (t.STATE, "one of the tests still fails"),
        (t.STATE, "the tests are failing"),
        (t.ACTIONS, "4. TEST `pytest -q tests/test_cart.py` — 3 passed, 3 failed, exit 1 [tool: bash]"),
        (t.ACTIONS, "5. TEST `pytest -q tests/test_cart.py` — 1 failed [tool: bash]"),
        (t.ACTIONS, "6. RUN `git status --short` — exit 0 [tool: bash]"),
        (t.STATE, "not all tests pass"),
        (t.STATE, "12 uploads failed"),
        (t.GOAL, "make all the tests of the cart readable"),
    ],
)
def test_what_is_right_stays(heading: str, line: str):
    assert corrected(heading, line, LEDGER) == (line, [])


@pytest.mark.parametrize(
    ("heading", "line", "right"),
    [
        (t.STATE, "tests: 3 passed, 3 failed", f"tests: {TRUE}"),
        (t.STATE, "All tests pass.", f"{TRUE}."),
        (t.STATE, "The test suite is green now", f"{TRUE} now"),
        (t.STATE, "6/6 tests passed", TRUE),
        (t.STATE, "No tests are failing any more.", f"{TRUE} any more."),
        (t.STATE, "none of the tests fail", TRUE),
        (t.STATE, "6 passed and 0 failed", TRUE),
        (t.ACTIONS, "4. TEST `pytest -q tests/test_cart.py` — all passed [tool: bash]", f"4. TEST `pytest -q tests/test_cart.py` — {TRUE} [tool: bash]"),
        (t.ACTIONS, "4. TEST `pytest -q tests/test_cart.py` — exit 0 [tool: bash]", "4. TEST `pytest -q tests/test_cart.py` — exit 1 [tool: bash]"),
        (t.ACTIONS, "6. RUN `git status --short` — exit code 128", "6. RUN `git status --short` — exit 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_set_right(heading: str, line: str, right: str):
    text, wrong = corrected(heading, line, LEDGER)
    assert text == right
    assert len(wrong) == 1


def test_a_green_run_may_be_called_green():
    green = Ledger(tests=(TestRun("npm test", 1, 41, 0, ok=True),), commands=(Command("npm test", 1, exit_code=0),))
    line = "`npm test`: all tests pass"
    assert corrected(t.STATE, line, green) == (line, [])
    assert corrected(t.STATE, "`npm test`: 2 failed", green)[0] == "`npm test`: 41 passed, 0 failed"


def test_without_runs_nothing_is_known():
    assert corrected(t.STATE, "All tests pass, exit 0", Ledger()) == ("All tests pass, exit 0", [])
