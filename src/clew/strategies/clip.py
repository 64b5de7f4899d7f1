"""The last resort at the wall: the largest texts of the tail keep their beginning and end, with a reference between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from clew.strategies.base import Edit, Scene
from clew.transcript import Part, Text, ToolResult, reference, text_address

_LEAST = 400  # characters a clipped text keeps at least


def to_fit(scene: Scene, room: int, edits: Sequence[Edit], message: Callable[[int], int]) -> Iterator[Edit]:
    """Edits that bring the span under `room` tokens, the largest texts first; as far as clipping can. `edits` are those
    it has already, `message` the tokens of a message without any.
    """
    already = {(e.message, e.part) for e in edits}
    texts: list[tuple[int, int, int, str]] = []
    total = sum(message(i) for i in range(scene.span.start, scene.span.end)) - sum(e.saved for e in edits)
    for i in range(scene.span.start, scene.span.end):
        for k, part in enumerate(scene.log[i].parts):
            if _clippable(part) and (i, k) not in already:
                text = _text(part)
                texts.append((scene.measure(text), i, k, text))
    for size, i, k, text in sorted(texts, key=lambda t: (-t[0], t[1], t[2])):
        if total <= room:
            return
        share = max(0.02, 1 - (total - room) / max(size, 1)) * 0.9
        clipped = clip(text, max(_LEAST, int(len(text) * share)), recall=scene.recall)
        after = scene.measure(clipped)
        if after < size:
            total -= size - after
            ref = reference(text_address(text))
            yield Edit(i, k, clipped, "larger than the window has room for", "clip", size, after, ref)


def clip(text: str, keep: int, *, recall: str = "") -> str:
    """About `keep` characters: the first two thirds and the last third of them."""
    if len(text) <= keep:
        return text
    head, tail = text[: keep * 2 // 3], text[len(text) - keep // 3 :]
    where = f"; {reference(text_address(text))}" if recall else ""
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters left out{where} …]\n{tail}"


def _clippable(part: Part) -> bool:
    return isinstance(part, Text) or (isinstance(part, ToolResult) and part.kind != "server")


def _text(part: Part) -> str:
    match part:
        case Text() | ToolResult():
            return part.text
        case _:
            return ""
