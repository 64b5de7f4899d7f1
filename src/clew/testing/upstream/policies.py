"""Ways to decide what the upstream replies: a list, and exceptions to any policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clew.errors import InputError
from clew.testing.upstream.values import Answer, Ask, Policy, Reply, Say


def script(*turns: Answer | str, otherwise: Answer | None = None) -> Policy:
    """These answers in order; then `otherwise`, or an error that says the script is over. A string is a reply of it."""
    listed = [Reply((Say(t),)) if isinstance(t, str) else t for t in turns]

    def play(ask: Ask) -> Answer:
        if ask.number < len(listed):
            return listed[ask.number]
        if otherwise is None:
            raise InputError(f"the script has {len(listed)} turns and request {ask.number} came", hint="add turns")
        return otherwise

    return play


def on(policy: Policy, faults: Mapping[int, Answer | Callable[[Reply], Answer]]) -> Policy:
    """`policy`, with another answer to the requests of these numbers. A function is given the reply that would have
    been: `on(policy, {3: lambda reply: Cut(reply, events=2)})`.
    """

    def play(ask: Ask) -> Answer:
        fault = faults.get(ask.number)
        if fault is None:
            return policy(ask)
        if not callable(fault):
            return fault
        reply = policy(ask)
        assert isinstance(reply, Reply), "a fault is made of a plain reply"
        return fault(reply)

    return play
