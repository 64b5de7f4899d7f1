"""What a process does until it is killed, or as one of many: it tells on stdout what was acknowledged, and nothing else.

python -m tests.faults.store_worker ROLE FILE SEED [ARGUMENT…]
"""

from __future__ import annotations

import json
import random
import sys
import time

from clew.errors import Conflict, LeaseLost
from clew.lineage import Lineage, compacting
from clew.store import NewSession, Store, open_store
from clew.store.records import Epoch, Original
from clew.testing.builders import user
from clew.transcript import text_address

LEASE = 0.2


def say(*what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def text(name: str, position: int) -> str:
    return f"{name} says {position} " + "and so on " * (position * 7 % 40)


def work(store: Store, seed: int) -> None:
    """Appends, compacts, rotates, notes; for ever."""
    rng = random.Random(seed)
    name, position, number = f"w{seed}", 0, 0
    store.create(NewSession(name))
    say("created", name)
    while True:
        what = rng.random()
        if what < 0.6 or not position:
            count = rng.randint(1, 4)
            store.append(name, [user(text(name, position + i)) for i in range(count)], at=position)
            position += count
            say("appended", name, position)
        elif what < 0.75:
            original = f"original {name} {position}"
            store.add_originals(name, [Original(text_address(original), original)])
            say("original", name, original)
        elif what < 0.93:
            with compacting(store, name, LEASE) as held:
                epoch = Epoch(number + 1, store.chain(name, position - 1), position, {"cut": position})
                store.commit_epoch(name, epoch, held.lease if held else None)
                number += 1
                say("epoch", name, number, position)
        else:
            child = f"{name}r"
            late = [user(text(name, position))]
            Lineage(store).rotate(name, [user(text(child, 0))], unwritten=late, id=child)
            say("rotated", name, position + 1, child)
            name, position, number = child, 1, 0


def appender(store: Store, seed: int, count: int) -> None:
    name = f"p{seed}"
    store.create(NewSession(name))
    for n in range(count):
        store.append(name, [user(text(name, n))], at=n)
    say("done", name, count)


def committer(store: Store, seed: int, begin: float) -> None:
    """Waits for the given moment, takes the lease of "s", commits epoch 1."""
    time.sleep(max(0.0, begin - time.time()))
    with compacting(store, "s", 30) as held:
        if held is None:
            say("left", seed)
            return
        try:
            store.commit_epoch("s", Epoch(1, store.chain("s", 4), 5, {"by": seed}), held.lease)
        except (Conflict, LeaseLost) as e:
            say("refused", type(e).__name__)
        else:
            say("committed", seed)


def main() -> None:
    role, file, seed, *rest = sys.argv[1:]
    store = open_store(file)
    if role == "work":
        work(store, int(seed))
    elif role == "append":
        appender(store, int(seed), int(rest[0]))
    elif role == "commit":
        committer(store, int(seed), float(rest[0]))


if __name__ == "__main__":
    main()
