"""What users say by way of a tool's result."""

from __future__ import annotations

import pytest

from clew.ledger.heard import answers, declined, objection
from tests.ledger.script import WIRES, Talk

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
CANNED = REJECTED + "The user wants to clarify these questions.\n    Start by asking them.\n\n    Questions asked:\n"


def rejected(talk: Talk, words: str, command: str = "git push") -> Talk:
    return talk.call("Bash", {"command": command}, REJECTED + words, error=True)


@pytest.mark.parametrize("wire", WIRES)
def test_what_a_user_says_in_turning_a_call_down_is_a_request_and_may_bind(wire: str):
    talk = rejected(Talk(wire).user("Ship it."), "never push to main. what does the linter say?")
    ledger = talk.ledger()
    assert [(r.text, r.status) for r in ledger.requests] == [
        ("Ship it.", "open"),
        ("never push to main. what does the linter say?", "open"),
    ]
    assert [c.text for c in ledger.current_constraints] == ["never push to main."]
    assert [r.status for r in talk.agent("It is clean.").ledger().requests] == ["answered", "answered"]


def test_a_command_that_was_turned_down_did_not_run():
    ledger = rejected(Talk().user("Ship it."), "not yet").ledger()
    assert [(c.text, c.failed) for c in ledger.commands] == [("git push", True)]
    assert ledger.open_errors == ()


def test_stopping_by_turning_a_call_down_withdraws_what_is_open():
    assert [r.status for r in rejected(Talk().user("Ship it."), "never mind").ledger().requests] == ["withdrawn"]


def test_a_rejection_without_words_asks_nothing():
    plain = REJECTED.partition(" To tell you")[0]
    assert declined(plain)
    assert objection(plain) == objection(CANNED + '- "Which?"\n  (No answer provided)') == ""


def test_a_text_that_speaks_of_rejections_is_none():
    shown = "1\tdef f():\n2\t    # The user doesn't want to proceed, the user said:\n3\t    stop()"
    assert not declined(shown)
    assert objection(shown) == ""


def test_what_a_client_adds_below_is_not_the_users():
    assert objection(REJECTED + "use tabs\n\nNote: The user's next message may contain a correction.") == "use tabs"


def test_answers_to_the_agents_questions_are_decisions():
    said = 'User has answered your questions: "Which store?"="SQLite, not Redis", "Ready?"="what is left?". You can now continue with them.'
    talk = Talk().user("Plan it.").call("AskUserQuestion", {"questions": []}, said)
    assert [d.text for d in talk.ledger().decisions] == ['"Which store?"="SQLite, not Redis"']
    assert [
        a.said for a in answers(CANNED + '- "Which?"\n  Answer: the second\n- "When?"\n  (No answer provided)')
    ] == ["the second"]
    assert answers("User input: none") == []
