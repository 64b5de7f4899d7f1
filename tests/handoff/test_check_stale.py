"""What was replaced later is not shown as current."""

from __future__ import annotations

import pytest

from clew.handoff import template as t
from clew.handoff.stale import current
from clew.handoff.template import Sections
from clew.ledger.facts import Constraint, Ledger, Value

BUDGET = Ledger(
    constraints=(
        Constraint("Keep the monthly budget at $800.", 1, topic="budget", superseded_by=5),
        Constraint("The monthly budget is $500 now.", 5, topic="budget"),
    )
)


def said(heading: str, line: str, ledger: Ledger = BUDGET) -> str:
    found, _ = current(Sections({heading: line, t.GOAL: "x"}), ledger)
    return found[heading]


def test_the_old_rule_itself_goes():
    assert said(t.CONSTRAINTS, "- Keep the monthly budget at $800.") == ""


@pytest.mark.parametrize("heading", [t.TASK, t.STATE, t.CONTEXT, t.CONSTRAINTS, t.REMAINING])
def test_its_value_is_replaced_wherever_the_present_is_told(heading: str):
    assert said(heading, "- budget: $800 a month") == "- budget: $500 a month"


@pytest.mark.parametrize(
    "line",
    [
        "- the budget was $800, then $500",
        "- the budget went down to $500 from $800",
        "- budget $500 (earlier $800)",
        "- the lamp costs $800",
    ],
)
def test_history_told_as_history_stays(line: str):
    assert said(t.STATE, line) == line


def test_what_was_done_and_decided_stays():
    line = "3. SET budget $800 — saved [tool: config]"
    assert said(t.ACTIONS, line) == line


def test_a_chain_of_rules_ends_at_the_last():
    chain = Ledger(
        constraints=(
            Constraint("Use 4 workers for the import.", 1, topic="workers", superseded_by=3),
            Constraint("Use 8 workers for the import.", 3, topic="workers", superseded_by=7),
            Constraint("Use 2 workers for the import.", 7, topic="workers"),
        )
    )
    assert said(t.CONSTRAINTS, "- 4 workers for the import", chain) == "- 2 workers for the import"


def test_of_several_rules_in_one_message_the_one_it_is_about_counts():
    both = Ledger(
        constraints=(
            Constraint("Keep the monthly budget at $800.", 1, topic="budget", superseded_by=5),
            Constraint("Call the branch feature/42.", 5, topic="branch"),
            Constraint("The monthly budget is $500 now.", 5, topic="budget"),
        )
    )
    assert said(t.STATE, "- monthly budget: $800", both) == "- monthly budget: $500"


def test_a_rule_that_was_only_withdrawn_leaves_no_value():
    gone = Ledger(constraints=(Constraint("Keep the monthly budget at $800.", 1, topic="budget", superseded_by=99),))
    assert "$800" not in said(t.STATE, "- monthly budget: $800", gone)


def test_a_value_given_anew_is_told_beside_the_old_one():
    ledger = Ledger(values=(Value("8080", 1, "port", "port"), Value("9191", 4, "port", "port"), Value("7", 2)))
    found, changed = current(Sections({t.STATE: "- dev port 8080\n- test port 9191\n- 7 things"}), ledger)
    assert found[t.STATE] == "- dev port 8080 (later: 9191)\n- test port 9191\n- 7 things"
    assert changed == ["- dev port 8080"]


@pytest.mark.parametrize(
    "now", ["The budget is $500 now, not $800.", "The budget goes from $800 to $500.", "$500 instead of $800."]
)
def test_a_rule_that_names_the_old_value_to_deny_it_takes_its_place_all_the_same(now: str):
    ledger = Ledger(
        constraints=(
            Constraint("Keep the monthly budget at $800.", 1, topic="budget", superseded_by=5),
            Constraint(now, 5, topic="budget"),
        )
    )
    assert said(t.CONSTRAINTS, "- The budget is $800.", ledger) == "- The budget is $500."


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("Monthly budget: USD 800.", "Monthly budget: $500."),
        ("The monthly budget is 800 dollars", "The monthly budget is $500"),
        ("monthly budget = 800", "monthly budget = $500"),
        ("the budget report lists 800 rows of a month", "the budget report lists 800 rows of a month"),
        ("the monthly budget report is 800 lines long", "the monthly budget report is 800 lines long"),
    ],
)
def test_an_amount_is_replaced_however_it_is_spelled(line: str, right: str):
    assert said(t.STATE, line) == right
