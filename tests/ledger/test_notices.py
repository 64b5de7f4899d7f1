"""What a client reports in a user's turn is no word of the user's."""

from __future__ import annotations

from clew import Context
from clew.ledger.notices import notice
from clew.testing import builders as b

REPORT = (
    "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n"
    '<summary>Agent "Check the parser" finished</summary>\n<result>The parser drops the last line.</result>\n'
    "<usage><tool_uses>6</tool_uses></usage>\n</task-notification>"
)


def test_a_report_is_its_summary_and_its_result():
    assert notice(REPORT) == 'Agent "Check the parser" finished: The parser drops the last line.'
    assert notice("<subagent_notification>{}</subagent_notification>") == "{}"


def test_a_users_own_words_are_none():
    assert notice("Why does <task-notification> appear in my log?") == ""
    assert notice(f"{REPORT}\nand now fix it") == ""


def test_the_record_names_a_report_by_its_first_words_and_does_not_call_it_the_users():
    long = REPORT.replace("last line.", "last line. " + "It reads one line too few in read_lines. " * 20)
    ctx = Context(6_000, config={}, clock=lambda: 0.0)
    opening = b.user("Review the parser, please. " + "Mind the edge cases. " * 5)
    for m in (opening, b.assistant("Two agents are at it."), b.user(long), b.assistant("One is back.")):
        ctx.append(m.value)
    for n in range(30):
        for m in (b.call(f"c{n}", "bash", {"command": f"cat part_{n}.py"}), b.result(f"c{n}", f"part {n}\n" * 60)):
            ctx.append(m.value)
        ctx.view()
    handoff = ctx.epochs[-1].handoff
    assert "Notice (first words of" in handoff
    assert 'Agent "Check the parser" finished: The parser drops' in handoff
    assert not any(line.startswith("User: <task") or "): <task" in line for line in handoff.split("\n"))
    assert "User: Review the parser" in handoff
