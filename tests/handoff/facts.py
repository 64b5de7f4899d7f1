"""A ledger and the text that supports it, for tests of the check that need no transcript."""

from __future__ import annotations

from clew.handoff import check
from clew.ledger.facts import (
    Command,
    Constraint,
    Decision,
    ErrorFact,
    FileAction,
    FileFact,
    Ledger,
    Request,
    TestRun,
    Value,
    Workspace,
)
from clew.testing.model import record

REQUEST = "Please fix the failing cart tests, then tell me what you changed in the checkout."
OTHER = "Also write down how the discount is worked out."
RULE = "Never push to main."
OLD, NEW = "Keep the budget at $800.", "The budget is $500 now."
ERROR = "AssertionError: Decimal('3.10') != Decimal('3.14')"

LEDGER = Ledger(
    requests=(
        Request("What does cart.py do?", 0, "answered", "It adds up a cart."),
        Request(OTHER, 1),
        Request(REQUEST, 9),
    ),
    constraints=(
        Constraint(OLD, 1, topic="budget", superseded_by=5),
        Constraint(NEW, 5, topic="budget"),
        Constraint(RULE, 2),
    ),
    files=(
        FileFact("src/cart.py", (FileAction("read", 3, (1, 60)), FileAction("modified", 6, (40, 44)))),
        FileFact("/work/shop/src/tax.py", (FileAction("created", 7),)),
    ),
    commands=(
        Command("pytest -q tests/test_cart.py", 4, "bash", 1, "1 failed", failed=True, lines=12, result=5),
        Command("git status --short", 6, "bash", 0, "2 lines", lines=2, result=7),
        Command("pytest -q tests/test_cart.py", 8, "bash", 1, "1 failed", failed=True, lines=12, result=9),
    ),
    tests=(
        TestRun("pytest -q tests/test_cart.py", 4, passed=3, failed=3, failing=("test_a", "test_b", "test_total")),
        TestRun("pytest -q tests/test_cart.py", 8, passed=5, failed=1, failing=("test_total",)),
    ),
    errors=(ErrorFact(ERROR, 8, "pytest"), ErrorFact("ModuleNotFoundError: No module named 'yaml'", 3, "pip", 4)),
    decisions=(Decision("Use Decimal for prices.", 6, "floats drift"),),
    values=(Value("8123", 2, "port", "port"),),
    workspace=Workspace("/work/shop", "fix/cart", "a1b2c3d"),
)
SOURCE = f"""{REQUEST}
{OTHER}
{RULE} {OLD} {NEW} {ERROR}
What does cart.py do? It adds up a cart.
cat src/cart.py
src/cart.py src/tax.py /work/shop tests/test_cart.py
pytest -q tests/test_cart.py
git status --short
npm run build --workspace web
3 passed, 3 failed in 0.1s
FAILED test_total
5 passed, 1 failed in 0.2s
exit code: 1
on branch fix/cart at a1b2c3d4e5f6
listening on port 8123
Django 4.2.11 https://example.org/docs/cart
bash read_file edit_file
order ORD-10442 for $1,250.00
load_cart wrote 47 lines
Use Decimal for prices.
"""
PINNED = (REQUEST, OTHER, RULE, NEW, ERROR)


def verdict(reply: str | dict[str, str], **more) -> check.Verdict | check.Failure:
    text = reply if isinstance(reply, str) else record(reply)
    given = {"ledger": LEDGER, "source": SOURCE, "budget": 2_000, "finish": "stop", **more}
    return check.check(
        text, given.pop("ledger"), given.pop("source"), given.pop("budget"), given.pop("finish"), **given
    )


def passed(reply: str | dict[str, str], **more) -> check.Verdict:
    found = verdict(reply, **more)
    assert isinstance(found, check.Verdict), found
    return found
