"""The made session: repeatable, valid on the wire, and what it says it planted really stands there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clew import jsonio
from clew.errors import InputError
from clew.redact import find
from clew.testing.session import LONGEST, SHORTEST, Session, generate
from clew.tokens import Counter
from clew.wire import get
from clew.wire.problems import problems

CHAT = get("openai-chat")


def words(session: Session, position: int) -> str:
    """Everything a message says, arguments included."""
    message = CHAT.message(session.messages[position])
    return "\n".join([message.text, *(str(call.input) for call in message.calls)])


@pytest.mark.parametrize("turns", [SHORTEST, 12, 20, LONGEST])
@pytest.mark.parametrize("images", [False, True])
def test_it_is_valid_in_its_format(turns, images):
    session = generate(5, turns=turns, images=images)
    assert problems([CHAT.message(m) for m in session.messages], "openai-chat") == []
    assert sum(m["role"] == "user" for m in session.messages) >= turns


def test_twenty_turns_are_long():
    session = generate(1, turns=20)
    assert len(session.messages) >= 200
    long = generate(1, turns=40)
    assert Counter("gpt-o200k").messages([CHAT.message(m) for m in long.messages]) > 100_000


@pytest.mark.parametrize("seed", range(6))
def test_every_fact_stands_where_it_says(seed):
    session = generate(seed, turns=24)
    for fact in session.facts:
        assert fact.text in words(session, fact.message), fact
        assert fact.stands == (fact.changed_by is None)
        assert fact.changed_by is None or fact.message < fact.changed_by < len(session.messages)


def test_what_must_be_remembered_is_said_once():
    session = generate(2, turns=30)
    (constraint,) = session.standing("constraint")
    assert constraint.message == 1
    assert sum(constraint.text in words(session, n) for n in range(len(session.messages))) == 1
    assert [f.text for f in session.standing("budget")] == ["make it $500"]
    assert [f.text for f in session.overtaken("budget")] == ["the budget for geocoding is $800 a month"]
    (open_request,) = session.standing("request")
    assert open_request.name == "docs"
    assert not session.standing("error")
    assert any(f.name == "csv" for f in session.overtaken("request"))


def test_an_edit_shows_in_later_reads():
    session = generate(4, turns=20)
    budget = [n for n in range(len(session.messages)) if "monthly_usd: 500" in words(session, n)]
    changed = session.standing("budget")[0].message
    assert budget
    assert min(budget) > changed


def test_the_secrets_are_found_and_stand_in_no_source_file():
    session = generate(9, turns=10)
    for fact in session.standing("secret"):
        text = words(session, fact.message)
        assert any(fact.text in text[f.start : f.end] for f in find(text)), fact.name


def test_the_same_seed_gives_the_same_bytes_in_another_process():
    code = "from clew.testing.session import generate; from clew import jsonio; print(jsonio.digest(jsonio.dumps(generate(3, turns=16, images=True).messages)))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert other == jsonio.digest(jsonio.dumps(generate(3, turns=16, images=True).messages))
    assert generate(3, turns=16).messages != generate(4, turns=16).messages


@pytest.mark.parametrize("turns", [SHORTEST - 1, LONGEST + 1])
def test_lengths_that_cannot_be_made_are_refused(turns):
    with pytest.raises(InputError):
        generate(turns=turns)
