from __future__ import annotations

import pytest

from clew.ledger.foreign import BANNER
from clew.ledger.requests import asked
from tests.ledger.script import WIRES, Talk

LIST = {"command": "ls"}


def states(talk: Talk) -> list[str]:
    return [r.status for r in talk.ledger().requests]


def test_a_request_is_open_until_the_agent_gave_its_reply():
    talk = Talk().user("Count the files.").call("Bash", LIST, "a\nb")
    assert states(talk) == ["open"]
    request = talk.agent("There are two.\nBoth are empty.").ledger().requests[0]
    assert (request.status, request.answer, request.answered_at) == ("answered", "There are two.", 3)


@pytest.mark.parametrize("wire", WIRES)
def test_words_before_further_work_are_no_reply(wire: str):
    talk = Talk(wire).user("Count the files.").call("Bash", LIST, "a\nb", said="I will look.")
    talk.agent("So far two.").call("Bash", {"command": "ls -a"}, "a\nb\n.c")
    assert states(talk) == ["open"]


def test_several_requests_pend_together_and_one_reply_closes_them():
    talk = Talk().user("Fix the parser.").call("Bash", LIST, "a").user("Also rename the module.")
    assert states(talk) == ["open", "open"]
    assert states(talk.agent("Both are done.")) == ["answered", "answered"]


@pytest.mark.parametrize(
    "reply",
    [
        "I can help with that. Could you please provide your booking number?",
        "Here is what I would change: the date. Please confirm if you would like me to proceed.",
        "The tool is logged out. Please run `acme login`, then reply here.",
        "There are 70 places to change. I will go through them now:",
        "The cache is stale. Let me check who writes it",
        "Two of three pass. I'm running the last one now and then the linter.",
    ],
)
def test_a_reply_that_cannot_go_on_without_the_user_closes_nothing(reply: str):
    assert states(Talk().user("Move my flight.").agent(reply)) == ["open"]


@pytest.mark.parametrize(
    "reply", ["It is fixed. Let me know if it fails again.", "Let me explain: the cache is stale."]
)
def test_what_only_sounds_like_work_to_come_is_an_answer(reply: str):
    assert states(Talk().user("Fix it.").agent(reply)) == ["answered"]


def test_an_offer_to_do_more_is_an_answer_all_the_same():
    assert states(Talk().user("Why does it fail?").agent("The cache is stale. Want me to clear it?")) == ["answered"]


@pytest.mark.parametrize(
    "stop", ["stop", "never mind", "Wait, forget it.", "cancel that", "vergiss es", "算了", "やめて"]
)
def test_stopping_withdraws_what_is_open(stop: str):
    talk = Talk().user("Rewrite the docs.").call("Bash", LIST, "a").user(stop)
    assert states(talk) == ["withdrawn"]


@pytest.mark.parametrize("back", ["undo that", "Roll back the last change, please", "revert it"])
def test_undoing_withdraws_the_finished_request_and_is_one_itself(back: str):
    talk = Talk().user("Add a cache.").agent("Added.").user(back)
    assert states(talk) == ["withdrawn", "open"]


@pytest.mark.parametrize(
    "text", ["Yes, please cancel the reservation AB12CD.", "Cancel my order 4411.", "stop the server when it is idle"]
)
def test_what_only_sounds_like_stopping_is_a_request(text: str):
    assert states(Talk().user("Look at my bookings.").user(text))[0] == "open"
    assert states(Talk().user(text)) == ["open"]


def test_going_on_and_a_harness_complaint_open_again_what_the_last_reply_closed():
    talk = Talk().user("Port the module.").agent("The first half is ported.")
    assert states(talk) == ["answered"]
    assert states(talk.user("continue")) == ["open"]
    talk = Talk().user("Port the module.").agent("I will run two things at once.")
    assert states(talk.user("Please always provide EXACTLY ONE action in triple backticks, found 2 actions.")) == [
        "open"
    ]


def test_a_request_stopped_before_any_work_on_it_is_withdrawn():
    talk = Talk().user("commit this").user("[Request interrupted by user]").user("What does setup do?")
    assert states(talk) == ["withdrawn", "open"]
    worked = Talk().user("commit this").call("Bash", LIST, "a").user("[Request interrupted by user for tool use]")
    assert states(worked) == ["open"]


@pytest.mark.parametrize(
    ("spoken", "request_"),
    [
        ("<environment_context>\n <cwd>/work</cwd>\n</environment_context>", ""),
        ("<command-name>/exit</command-name>\n<command-args></command-args>", ""),
        ("<command-name>/ship</command-name>\n<command-args>the docs first</command-args>", "the docs first"),
        ("<command-name>/ship</command-name><command-args></command-args>", "/ship"),
        ("<task-notification><result>done</result></task-notification>", ""),
        ("# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nNever push.\n</INSTRUCTIONS>", ""),
        ("/clear", ""),
        (f"{BANNER}\nold things", ""),
        ("This session is being continued from a previous conversation that ran out of context.", ""),
        ("[Image: source: /tmp/a.png]\nwhy is it blue", "why is it blue"),
        ("make <b>bold</b> work", "make <b>bold</b> work"),
    ],
)
def test_what_clients_write_in_a_users_name_is_not_asked(spoken: str, request_: str):
    assert asked(spoken) == request_


def test_reminders_are_stripped_and_the_words_stay_verbatim():
    text = "Fix  the\tspacing —  keep “quotes”.\n\n- one\n- two"
    talk = Talk().user(f"<system-reminder>tools changed</system-reminder>\n{text}")
    assert talk.ledger().requests[0].text == text


def test_the_text_of_a_loaded_skill_is_no_request():
    talk = Talk().user("Review it.").call("Skill", {"skill": "review"}, "Launching skill: review")
    talk.user("Approach this as a careful reviewer. " * 20)
    assert [r.text for r in talk.ledger().requests] == ["Review it."]


@pytest.mark.parametrize(
    "reply",
    [
        "On it.",
        "Sure, I'll fix the parser.",
        "API Error: 529 overloaded",
        "You've hit your usage limit. Try again later.",
    ],
)
def test_a_promise_and_a_clients_excuse_are_no_reply(reply: str):
    assert states(Talk().user("Fix the parser.").agent(reply)) == ["open"]


@pytest.mark.parametrize(
    "reply", ["I'll keep that in mind.", "I couldn't: the file is read-only.", "I can't help with that."]
)
def test_an_agreement_to_a_rule_and_a_refusal_are_replies(reply: str):
    assert states(Talk().user("Use short names.").agent(reply)) == ["answered"]


@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "Perfect, thank you so much",
        "awesome 🎉",
        "Great, thank you for your help! That's all I needed.",
        "Thank you, you too! Have a nice day",
        "vielen dank",
        "谢谢！",
    ],
)
def test_thanks_ask_for_nothing(text: str):
    assert states(Talk().user("Fix it.").agent("Fixed.").user(text)) == ["answered"]


@pytest.mark.parametrize("text", ["thanks, now release it", "great", "ok", "Thank you. Is it pushed?"])
def test_what_follows_thanks_and_a_bare_yes_are_asked(text: str):
    assert states(Talk().user("Fix it.").agent("Fixed.").user(text)) == ["answered", "open"]


def test_thanks_while_something_is_open_may_be_its_answer():
    asked = Talk().user("Move my flight.").agent("Shall I proceed with seat 4A? (yes/no)")
    assert states(asked.user("perfect, thanks")) == ["open", "open"]


@pytest.mark.parametrize(
    "text",
    [
        "actually, don't add a cache",
        "no need for the cache anymore",
        "forget the cache, build an index instead",
        "Ignore my last message.",
    ],
)
def test_a_request_is_withdrawn_by_naming_it_and_no_other(text: str):
    talk = Talk().user("Rename the module.").user("Also add a cache.").call("Bash", LIST, "a").user(text)
    assert states(talk)[:2] == ["open", "withdrawn"]


@pytest.mark.parametrize(
    "text",
    [
        "stop using tabs",
        "don't commit",
        "don't touch the tests of the parser",
        "skip the docs",
        "don't fix the printer",
        "no need to explain",
    ],
)
def test_what_forbids_a_part_or_another_thing_withdraws_nothing(text: str):
    assert states(Talk().user("Fix the parser and commit.").call("Bash", LIST, "a").user(text)) == ["open", "open"]
