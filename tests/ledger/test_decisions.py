from __future__ import annotations

import pytest

from tests.ledger.script import Talk


@pytest.mark.parametrize(
    "sentence",
    [
        "I'll use SQLite because it needs no server.",
        "We decided to keep the old format.",
        "I'm going with the first approach.",
        "The root cause is a stale cache entry.",
        "The fix is to close the file before renaming it.",
        "The test failed because the default branch is master.",
        "I see the issue - the loop never ends.",
        "I'll add the check to `setup()` to match the other path.",
        "I'd suggest moving it, since one place is enough.",
        "The best approach is to split the module.",
        "I'm keeping the flag so that old scripts work.",
        "Ich habe mich für SQLite entschieden.",
        "根本原因是缓存过期。",
    ],
)
def test_choices_and_causes_are_decisions(sentence: str):
    assert [d.text for d in Talk().agent(f"Right then.\n\n{sentence}").ledger().decisions] == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Let me check the tests.",
        "I'll run the linter now.",
        "Should I use SQLite?",
        "We could use SQLite for this.",
        "Option A: use SQLite because it is small.",
        "I won't use SQLite because it locks.",
        "If we use SQLite, the fix is to lock it.",
        "Maybe the root cause is the cache.",
        "I see the issue.",
        "I'll add a debug print in `run`.",
        "My recommendation:",
        "```\n# I'll use SQLite because it is small\n```",
        "Would you like me to go with SQLite?",
    ],
)
def test_narration_questions_and_options_turned_down_are_not(sentence: str):
    assert Talk().agent(sentence).ledger().decisions == ()


def test_the_reason_stands_beside_it():
    (decision,) = Talk().agent("I'll use SQLite because it needs no server.").ledger().decisions
    assert decision.reason == "it needs no server."


@pytest.mark.parametrize(
    "turn",
    [
        "ok, let's do the second one then",
        "yes, go ahead with the downgrade",
        "go with option 2",
        "do 1",
        "I'd rather keep both files",
        "yes do both",
    ],
)
def test_a_users_choice_is_one(turn: str):
    assert [d.text for d in Talk().user("Which?").agent("Two ways.").user(turn).ledger().decisions] == (
        [turn] if len(turn) >= 8 else []
    )


def test_each_is_kept_once():
    talk = Talk().agent("The root cause is a stale cache.").agent("The root cause is a stale cache.")
    assert len(talk.ledger().decisions) == 1
