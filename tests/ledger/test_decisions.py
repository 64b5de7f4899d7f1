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
        "I won't use SQLite because it locks.",
        "I think option 2 is the cleanest here.",
        "**Best approach**: Split the module in two",
        "The type errors are only in the test files.",
        "The loader passes no path, so the parser returns early.",
        "It didn't rebuild because nothing had changed.",
        "Let me move the prompt next door for consistency.",
        "The helper now takes a path instead of a name.",
        "Fixed by anchoring the pattern at the start.",
        "I'll add the check to `setup.py`.",
        "The title is being parsed as a heading.",
        "There's actually a bug in the validator.",
        "The module stays as a thin wrapper.",
        "Old comments were deliberately kept.",
        "I would block the release at this commit.",
        "What broke is the sandbox, not your login.",
        "If the spike fails by noon, I'll fall back to a warning.",
        "I'm invoking the binary by path explicitly to bypass the broken wrapper.",
        "I've kept the old endpoint, since mobile clients still call it.",
        "Keeping the old format; it goes with the next release.",
        "Moved to a token so it follows the theme.",
        "The run exposed a real protocol bug: every exec repeats its greeting.",
        "I realized the warning came too late: a failed lookup hides it.",
        "The package is not directly buildable: it leaves the parser out.",
        "The reason it doesn't fail here is in your config.",
        "Adding a return makes the flow clear to the linter.",
        "The error comes from the second hook.",
        "Dry-run by default is safer for a migration.",
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
        "If we use SQLite, the fix is to lock it.",
        "Maybe the root cause is the cache.",
        "I see the issue.",
        "Now I'll add a function for the levels.",
        "I'll use `sed` to replace the line.",
        "If that comes back clean, I'll commit it.",
        "I won’t commit.",
        "Now run the tests, since nothing compiles without them.",
        "Since the field is missing, it should fail here.",
        "You can see it rather than guess it.",
        "I'll add a debug print in `run`.",
        "My recommendation:",
        "```\n# I'll use SQLite because it is small\n```",
        "Would you like me to go with SQLite?",
    ],
)
def test_narration_questions_and_options_turned_down_are_not(sentence: str):
    assert Talk().agent(sentence).ledger().decisions == ()


def test_what_stands_under_a_heading_of_decisions_is_one():
    text = "Done.\n\n**Key design decisions:**\n- One table per tenant\n- Tests are **tolerant** of a slow disk\n\nThe rest is in place here."
    assert [d.text for d in Talk().agent(text).ledger().decisions] == [
        "One table per tenant",
        "Tests are **tolerant** of a slow disk",
    ]


def test_what_is_derived_while_thinking_aloud_is_no_finding_yet():
    derived = "The name is never set, so the lookup fails."
    musing = f"Wait.\nMaybe it is the cache.\nIf so, it is stale.\n{derived}"
    assert Talk().agent(musing).ledger().decisions == ()
    assert [d.text for d in Talk().agent(derived).ledger().decisions] == [derived]


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
        "I don't think more tests are the solution here.",
        "I want the rule to live in one file, not in a skill.",
        "let's turn this into a list",
        "they can click, so we dont need to show the map",
        "I'm fine doing a full rewrite in a branch",
    ],
)
def test_a_users_choice_is_one(turn: str):
    assert [d.text for d in Talk().user("Which?").agent("Two ways.").user(turn).ledger().decisions] == (
        [turn] if len(turn) >= 8 else []
    )


@pytest.mark.parametrize(
    "turn", ["ok, let's go", "lets push these changes", "let's see what it says", "continue please"]
)
def test_a_users_nod_is_none(turn: str):
    assert Talk().user("Which?").agent("Two ways.").user(turn).ledger().decisions == ()


def test_each_is_kept_once():
    talk = Talk().agent("The root cause is a stale cache.").agent("The root cause is a stale cache.")
    assert len(talk.ledger().decisions) == 1


def test_after_a_bare_announcement_the_next_sentence_is_what_was_found():
    said = "I see the issue!\n\nThe component pads nothing to its width. Let me look at the other one."
    assert [d.text for d in Talk().agent(said).ledger().decisions] == ["The component pads nothing to its width."]
    asked = Talk().agent("Found it.\n\nIs that the file you meant?")
    assert asked.ledger().decisions == ()
