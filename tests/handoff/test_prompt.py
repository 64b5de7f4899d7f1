"""What a summariser is sent: originals with labels, secrets out, in as many pieces as its window needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clew.handoff import prompt
from clew.handoff import template as t
from clew.handoff.prompt import PREVIOUS_ANSWER, prompts, source_text
from clew.handoff.template import Sections
from clew.handoff.wording import FORM
from clew.testing import builders as b
from clew.transcript import Message
from tests.handoff.facts import LEDGER
from tests.handoff.logs import coding, draft_of, log_of
from tests.wire.builders import DATA_URL

NONE = Sections()
GOLDEN = Path(__file__).parents[1] / "golden" / "prompts"
PREVIOUS = Sections(
    {t.GOAL: "Fix the cart.", t.ACTIONS: "1. READ a.py — ok [tool: read]\n7. RUN `ls` — ok [tool: bash]"}
)
ALARM = re.compile(
    r"\b(NEVER|IMPORTANT|MUST|WARNING|CRITICAL|ignore|inject\w*|jailbreak|malicious|attack\w*|exploit\w*|password|secret|forbidden"
    r"|prohibited|dangerous|harmful|override|comply)\b"
)


def one(messages: list[Message], previous: Sections = NONE, **more: object) -> str:
    log = log_of(messages)
    (made,) = prompts(log, previous, draft_of(log, **more))
    return made


@pytest.mark.parametrize(
    ("name", "previous", "more"),
    [
        ("first", Sections(), {"now": "2026-03-04"}),
        ("update", PREVIOUS, {"start": 4}),
        ("focus", Sections(), {"focus": "the rounding of totals"}),
    ],
)
def test_the_whole_prompt_reads_as_it_should(name: str, previous: Sections, more: dict[str, object]):
    made = one(coding(), previous, ledger=LEDGER, **more) + "\n"
    path = GOLDEN / f"{name}.txt"
    assert made == path.read_text("utf-8"), f"the prompt changed: read it, then write it to {path.name}"


def test_every_section_is_asked_for_once_in_order():
    made = one(coding())
    places = [made.rindex(f"\n## {h}\n(") for h in t.SECTIONS]
    assert places == sorted(places)
    assert [h for h, _ in FORM] == list(t.SECTIONS)


def test_no_word_of_alarm_is_ours():
    own = one([b.user("hm")], Sections({t.GOAL: "x"}), focus="y", now="2026-01-01")
    assert ALARM.findall(own) == []


def test_turns_are_labelled_originals():
    made = one(coding())
    for piece in (
        "[USER]\nFix the rounding", "[ASSISTANT]\nThe total rounds", "[TOOL CALL bash] pytest -q tests/test_cart.py",
        "[TOOL RESULT c3]\nF....",
    ):  # fmt: skip
        assert piece in made


def test_long_results_and_arguments_are_cut_in_the_open():
    rows = [f"row {n:05d}" for n in range(2_000)]
    long = "\n".join(rows)
    made = one([b.user("go"), b.call("c", "write_file", {"path": "a.txt", "content": long}), b.result("c", long)])
    result = made.partition("[TOOL RESULT c]\n")[2].partition("\n\n----")[0]
    assert result.startswith(long[:4_000])
    assert result.endswith(long[-1_500:])
    assert f"{len(long) - 5_500:,} characters left out" in result
    arguments = made.partition("[TOOL CALL write_file] ")[2].partition("\n\n[TOOL RESULT")[0]
    assert 1_200 <= len(arguments) < 1_300
    assert one([b.user("go"), b.call("c", "x", {}), b.result("c", long[:6_000])]).count("left out …]") == 0


def test_secrets_leave_before_anything_is_cut():
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    long = "x" * 3_990 + f" {key} " + "y" * 4_000
    made = one([b.user(f"use {key}"), b.call("c", "sh", {"command": f"curl -H 'Authorization: Bearer {key}'"}), b.result("c", long)],
               Sections({t.CONTEXT: f"token {key}"}), focus=f"the key {key}")  # fmt: skip
    assert "A1b2C3d4" not in made
    assert "[REDACTED" in made


def test_media_are_marks():
    picture = b.message(
        {
            "role": "user",
            "content": [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": DATA_URL}}],
        }
    )
    inline = b.user("an image: data:image/png;base64," + "iVBORw0KGgo" * 50)
    made = one([picture, inline])
    assert "[USER]\nSee\n[media attachment]" in made
    assert "an image: [media attachment]" in made
    assert "iVBORw0KGgo" not in made


def test_dates_only_where_one_is_given():
    assert "Today is 2026-03-04" in one(coding(), now="2026-03-04")
    assert "Today" not in one(coding())


def test_the_language_is_named_where_it_is_sure():
    german = b.user("Bitte schau dir die Tests an und sag mir, was mit ihnen nicht stimmt und wie wir das beheben.")
    assert "the user writes in (German)" in one([german, b.assistant("Ja.")])
    assert "the user writes in. " in one([b.user("ok")])


def test_a_focus_takes_most_of_the_length_and_none_means_what_the_user_said_last():
    given = one(coding(), focus="database schema")
    assert "matters most for this: database schema\nGive it 60 to 70 percent" in given
    assert "been on lately" not in given
    own = one([*coding(), b.assistant("ok"), b.user("Now the discount table.")])
    lately = own.partition("been on lately:\n")[2].partition("\nGive the most")[0]
    assert lately.splitlines()[-1] == "- Now the discount table."
    assert len(lately.splitlines()) == 3


def test_an_earlier_record_is_carried_on():
    made = one(coding(), PREVIOUS)
    assert "THE RECORD SO FAR:\n## Goal\nFix the cart." in made
    assert "go on numbering the completed actions after 7;" in made


@pytest.mark.parametrize(
    "lead",
    [
        "[CONTEXT COMPACTION - REFERENCE ONLY] Earlier turns were compacted.\n\n",
        "This session is being continued from a previous conversation that ran out of context.\n\n",
    ],
)
def test_a_record_someone_else_left_is_state_and_no_turn(lead: str):
    foreign = b.user(f"{lead}## Goal\nShip the shop.\n\n## Completed Actions\n4. READ b.py — ok [tool: read]")
    made = one([foreign, b.assistant("Going on."), b.user("Yes.")])
    assert "THE RECORD SO FAR:\n## Goal\nShip the shop." in made
    assert "after 4;" in made
    assert "[USER]\n[CONTEXT" not in made
    assert made.count("Ship the shop.") == 1


# --- pieces --------------------------------------------------------------------------------------------------------


def long_session(turns: int = 60) -> list[Message]:
    out = [b.user("Start.")]
    for n in range(turns):
        out += [b.call(f"c{n}", "read_file", {"path": f"src/part{n}.py"}), b.result(f"c{n}", f"marker{n:04d} " * 120)]
    return [*out, b.user("Finish.")]


@pytest.mark.parametrize("window", [4_000, 8_000, 16_000, 32_000])
def test_pieces_fit_the_window_and_together_hold_every_turn(window: int):
    log = log_of(long_session())
    draft = draft_of(log)
    made = prompts(log, PREVIOUS, draft, window=window)
    assert len(made) > 1
    answer = "y " * int(window * 0.15 * 1.3)
    for p in made:
        assert log.measure(p.replace(PREVIOUS_ANSWER, answer)) <= window * 0.95
    whole = "\n".join(made)
    assert all(f"marker{n:04d}" in whole for n in range(60))
    assert [p.count(PREVIOUS_ANSWER) for p in made] == [0] + [1] * (len(made) - 1)
    assert "THE RECORD SO FAR:\n## Goal\nFix the cart." in made[0]
    assert all(f"piece {n + 1}." in p for n, p in enumerate(made))


def test_a_turn_larger_than_a_piece_is_divided_not_dropped():
    words = [f"word{n:05d}" for n in range(6_000)]
    log = log_of([b.user(" ".join(words)), b.assistant("x" * 9_000), b.user("y")])
    whole = "\n".join(prompts(log, Sections(), draft_of(log), window=6_000))
    joined = re.sub(r"\s*\n\n----.*?THE TURNS:\n|\[USER\] \(continued\)\n|\n|\s", "", whole, flags=re.DOTALL)
    assert sum(w in joined for w in words) >= len(words) - whole.count("(continued)")
    assert "[USER] (continued)" in whole


def test_one_prompt_where_everything_fits_or_nothing_is_known():
    log = log_of(coding())
    assert len(prompts(log, Sections(), draft_of(log), window=32_000)) == 1
    big = log_of(long_session())
    assert len(prompts(big, Sections(), draft_of(big))) == 1


def test_a_session_about_the_marker_can_not_place_it():
    log = log_of([b.user(f"why {PREVIOUS_ANSWER}?"), *long_session(), b.user(PREVIOUS_ANSWER)])
    made = prompts(log, Sections({t.GOAL: PREVIOUS_ANSWER}), draft_of(log), window=8_000)
    assert [p.count(PREVIOUS_ANSWER) for p in made] == [0] + [1] * (len(made) - 1)


# --- what supports -------------------------------------------------------------------------------------------------


def test_support_comes_from_originals_and_ledger_not_from_the_earlier_record():
    log = log_of(
        [*coding(), b.call("j", "run", {"command": 'cat "a b.txt"'}), b.result("j", '{"out": "one\\nsrc/two.py:3"}')]
    )
    source = source_text(log, draft_of(log, start=5, now="2026-03-04"))
    for piece in (
        "round(sum(items), 1)",
        "src/cart.py",
        'cat "a b.txt"',
        "\nsrc/two.py:3",
        "2026-03-04",
        "1 failed",
        "exit 1",
    ):
        assert piece in source, piece
    assert prompt.PREVIOUS_ANSWER not in source
