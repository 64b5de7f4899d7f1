"""The record's pages and the closing after them: what is quoted says whose it is, and what is left out is accounted for."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from clew import Context
from clew.handoff import closing
from clew.handoff import template as t
from clew.ledger.facts import Constraint, Decision, FileAction, FileFact, Ledger, Request, Value
from clew.testing import builders as b


def handoff_of(messages, window=16_000):
    """The last handoff of a session whose pages were rebuilt on the way."""
    ctx = Context(window, config={}, clock=lambda: 0.0)
    for m in messages:
        if m.role == "assistant":
            ctx.view()
        ctx.append(m.value)
    records = [e.record for e in ctx.epochs]
    assert any(len(b.pages) < len(a.pages) for a, b in pairwise(records))
    return ctx.epochs[-1].handoff


def read(n, k=0):
    """A call that holds no name a page would keep, and a result with names of its own."""
    body = "\n".join(f"{i}: the part_{n}_{k}_{i} of worker_{i % 5} is in src/part_{n}.py" for i in range(40))
    return b.call(f"c{n}-{k}", "bash", {"command": f"show {n} {k}"}), b.result(f"c{n}-{k}", body)


def test_what_a_rebuilt_page_quotes_of_a_result_stands_below_its_call():
    messages = [b.user("Check every part."), *(m for n in range(70) for m in read(n))]
    lines = handoff_of(messages).split("\n")
    quotes = [i for i, line in enumerate(lines) if line.startswith("   → ")]
    assert len(quotes) > 5
    for i in quotes:
        lead = next(x for x in reversed(lines[:i]) if not x.startswith("   "))
        said = re.match(r"\d+\. RUN show (\d+) 0", lead)
        assert said is not None, lead
        assert f"part_{said[1]}_" in "".join(lines[i : i + 2])


def test_of_calls_made_at_once_each_quote_says_which_it_belongs_to():
    messages = [b.user("Check every part.")]
    for n in range(40):
        pairs = [read(n, k) for k in range(2)]
        both = {"role": "assistant", "content": None, "tool_calls": [c.value["tool_calls"][0] for c, _ in pairs]}
        messages += [b.message(both), *(r for _, r in pairs)]
    lines = handoff_of(messages).split("\n")
    quotes = [re.match(r"   → \((\d+)\) (.*)", x) for x in lines if x.startswith("   → ")]
    assert len(quotes) > 5
    assert all(quotes)
    for q in quotes:
        call = next(x for x in lines if x.startswith(f"{q[1]}. RUN show "))
        n, k = re.search(r"show (\d+) (\d)", call).groups()
        assert f"part_{n}_{k}_" in q[2] or f"part_{n}.py" in q[2]


LEDGER = Ledger(
    files=tuple(FileFact(f"src/module_number_{n}.py", (FileAction("read", n),)) for n in range(9)),
    decisions=(Decision("Use Decimal.", 3, "floats drift"), Decision("Word " * 300, 5)),
    values=(
        Value("a1b2c3d", 2, "", "commit"),
        Value("https://x.example/y", 3, "", "url"),
        Value("8123", 4, "port", "port"),
    ),
)


def drawn(record="", room=400):
    return closing.sections(LEDGER, frozenset(), room, len, record=record).sections


def test_what_has_no_room_in_a_list_is_counted_and_said_to_stand_above_only_where_it_does():
    assert re.search(r"^- \((\d) more not listed\)$", drawn()[t.FILES], re.MULTILINE)
    pages = "\n".join(f.path for f in LEDGER.files)
    assert re.search(r"^- \((\d) more in the record above\)$", drawn(pages)[t.FILES], re.MULTILINE)
    some = "EDIT src/module_number_0.py"
    assert re.search(r"^- \((\d) more not listed, 1 of them in the record above\)$", drawn(some)[t.FILES], re.MULTILINE)


def test_a_long_line_stands_in_no_other_lines_way():
    assert "Use Decimal. — floats drift" in drawn()[t.DECISIONS]


def test_a_value_without_a_name_says_what_it_is():
    listed = drawn(room=4_000)[t.CONTEXT]
    assert "- commit: a1b2c3d" in listed
    assert "- https://x.example/y" in listed
    assert "- port: 8123" in listed


def test_the_goal_leaves_out_what_no_longer_holds_and_an_open_request_says_so():
    old, new = "Keep the budget at $800 a month.", "The budget is $500 a month now."
    first = f"Fix the rounding. {old} Never push to main."
    ledger = Ledger(
        requests=(Request(first, 1),),
        constraints=(
            Constraint(old, 1, topic="budget", superseded_by=5),
            Constraint("Never push to main.", 1),
            Constraint(new, 5, topic="budget"),
        ),
    )
    found = closing.sections(ledger, frozenset(), 900, len).sections
    assert found[t.GOAL] == "Fix the rounding. Never push to main."
    assert found[t.TASK] == f'User asked: "{first}" (no longer holds: {old})'
    assert old not in found[t.CONSTRAINTS]


def test_where_a_section_lists_nothing_nothing_is_more():
    long = Decision("Use Decimal for prices. " * 40, 3)
    found = closing.sections(Ledger(decisions=(long,)), frozenset(), 60, len).sections
    assert found[t.DECISIONS] == "- (1 not listed)"


def test_changed_files_without_a_line_of_their_own_are_named_together():
    changed = tuple(FileFact(f"/srv/shop/src/part_{n}.py", (FileAction("modified", n),)) for n in range(9))
    listed = closing.sections(Ledger(files=changed), frozenset(), 450, len).sections[t.FILES]
    assert "- /srv/shop/src/part_8.py: modified" in listed
    assert "- also changed, below /srv/shop/src/: part_" in listed
    assert "not listed" not in listed


def test_a_decision_that_the_line_beside_it_says_is_not_said_twice():
    messages = [b.user("Which queue? I decided to use Redis for the queue, since it is there already.")]
    messages += [m for n in range(70) for m in read(n)]
    handoff = handoff_of(messages)
    pages = handoff.split("## Historical Task Snapshot")[0]
    assert pages.count("I decided to use Redis for the queue") == 1


def test_an_older_question_that_is_repeated_stands_with_its_answer():
    messages = [b.user("Which job was slow on worker 1 tonight?"), b.assistant("It was job-8180bf87: it took 725 s.")]
    messages += [b.user("Check every part."), *(m for n in range(70) for m in read(n))]
    lines = handoff_of(messages).split("\n")
    at = lines.index("User: Which job was slow on worker 1 tonight?")
    assert lines[at + 1] == "Reply: It was job-8180bf87: it took 725 s."


def test_what_points_back_into_an_answered_request_is_not_listed_without_it():
    asked = "Loading a tax that doesn't exist ends in a TypeError. It should be NotFound. Never touch migrations/."
    ledger = Ledger(
        requests=(Request(asked, 1, "answered", "Fixed."),),
        constraints=(Constraint("It should be NotFound.", 1), Constraint("Never touch migrations/.", 1)),
    )

    def listed(shown, held=ledger):
        return closing.sections(held, frozenset(shown), 900, len).sections[t.CONSTRAINTS]

    assert listed({1}) == "- Never touch migrations/."
    assert "It should be NotFound." in listed(set())  # the request stands nowhere else: it is kept
    still_open = Ledger(requests=(Request(asked, 1),), constraints=ledger.constraints)
    assert "It should be NotFound." in listed({1}, still_open)


def test_a_value_that_only_a_replaced_rule_set_is_not_listed_as_one_that_holds():
    ledger = Ledger(
        constraints=(
            Constraint("The budget for the job is $800.", 1, topic="budget", superseded_by=5),
            Constraint("The budget is $500 now, not $800.", 5, topic="budget"),
        ),
        values=(Value("$800", 1, "amount", "The budget for the job"), Value("$500", 5, "amount", "The budget")),
    )
    found = closing.sections(ledger, frozenset(), 900, len).sections
    assert "$500" in found[t.CONTEXT]
    assert "$800" not in found[t.CONTEXT]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            (
                "This session is being continued from a previous conversation that ran out of context. The conversation is summarized "
                "below:\nAnalysis:\n1. Primary Request: fix src/a.py\n```python\n# a comment\n```\n2. Done: the tax field.\n\nPlease "
                "continue the conversation from where we left it off without asking the user any further questions."
            ),
            "Analysis:\n1. Primary Request: fix src/a.py\n```python\n# a comment\n```\n2. Done: the tax field.",
        ),
        (
            "This session is being continued from a previous conversation that ran out of context. The tax field was added.",
            "The tax field was added.",
        ),
        (
            "Another language model started to solve this problem and produced a summary. Use it. Here it is:\nThe tax field was added.",
            "The tax field was added.",
        ),
        (
            (
                "The conversation history before this point was compacted into the following summary:\n\n<summary>\nShip it.\n\n## Done\n"
                "- tax\n</summary>"
            ),
            "Ship it.\n\n## Done\n- tax",
        ),
    ],
)
def test_another_tools_handoff_keeps_all_it_says_but_what_it_tells_its_reader(text: str, said: str):
    assert t.unframe(text) == (said, "")


def test_the_answers_of_a_long_conversation_take_no_more_than_their_share():
    ctx = Context(16_000, config={}, clock=lambda: 0.0)
    for n in range(200):
        answer = b.assistant(f"Job {n} waits for its turn behind the others. " * 3)
        for m in (b.user(f"State of job {n}?"), *read(n), answer):
            if m.role == "assistant":
                ctx.view()
            ctx.append(m.value)
    records = [e.record for e in ctx.epochs]
    rebuilt = sum(len(after.pages) <= len(before.pages) for before, after in pairwise(records))
    assert rebuilt <= 0.6 * len(records)  # a page that is full when it is rebuilt is rebuilt at every epoch
    assert "Reply: Job " in ctx.epochs[-1].handoff
