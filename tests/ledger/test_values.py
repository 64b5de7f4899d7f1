from __future__ import annotations

from tests.ledger.script import Talk


def values(talk: Talk) -> dict[str, str]:
    return {v.text: v.kind for v in talk.ledger().values}


def test_a_value_counts_when_it_is_seen_twice_or_passed_to_a_call():
    talk = Talk().user("My id is omar_smith_3817 and the gate is AB12CD.")
    assert values(talk) == {}
    talk.call("get_user", {"user_id": "omar_smith_3817"}, '{"reservations": ["AB12CD", "ZZ99XX"]}')
    assert values(talk) == {"omar_smith_3817": "id", "AB12CD": "code"}


def test_kinds():
    talk = Talk().user(
        "Deploy v1.2.3 to https://example.org/app on port 8443, costs $1,200, ask dev@example.org, set APP_TOKEN_NAME."
    )
    talk.agent("v1.2.3 goes to https://example.org/app, port 8443, $1,200, dev@example.org, APP_TOKEN_NAME.")
    assert values(talk) == {
        "v1.2.3": "version", "https://example.org/app": "url", "8443": "port", "$1,200": "amount", "dev@example.org": "email",
        "APP_TOKEN_NAME": "variable",
    }  # fmt: skip


def test_what_only_results_hold_has_no_name_yet():
    talk = Talk().ran("a", "commit 1a2b3c4d").ran("b", "commit 1a2b3c4d")
    assert values(talk) == {}
    assert values(talk.agent("The commit is 1a2b3c4d.")) == {"1a2b3c4d": "hash"}
