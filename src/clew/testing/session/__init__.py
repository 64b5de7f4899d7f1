"""A long agent session that the project makes itself: realistic, repeatable, and with a list of what is in it.

session = generate(seed=1, turns=12)
session.messages    # OpenAI chat messages, system prompt first
session.standing("constraint", "budget")    # what must survive
"""

from __future__ import annotations

from clew.errors import InputError
from clew.testing.dice import Dice
from clew.testing.session import events
from clew.testing.session.code import DOMAINS, build
from clew.testing.session.script import TOOLS, Script
from clew.testing.session.tasks import BUGS, fix
from clew.testing.session.values import Fact, Session
from clew.testing.session.world import World

__all__ = ["Fact", "Session", "generate"]

SHORTEST = 8
LONGEST = len(DOMAINS) * len(BUGS)


def generate(seed: int = 1, *, turns: int = 20, images: bool = False) -> Session:
    """A session of so many user turns: about 200 messages and 100,000 tokens in 20.

    Whatever its length it holds a constraint and a preference said once at the start, a budget that is set and then
    changed, a port found by trial, secrets in an output, a request that is withdrawn, errors that are resolved, and a
    request that is still open at the end. The same arguments give the same bytes everywhere.
    """
    if not SHORTEST <= turns <= LONGEST:
        raise InputError(f"a session has {SHORTEST} to {LONGEST} turns, not {turns}", hint="choose another number")
    dice = Dice("session", seed)
    domains = tuple(dice.shuffled(DOMAINS)[: max(6, min(len(DOMAINS), turns // 2))])
    script = Script(dice, World(build(dice, domains)))
    todo = dice.shuffled([(domain, bug) for domain in domains for bug in BUGS])
    changed = max(6, turns * 3 // 5)
    for n in range(turns):
        if n == 1:
            events.budget(script, 800)
        elif n == 2:
            events.secret(script)
        elif n == 4:
            events.port(script)
        elif n == 5:
            events.withdrawal(script)
        elif n == changed:
            events.budget(script, 500, again=True)
        elif n == turns - 1:
            events.last(script)
        elif n % 9 == 7:
            events.commit(script, n // 9 + 1)
        elif n % 9 == 8:
            events.log_dive(script, n // 9 + 1)
        else:
            domain, bug = todo.pop()
            lead = events.opening(script) if n == 0 else ""
            image = events.screenshot(dice) if images and n % 3 == 0 else ""
            fix(script, domain, bug, lead=lead, extra=dice.between(0, 3), image=image)
    return Session(seed, script.messages, list(TOOLS), tuple(script.facts))
