"""What users stated: a later statement on the same thing takes the earlier one's place, and no other's."""

from __future__ import annotations

import pytest

from clew.ledger.stated import current, read


def holding(*said):
    return [s.text for s in current(read(i, text) for i, text in enumerate(said))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The service listens on port 8080.", "The service listens on port 9090."),
        ("Keep the travel costs under $900.", "New limit for travel costs: six hundred dollars."),
        ("We go live on 2027-03-01.", "The day we go live has changed: May 9."),
        ("Report everything in UTC.", "Please show clocks in Pacific Time."),
        ("Anna Weber is in charge of releases.", "Releases now belong to Tom Schulz."),
        ("We work on feature/cart-12.", "I switched us to feature/tax-40."),
        ("The door code is wolf-17.", "The door code was changed: it is lynx-23 now."),
        ("Give temperatures in imperial units.", "Use metric units from now on."),
    ],
)
def test_the_later_one_stands(old, new):
    assert holding(old, "Look at the parser first.", new) == ["Look at the parser first.", new]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The project budget is $500.", "The travel budget is $350."),
        ("Production runs Postgres 16 in eu-north-3.", "Staging runs MySQL 8 in us-west-2."),
        ("Anna Weber is the release approver.", "Tom Schulz is the design reviewer."),
        ("The launch is on 2027-05-25.", "The freeze is on 2027-05-15."),
        ("Run unit tests with pytest.", "Run integration tests with make it."),
        ("Never push to main.", "Never touch vendor/."),
        ("Keep project costs under $900.", "Should travel costs now be under $100?"),
    ],
)
def test_two_things_stay_two(one, other):
    assert holding(one, other) == [one, other]


def test_the_same_words_count_once_and_where_they_were_said_last():
    said = current([read(0, "Never push to main."), read(1, "Go on."), read(2, "never push  to main.")])
    assert [s.source for s in said] == [1, 2]


def test_a_label_is_told_from_what_it_labels():
    s = read(3, "HARD RULE: Never push to main.")
    assert (s.label, s.body) == ("HARD RULE", "Never push to main.")
    plain = read(3, "Note that this is so.")
    assert (plain.label, plain.body) == ("", "Note that this is so.")
