"""The public names are pinned: a change here is a change for everyone."""

from __future__ import annotations

import inspect

import pytest

import clew

NAMES = [
    "ClewError", "ClewWarning", "Compressed", "Context", "Edit", "Epoch", "Hit", "Ledger", "Receipt", "Refusal",
    "Reply", "Store", "UnknownReference", "WindowTooSmall", "compress", "open_store",
]  # fmt: skip


def test_the_public_names():
    assert sorted(clew.__all__) == NAMES
    assert len(clew.__all__) <= 20
    for name in NAMES:
        assert getattr(clew, name) is not None
    assert set(NAMES) <= set(dir(clew))


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Conext'"):
        clew.Conext


def test_the_names_of_context_that_users_rely_on():
    given = list(inspect.signature(clew.Context).parameters)
    assert given[:12] == [
        "window", "threshold", "model", "summarizer", "wire", "store", "session_id", "tools", "system", "max_output",
        "config", "clock",
    ]  # fmt: skip
    for name in (
        "append", "extend", "view", "aview", "request", "report", "compact", "recall", "search", "tools", "handle_call",
        "view_at", "undo", "edits", "receipts", "ledger", "status", "close", "__enter__", "__exit__",
    ):  # fmt: skip
        assert hasattr(clew.Context, name)
