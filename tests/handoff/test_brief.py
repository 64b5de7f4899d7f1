"""The shortest handoff: within its room, what binds before what doesn't, in the order it was said."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.handoff.brief import brief
from clew.ledger import of
from clew.ledger.foreign import recognise
from clew.testing import builders as b
from clew.transcript import Transcript

SAID = (
    "The build takes about four minutes on the small machine.",
    "Never push to main.",
    "We talked about caching for the static pages last week.",
    "RULE: The code wolf-17 is not to be shown to anybody.",
    "RULE: Reports go out on Friday.",
    "The budget is $800.",
    "Actually, make the budget $500.",
)


def drawn(said, room, *more):
    log = Transcript([m for text in said for m in (b.user(text), b.assistant("Noted."))] + list(more))
    users = [(i, m.text) for i, m in enumerate(log) if m.is_user_turn]
    return brief(users, of(log), room, len)


def test_with_room_everything_that_holds_stands_once_and_in_order():
    text = drawn(SAID, 2_000).text
    assert recognise(text) == "clew"
    assert text.count("RULE:") == 1
    assert "$800" not in text
    order = [text.index(x) for x in ("four minutes", "Never push", "caching", "$500", "wolf-17", "Friday")]
    assert order == sorted(order)


def test_what_binds_comes_before_what_doesnt():
    text = drawn(SAID, 190).text
    assert len(text) <= 190
    assert "Never push to main." in text
    assert "wolf-17" in text
    assert "$500" in text
    assert "caching" not in text


def test_what_had_no_room_is_counted():
    assert drawn(SAID, 2_000).left == 0
    assert drawn(SAID, 120).left > 0


def test_a_message_that_is_too_long_gives_the_sentence_that_binds():
    text = drawn(["The old one was seen by too many people in the meantime. Never show the new code lynx-23."], 80).text
    assert "Never show the new code lynx-23." in text
    assert "too many people" not in text


def test_open_requests_files_and_commands_stand_too():
    work = [
        b.user("Fix src/cart.py for ORDER-48213."),
        b.call("c1", "edit_file", {"path": "src/cart.py", "old_string": "a", "new_string": "b"}),
        b.result("c1", "ok"),
        b.call("c2", "bash", {"command": "pytest -q"}),
        b.result("c2", "3 passed in 0.1s\nexit code: 0"),
    ]
    text = drawn(SAID[:2], 800, *work).text
    assert "Asked:\nFix src/cart.py for ORDER-48213." in text
    assert "changed src/cart.py" in text
    assert "`pytest -q`" in text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(SAID), max_size=12), st.integers(20, 900))
def test_it_never_takes_more_than_its_room(said, room):
    made = drawn(said, room)
    assert len(made.text) <= max(room, len("[Compacted by Clew]"))


def test_what_a_user_said_anew_comes_before_what_was_said_once():
    said = [f"RULE: The code item{n}-1{n} is not to be shown to anybody." for n in range(4)]
    text = drawn([*said, "RULE: The code wolf-17 is retired, use wolf-18 from now on."], 120).text
    assert "wolf-18" in text
