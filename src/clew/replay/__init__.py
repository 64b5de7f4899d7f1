"""A session played again, step by step, through a policy: what it would have cost, and what it would have forgotten."""

from __future__ import annotations

from clew.replay.policies import POLICIES, Policy, make
from clew.replay.run import Replay, Step, replay

__all__ = ["POLICIES", "Policy", "Replay", "Step", "make", "replay"]
