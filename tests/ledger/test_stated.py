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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "FACT: The production database runs in region eu-west-1.",
            "FACT: Production's database is hosted in ap-east-2.",
        ),
        (
            "RULE: Plan for the launch deadline, 2027-03-01.",
            "RULE: The launch deadline is 2027-05-09 and does not move.",
        ),
        ("RULE: Never disclose the vault key AB-123.", "RULE: The vault key CD-456 must never be disclosed."),
        ("RULE: Only Anna Weber approves deploys.", "RULE: No deploy without Tom Schulz approving it."),
        ("FACT: The staging API base URL is https://a.test/v2.", "FACT: Staging API lives at https://b.test/v2."),
        ("PREFERENCE: Write code examples in Go.", "PREFERENCE: User wants code examples in Rust, please."),
        ("GOAL: We are on branch spike/a-1.", "GOAL: Current branch: spike/b-2, unpushed."),
        ("GOAL: Next up: the audit log.", "GOAL: After this, the next step is load testing."),
    ],
)
def test_in_a_register_the_later_entry_on_the_same_thing_stands(old, new):
    assert holding(old, "Look at the parser first.", new) == ["Look at the parser first.", new]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("RULE: No nuts at the counter.", "RULE: No shellfish at the counter."),
        ("RULE: Never send payroll data abroad.", "RULE: Never send health data abroad."),
        ("FACT: The primary region is eu-west-1.", "FACT: The backup region is eu-west-2."),
        ("FACT: The staging base URL is https://a.test.", "FACT: The production base URL is https://b.test."),
        ("RULE: The access code is AB-123.", "RULE: The vault code is CD-456."),
        (
            "GOAL: Auth moves to OAuth. Next step is tokens.",
            "GOAL: Branch spike/a-1 is green. Next step is the script.",
        ),
        ("FACT: Launch is on 2027-03-01.", "NOTE: The freeze is on 2027-02-01."),
    ],
)
def test_two_entries_of_a_register_on_different_things_both_hold(one, other):
    assert holding(one, other) == [one, other]


def test_the_same_words_count_once_and_where_they_were_said_last():
    said = current([read(0, "Never push to main."), read(1, "Go on."), read(2, "never push  to main.")])
    assert [s.source for s in said] == [1, 2]


def test_a_label_is_told_from_what_it_labels():
    s = read(3, "HARD RULE: Never push to main.")
    assert (s.label, s.body) == ("HARD RULE", "Never push to main.")
    plain = read(3, "Note that this is so.")
    assert (plain.label, plain.body) == ("", "Note that this is so.")
