"""States, logs and drafts for tests of the pure machine: no driver, no clock but the numbers given."""

from __future__ import annotations

from clew.context.log import Log
from clew.engine.events import Appended, Asked, CompactRequested
from clew.engine.machine import step
from clew.engine.values import Limits, State
from clew.testing import builders as b
from clew.tokens import Counter
from clew.wire import get

WINDOW = 8_000


def limits(**more):
    return Limits(**{"window": WINDOW, "protect_first": 0, "protect_last": 4, **more})


def conversation(turns=30, *, words=120, ask="Fix the rounding in src/cart.py. Never touch the public API."):
    """One request, then calls with results that no two share."""
    out = [b.message({"role": "system", "content": "You are careful."}), b.user(ask)]
    for n in range(turns):
        out.append(b.call(f"c{n}", "bash", {"command": f"grep -n part_{n} src/cart.py"}))
        out.append(b.result(f"c{n}", " ".join(f"line_{n}_{k}" for k in range(words))))
    return out


def log_and_state(messages=None, **more):
    """A log of these messages, and the state that has seen them come."""
    log = Log(get("openai-chat"), Counter("gpt-o200k"), alternates=False)
    state = State(limits(**more))
    for m in conversation() if messages is None else messages:
        state, effects = step(state, Appended(log.append(m)))
        assert effects == ()
    return log, state


def asked(log, state, now=0.0):
    return step(state, Asked(log, now, "2026-01-01"))


def requested(log, state, now=0.0, **more):
    return step(state, CompactRequested(log, now, "2026-01-01", **more))
