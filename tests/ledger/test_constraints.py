from __future__ import annotations

import pytest

from clew.ledger.facts import Constraint
from tests.ledger.script import Talk


def constraints(*turns: str) -> tuple[Constraint, ...]:
    talk = Talk()
    for turn in turns:
        talk.user(turn).agent("All right.")
    return talk.ledger().constraints


def current(*turns: str) -> list[str]:
    return [c.text for c in constraints(*turns) if c.current]


@pytest.mark.parametrize(
    "sentence",
    [
        "You must not touch the migrations.",
        "Never commit to main.",
        "Always run the linter first.",
        "Don't change the public API.",
        "Please don't add dependencies.",
        "Use pathlib, not os.path.",
        "Only edit files under src.",
        "Keep the diff below 200 lines.",
        "The budget is $800.",
        "The deadline is Friday.",
        "Make sure it works on Windows.",
        "Fix it without changing the tests.",
        "I don't want any new files.",
        "no console logs!",
        "invalid input must NEVER crash it",
        "it needs to be the terminal for all screenshots",
        "I prefer short functions.",
        "omfg use fucking plain text, it is a log",
        "I'd expect every row to have a name.",
        "put it in the examples folder so that I can run it.",
        "we just want to say that it works",
        "and give me the options first?",
        "well, i think it should be two colors?",
        "please make the colors different enough",
        "Concrete findings only.",
        "Done when: the list is empty and the index is searchable.",
        "Where a route has no handler, keep the node but mark it.",
        "Write your progress into docs/progress.md.",
        "Only stop if you have a question.",
        "Make the benchmark repeatable, so we can compare.",
        "10 repos per language.",
        "Add a fast tier, but let the current run finish",
        "Follow the same pattern as elsewhere.",
        "Return the findings first, with paths.",
        "We should run it on unique commits.",
        "spawn one or more reviewers after each step.",
        "is there a way to say that it should only be shown when asked for?",
        "create one fixture for all tests using chalk",
        "Leave the old endpoint as it is.",
        "If a check fails, stop and ask me.",
        "can you fix it without touching the config?",
        "Keep all other items the same.",
        "Treat warnings as errors.",
        "respond in german",
        "Output the list as a markdown table.",
        "give me the diff before you apply it",
        "one commit per fix",
        "Dark mode by default.",
        "Responses under 200 words please",
        "all money values are in cents",
        "the API is frozen",
        "Nothing may be written outside /tmp.",
        "tests go next to the source files",
        "I can only travel in the afternoon",
        "I'm not willing to split the payment.",
        "I would rather have store credit than an exchange.",
        "i want to be able to type this in myself",
        "Let's stick with postgres",
        "I'd like to use the certificates before charging my card.",
        "I'll use the credit card on file for the payment.",
        "The details remain the same as before.",
        "Bitte keine neuen Abhängigkeiten hinzufügen.",
        "Du darfst die Tests nicht ändern.",
        "Ne modifie pas les fichiers de test.",
        "Il faut utiliser Python 3.11.",
        "No toques los archivos de prueba.",
        "Siempre ejecuta las pruebas antes.",
        "不要修改测试文件。",
        "必须使用 Python 3.11。",
        "テストファイルを変更しないでください。",
        "必ず型注釈を付けてください。",
    ],
)
def test_a_sentence_that_binds_later_work_is_kept_verbatim(sentence: str):
    assert sentence in current(f"Let us begin.\n{sentence}\nThanks a lot")


@pytest.mark.parametrize(
    "sentence",
    [
        "What if we must never restart it?",
        "Suppose the budget is $800.",
        'The README says "never run this as root".',
        "> You must not reply to this.",
        "I don't know why it fails.",
        "Why don't you look at the log?",
        "Do we only need the push hook?",
        "It always fails on the second run.",
        "I never understood that part.",
        "```\n# never delete this\n```",
        "Add a test case to ensure the fix works.",
        "hooks_test.go:12: commit must not have a trailer",
        "No problem.",
        "we just want to know why",
        "Do you expect it to fail first?",
        "Use case:",
        "that should do it",
        "I realized that the policy allows only one certificate.",
        "The trip is within the next weeks, but I can't recall the date.",
        "I should have mentioned the number.",
        "She said all tests must pass.",
        "what parts of this would be cool to record",
        "all tests pass now",
        "The page needs about 3 seconds to load.",
        "I want to change my flight to May 23rd.",
        "the login page works now",
    ],
)
def test_what_is_supposed_quoted_told_or_merely_asked_binds_nothing(sentence: str):
    assert current(sentence) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The budget is $800.", "Actually make it $500."),
        ("The budget is $800.", "The budget is now $500."),
        ("Use tabs for indentation.", "Use spaces instead."),
        ("Use npm, not yarn.", "Use pnpm instead of npm."),
        ("Always use port 8080.", "The port must be 9090."),
        ("The deadline is Friday.", "Actually, by Monday is fine, change the deadline."),
        ("I prefer a window seat.", "I prefer an aisle seat."),
        ("预算是 $800。", "改成 $500。"),
        ("The deadline is Friday.", "The deadline has moved to Monday."),
        ("Keep the total under $800.", "We can go up to $1200 now."),
        ("It must run on Python 3.9.", "We dropped 3.9, it must run on Python 3.12."),
        ("Keep functions under 40 lines.", "Keep functions under 60 lines."),
        ("Keep the diff below 200 lines.", "Ok, 400 lines is fine too."),
        ("Book economy class only.", "Upgrade me to business class instead."),
        ("Work on branch feature/a1.", "Switch to branch feature/b2."),
        ("Use metric units.", "Use imperial units."),
        ("Retry at most 3 times.", "Retry up to 5 times instead."),
        ("El presupuesto es de 800 €.", "Mejor 500 €."),
        ("Das Budget ist 800 €.", "Doch lieber 500 €."),
    ],
)
def test_a_later_one_on_the_same_thing_takes_its_place(first: str, second: str):
    found = constraints(f"Plan the work. {first}", second)
    assert not next(c for c in found if c.text == first).current
    assert next(c for c in found if c.text == first).superseded_by == 2
    assert second.split(". ")[-1] in [c.text for c in found if c.current]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The budget is $800.", "The deadline is Friday."),
        ("Never push to main.", "Never delete the logs."),
        ("Keep it under 100 lines.", "Use at most 3 retries."),
        ("The budget is $800.", "The flight costs $500, is that good?"),
        ("Don't commit yet.", "You can run the tests now."),
        ("Never push to main.", "You can push the branch now."),
        ("Don't change the public API.", "You can change the tests."),
        ("Keep functions under 40 lines.", "Keep files under 400 lines."),
        ("Retry at most 3 times.", "Wait at most 3 seconds between."),
        ("The budget is $800.", "The flight is $300 now, let's book."),
        ("The deadline is Friday.", "The meeting is on Monday now."),
        ("Keep the diff below 200 lines.", "The first 30 lines are fine."),
        ("Always run the linter first.", "No need to explain the parser."),
        ("Never delete the logs.", "Now run the tests."),
        ("Don't touch the tests.", "Don't touch the tests or the docs."),
    ],
)
def test_what_is_on_another_thing_replaces_nothing(first: str, second: str):
    assert first in current(first, second)


def test_the_last_words_below_a_long_paste_are_the_users_own():
    assert current("changed the parser and the printer\n" * 80 + "\nwe just want to say that it works") == [
        "we just want to say that it works"
    ]


def test_what_a_lead_in_says_was_pasted_is_not_the_users():
    report = "The review is in. You must never ship this. No mutex guards it.\n\n" * 9
    assert current(f"can you incorporate this review:\n\n{report}") == []
    rules = "Never push to main. " + "Keep it small and readable for everybody. " * 9
    assert "Never push to main." in current(f"Please follow these:\n\n{rules}")


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Don't commit yet.", "OK, you can commit now."),
        ("Don't push.", "You can push now."),
        ("Never touch the tests.", "You may change the tests after all."),
        ("Don't touch the config.", "OK, you can change it now."),
        ("Don't add dependencies.", "It's fine to add dependencies now."),
        ("Always run the linter first.", "You no longer need to run the linter first."),
        ("Always add a changelog entry.", "no need for a changelog entry anymore"),
        ("Only edit files under src.", "Forget the src-only rule, edit anything you need."),
        ("Wait with the migration until I say so.", "Run the migration now."),
        ("N'utilise pas Redis.", "Finalement tu peux utiliser Redis."),
        ("Bitte nicht committen.", "Du darfst jetzt committen."),
        ("不要修改测试。", "现在可以修改测试了。"),
    ],
)
def test_a_permission_lifts_what_was_forbidden_and_a_release_what_was_demanded(rule: str, later: str):
    assert current(f"{rule} Keep it small.", later) == ["Keep it small."]


def test_a_go_ahead_ends_what_was_held_back_and_nothing_else():
    turns = ("Propose a fix. Do not change the code just yet. Never push to main.", "go ahead with the implementation")
    assert current(*turns) == ["Never push to main."]


def test_the_same_branch_named_again_takes_nothing_back():
    assert current("don't forget to branch off main", "push it, via a fresh branch off main") == [
        "don't forget to branch off main",
        "push it, via a fresh branch off main",
    ]


def test_what_is_said_twice_is_kept_once():
    assert current("Never push to main.", "never push to MAIN.") == ["Never push to main."]


def test_standing_instructions_of_a_client_bind_and_are_no_request():
    rules = "Run `make check` before each commit.\nNever add code that fetches remote\nsources at run time, whatever the reason may be."
    ledger = Talk().user(f"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n- {rules}\n</INSTRUCTIONS>").ledger()
    assert not ledger.requests
    assert any("Never add code that fetches remote" in c.text for c in ledger.constraints)


def test_a_sentence_broken_at_a_width_is_one():
    text = "The provider is offline: never add any code that loads\nremote sources or sends telemetry anywhere."
    assert current(text) == [
        "The provider is offline: never add any code that loads remote sources or sends telemetry anywhere."
    ]


def test_an_order_stays_one_whatever_is_told_of_its_object():
    said = "Never rename the column account_0 that the team reads."
    assert current(said) == [said]


def test_what_is_stated_beside_a_complaint_binds_nothing():
    assert current("is_overdue is wrong around midnight: the server runs in local time, the data is in UTC.") == []
    assert current("All times are in UTC.") == ["All times are in UTC."]
    assert current("That folder is off limits.") == ["That folder is off limits."]
