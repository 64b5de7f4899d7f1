"""Rules for different things stand side by side; a later one for the same thing, or for all, replaces the earlier."""

from __future__ import annotations

import pytest

from clew import Context
from clew.ledger.scope import apart, scope


def standing(*said):
    ctx = Context(100_000, config={}, clock=lambda: 0.0)
    for text in said:
        ctx.extend([{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}])
    return [c.text for c in ctx.ledger.current_constraints]


SIDE_BY_SIDE = [
    ("The auth service must listen on port 8001.", "The billing service must listen on port 8002."),
    ("Keep the frontend budget under $800.", "Keep the backend budget under $500."),
    ("Use tabs in Makefiles.", "Use 4 spaces in Python."),
    ("Keep the retries of worker_1 at 3.", "Keep the retries of worker_2 at 5."),
    ("Always use postgres for orders.", "Always use sqlite for tests."),
    ("The API client timeout must be 30 s.", "The database pool timeout must be 5 s."),
]
REPLACED = [
    ("Keep the budget at $800.", "The budget is $500 now."),
    ("The budget for the trip must stay under $800.", "The total budget must stay under $500."),
    ("The budget for geocoding is at most $800 a month.", "About the geocoding budget: make it $500."),
    ("Use postgres for orders.", "Actually, use sqlite for storage."),
    ("Use tabs for indentation.", "Use spaces for indentation."),
    ("Write the docs in English.", "Write the docs in German."),
]


@pytest.mark.parametrize("said", SIDE_BY_SIDE)
def test_rules_for_different_things_both_hold(said):
    assert standing(*said) == list(said)


@pytest.mark.parametrize("said", REPLACED)
def test_a_later_rule_for_the_same_or_for_everything_replaces(said):
    assert standing(*said) == [said[1]]


def test_what_says_nothing_of_its_scope_is_apart_from_nothing():
    assert scope("The total budget is $500 this month.") == frozenset()
    assert not apart("The budget is $500.", "The trip budget is $800.")
