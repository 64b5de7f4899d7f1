"""Clew as a policy of the continuity harness: `--policy bench/adapter.py:Clew`."""

from clew import Context


class Clew:
    name = "clew"

    def __init__(self, window=64_000, threshold=0.5, overhead=0):
        self.given = {
            "window": window,
            "threshold": threshold,
            "overhead": overhead,
            "config": {},
            "clock": lambda: 0.0,
        }

    def reset(self, _meta):
        self.context = Context(**self.given)

    def push(self, message):
        self.context.append(message)

    def view(self):
        return self.context.view()

    def cost(self):
        return 0, 0
