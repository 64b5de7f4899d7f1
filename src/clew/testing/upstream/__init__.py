"""A provider on loopback that plays a script and is as strict as the real ones.

It speaks Chat Completions, Responses and Messages, streaming and not; refuses what each provider refuses, in its
words; counts tokens; keeps a prefix cache and reports usage out of it; and fails on demand. Needs the extra `gateway`.

    with running(Upstream(script(Reply((Say("hello"),))))) as upstream:
        ...    # point a client at upstream.url
    assert not upstream.refused
"""

from __future__ import annotations

from clew.testing.upstream.errand import Errand
from clew.testing.upstream.policies import on, script
from clew.testing.upstream.server import Upstream
from clew.testing.upstream.thread import running
from clew.testing.upstream.values import (
    Answer,
    Ask,
    Call,
    Cut,
    HangUp,
    Lie,
    MidError,
    Nonsense,
    Policy,
    Record,
    Refuse,
    Reply,
    Say,
    Slow,
    Think,
    Usage,
)

__all__ = [
    "Answer",
    "Ask",
    "Call",
    "Cut",
    "Errand",
    "HangUp",
    "Lie",
    "MidError",
    "Nonsense",
    "Policy",
    "Record",
    "Refuse",
    "Reply",
    "Say",
    "Slow",
    "Think",
    "Upstream",
    "Usage",
    "on",
    "running",
    "script",
]
