"""Pictures of earlier turns give way to a word: only the newest user turn that brought some keeps its own."""

from __future__ import annotations

from collections.abc import Iterator

from clew.strategies.base import Edit, Scene
from clew.transcript import Image, ToolResult, reference, text_address

_TOKENS = 1_600  # where the size isn't known


def historic(scene: Scene, newest: int = -1) -> Iterator[Edit]:
    """Every image before the newest user turn that holds one, which may be known already."""
    span = range(scene.span.start, scene.span.end)
    if newest < 0:
        newest = max((i for i in span if scene.log[i].is_user_turn and _pictured(scene, i)), default=scene.span.start)
    for i in span:
        if i >= newest:
            break
        for k, part in enumerate(scene.log[i].parts):
            text = "[an image that was shown here earlier]"
            if isinstance(part, Image):
                ref = reference(text_address(part.url))
                yield Edit(i, k, text, "an image of an earlier turn", "media", _TOKENS, scene.measure(text), ref)
            elif isinstance(part, ToolResult) and any(isinstance(p, Image) for p in part.parts):
                words = "\n".join(x for x in (part.text, text) if x)
                before = scene.measure(part.text) + _TOKENS * sum(isinstance(p, Image) for p in part.parts)
                yield Edit(i, k, words, "an image of an earlier turn", "media", before, scene.measure(words))


def _pictured(scene: Scene, i: int) -> bool:
    return any(isinstance(p, Image) for p in scene.log[i].parts)
