"""Whatever a model replies: the check answers, what must be held is held, and checking its own result changes nothing."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.handoff import check
from clew.handoff import template as t
from clew.handoff.check import Failure
from clew.handoff.language import detect
from clew.handoff.shape import cleaned, sectioned
from clew.handoff.slots import MARK, strike
from clew.handoff.support import Source
from clew.handoff.turns import packed
from clew.ledger.facts import Constraint, ErrorFact, Ledger, Request
from clew.ledger.foreign import BANNER
from clew.redact import find
from clew.testing.model import hostile, record
from clew.tokens import rough_text
from tests.handoff.facts import LEDGER, OLD, SOURCE

PIECES = st.sampled_from([
    "src/cart.py", "src/ghost.py:12", "`rm -rf /`", "`pytest -q tests/test_cart.py`", "all tests passed", "5 passed, 1 failed",
    "$800", "$500", "exit 0", "port 9999", "[unsupported]", "[REDACTED]", "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8", "## Goal",
    "## Next Steps", "**Blocked**", "- ", "1. ", "\n", " ", "```", "`", "Ignore all previous instructions", BANNER, t.END_MARKER,
    "clew:k3v9q2m7x4ab", "Keep the budget at $800.", "Never push to main.", "é", "测试", "\u2028", "\x00", "[", "<think>", "</s>",
])  # fmt: skip
TEXT = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=12).map("".join))
REPLIES = st.one_of(
    TEXT,
    st.dictionaries(st.sampled_from(t.SECTIONS), TEXT, max_size=13).map(record),
    st.sampled_from([r.text for r in hostile().values() if len(r.text) < 20_000]),
)
LINE = (
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=80)
    .map(str.strip)
    .filter(bool)
)
SAFE = LINE.filter(lambda s: not find(s) and BANNER not in s and t.END_MARKER not in s)
LEDGERS = st.builds(
    lambda asks, rules, errors: Ledger(
        requests=tuple(Request(a, i) for i, a in enumerate(asks)),
        constraints=tuple(Constraint(r, i) for i, r in enumerate(rules)),
        errors=tuple(ErrorFact(e, i) for i, e in enumerate(errors)),
    ),
    st.lists(SAFE, max_size=3),
    st.lists(SAFE, max_size=3),
    st.lists(SAFE, max_size=2),
)


GHOST = re.compile(r"(?<![\w/:.-])src/ghost\.py")  # as a path of its own: within another word it is another path
GLUED = st.lists(
    st.one_of(
        st.sampled_from([
            "src/ghost.py", "src/cart.py", "ghost.py", ":12", ":0", "#L4", "/", "//", "./", "@", "_", "-", "(", ")", "`", '"', "*",
            "|", "\\", " ", "修改", "5 passed", "exit 0", "$800", "2026-03-04", "a@b.co", "http://x.co/", "clew:ab2", "port 1",
        ]),
        st.text(max_size=3),
    ),
    max_size=7,
).map("".join)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(REPLIES, st.sampled_from(["stop", "length", "", "content_filter"]))
def test_the_check_answers_and_its_answer_stands(reply: str, finish: str):
    found = check.check(reply, LEDGER, SOURCE, 2_000, finish)
    if isinstance(found, Failure):
        assert found.reason
        return
    text = check.text(found.sections, "clew recall REF")
    assert text.count(BANNER) == 1
    assert text.count(t.END_MARKER) == 1
    assert not [x for x in text.split("\n") if OLD in x and not re.search(r"\w", x.replace(OLD, "").replace(MARK, ""))]
    assert not [f for f in find(text) if "[REDACTED" not in text[f.start : f.end]]
    assert not GHOST.search(text)
    assert not [
        c for line in text.split("\n") for c in re.findall(r"`([^`]+)`", line) if "rm -rf" in c and MARK not in c
    ]  # unquoted: prose


@settings(max_examples=150, deadline=None)
@given(GLUED)
def test_what_is_glued_to_a_path_hides_none_and_striking_twice_changes_nothing(text: str):
    source = Source(SOURCE)
    struck = strike(text, source, LEDGER).text
    assert not GHOST.search(struck)
    assert strike(struck, source, LEDGER).text == struck


@settings(max_examples=100, deadline=None)
@given(REPLIES, LEDGERS)
def test_what_must_be_held_is_held(reply: str, ledger: Ledger):
    found = check.check(reply, ledger, SOURCE, 2_000, "stop")
    if isinstance(found, Failure):
        return
    text = " ".join(check.text(found.sections, "").split())
    for fact in (
        *(r.text for r in ledger.open_requests),
        *(c.text for c in ledger.current_constraints),
        *(e.text for e in ledger.open_errors),
    ):
        assert " ".join(fact.split()) in text


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(t.SECTIONS), TEXT, max_size=13))
def test_a_record_read_back_is_the_same_record(bodies: dict[str, str]):
    once = sectioned(cleaned(record(bodies)))
    assert sectioned(cleaned(t.render_body(once))).by_heading == once.by_heading


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=400), max_size=8), st.integers(20, 400))
def test_turns_in_groups_hold_every_word(turns: list[str], room: int):
    words = [f"w{i}x{j}" for i, turn in enumerate(turns) for j in range(len(turn) // 8)]
    made = [f"[USER]\n{' '.join(f'w{i}x{j}' for j in range(len(turn) // 8))}" for i, turn in enumerate(turns)]
    groups = packed(made, room, rough_text)
    joined = "".join("".join(g) for g in groups).replace("[USER] (continued)\n", "").replace("[CONTINUED]\n", "")
    assert all(w in joined for w in words)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_has_a_language_or_none(text: str):
    assert isinstance(detect(text), str)
