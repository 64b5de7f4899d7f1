"""When a lease is live: the one rule for every backend."""

from __future__ import annotations

_SKEW = 5.0


def live(expires: float, length: float, now: float) -> bool:
    """Whether a lease taken for `length` seconds still holds. One that seems to have more time left than it was given
    was taken before the clock was set back: it counts as expired, or it would be stuck for as long as the clock went
    back. Its holder, should it live, is kept out by the fence.
    """
    return now < expires and expires - now <= length + _SKEW
