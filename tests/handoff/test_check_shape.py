"""A reply as sections, however the model wrapped and headed it."""

from __future__ import annotations

import pytest

from clew.handoff import template as t
from clew.handoff.shape import cleaned, declined, sectioned
from clew.handoff.wording import FORM
from clew.ledger.foreign import BANNER
from clew.testing.model import record

BODY = "## Goal\nShip it.\n\n## Active State\nOn main."


@pytest.mark.parametrize(
    "reply",
    [
        BODY, f"```markdown\n{BODY}\n```", f"<think>The user wants…</think>\n{BODY}", f"<summary>\n{BODY}\n</summary>",
        f"{BANNER}\n{t.FRAMING}\n\n{BODY}\n\n{t.END_MARKER}", f"<|im_start|>assistant\n{BODY}<|im_end|>", f"Assistant:\n{BODY}</s>",
        "**Goal**\nShip it.\n\n**Active State:**\nOn main.", "1. Goal:\nShip it.\n2. Active State:\nOn main.",
        "### GOAL\nShip it.\n### active state\nOn main.", "**Goal:** Ship it.\n**Active State:** On main.", "Goal\nShip it.\n\nActive State\nOn main.",
        f"{BODY}\n\n## Key Decisions\nNone.\n\n## Blocked\n- None\n\n## Relevant Files\nN/A",
        "[CONTEXT COMPACTION - REFERENCE ONLY] Earlier turns …\n\n" + BODY,
    ],
)  # fmt: skip
def test_the_same_record_however_it_is_dressed(reply: str):
    found = sectioned(cleaned(reply))
    body = {h: b.removeprefix("assistant").strip() for h, b in found.by_heading.items()}
    assert body == {t.GOAL: "Ship it.", t.STATE: "On main."}


@pytest.mark.parametrize("heading", ["Next Steps", "TODO", "Action Items", "Instructions", "What to do next"])
def test_no_heading_reads_as_an_order(heading: str):
    found = sectioned(f"## Goal\nx\n\n## {heading}\n- run the tests")
    assert found[t.REMAINING] == "- run the tests"


def test_an_unknown_heading_becomes_a_line():
    found = sectioned("## Goal\nShip it.\n### By Friday!\nin two parts")
    assert found[t.GOAL] == "Ship it.\nBy Friday!\nin two parts"


def test_words_of_a_sentence_are_no_heading():
    text = "## Goal\nThe files were read and the goal was met\nfiles\n- state: fine\nBlocked by nothing at all"
    assert list(sectioned(text).by_heading) == [t.GOAL]


def test_actions_are_numbered_throughout_and_the_numbers_only_rise():
    text = "## Completed Actions\n- READ a\n7. EDIT b\n   more of it\n3. RUN c\n* TEST d"
    assert sectioned(text)[t.ACTIONS] == "1. READ a\n7. EDIT b\n   more of it\n8. RUN c\n9. TEST d"


def test_what_only_repeats_the_form_goes():
    echo = "\n\n".join(f"## {h}\n({what})" for h, what in FORM)
    assert sectioned(echo).empty
    assert sectioned("## Goal\n(What the user was after, overall.)").empty
    assert not sectioned("## Relevant Files\n- src/cart.py: read, changed with a few words").empty


def test_a_refusal_inside_a_record_is_none():
    assert declined("I can't help with that.")
    assert not declined(record({t.GOAL: "I can't help with that."}))
    assert not declined("Sorry state of the build: 3 failed")
