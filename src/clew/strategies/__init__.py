"""Plain functions that propose edits without a model. On arrival and at an epoch; each a file, each an idea."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew.strategies import args, clip, dedupe, digest, errors, media
from clew.strategies.base import Edit, Measure, Scene, Strategy
from clew.transcript import Place

__all__ = ["Edit", "Measure", "Scene", "Strategy", "at_epoch", "on_arrival"]

AT_EPOCH: tuple[Strategy, ...] = (dedupe.older, media.historic, errors.stale, args.large)
DIGEST_LEVEL, CLIP_LEVEL = 2, 3


def at_epoch(
    scene: Scene,
    *,
    size: Callable[[int], int],
    level: int = 0,
    room: int = 0,
    standing: Sequence[Edit] = (),
) -> list[Edit]:
    """Edits for the tail of a new epoch; what stands already stays, and the first strategy that has something for a part
    has it.

    From level 2 on old results become digests, at level 3 the largest parts are clipped until the tail fits `room`.
    `size` are the tokens of a message.
    """
    chosen: dict[tuple[int, int], Edit] = {(e.message, e.part): e for e in standing}
    wanted = (*AT_EPOCH, digest.old) if level >= DIGEST_LEVEL else AT_EPOCH
    for strategy in wanted:
        for e in strategy(scene):
            if e.saved > 0:
                chosen.setdefault((e.message, e.part), e)
    if level >= CLIP_LEVEL:
        for e in args.newest(scene):
            chosen.setdefault((e.message, e.part), e)
        for e in clip.to_fit(scene, room, tuple(chosen.values()), size):
            chosen[e.message, e.part] = e
    return [chosen[key] for key in sorted(chosen)]


def on_arrival(scene: Scene, position: int, earlier: Callable[[str], Place | None]) -> list[Edit]:
    """Edits for a message that was never sent: they cost no cache. `earlier` finds a result of these words that the view
    holds in full.
    """
    return [e for e in dedupe.newer(scene, position, earlier) if e.saved > 0]
