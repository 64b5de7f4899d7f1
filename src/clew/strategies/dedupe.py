"""The same result twice: at an epoch the newest stands; between epochs the new one points to the old, so no cache is lost."""

from __future__ import annotations

from collections.abc import Iterator

from clew.ledger.tools import classify, one_line
from clew.strategies.base import Edit, Scene
from clew.transcript import Place, ToolCall, ToolResult, reference, text_address

_LEAST = 200  # characters under which a repetition is shorter than a pointer to it


def older(scene: Scene) -> Iterator[Edit]:
    """Every result in the span that a later one repeats word for word."""
    newest: dict[str, Place] = {}
    for place, result in _results(scene, reverse=True):
        same = newest.setdefault(result.text, place)
        if same != place:
            text = f"[Same output as the later {_call(scene, same)}]"
            yield _edit(scene, place, result, text, "repeated later, word for word")


def newer(scene: Scene, position: int) -> Iterator[Edit]:
    """A result that repeats one still in view."""
    message = scene.log[position]
    if not any(len(r.text) >= _LEAST for r in message.results):
        return
    before = {r.text: p for p, r in _results(scene) if p.message < position}
    for k, part in enumerate(message.parts):
        if isinstance(part, ToolResult) and part.text in before:
            place = Place(position, k)
            text = f"[Same output as the earlier {_call(scene, before[part.text])}: nothing changed]"
            yield _edit(scene, place, part, text, "repeats a result that is in view")


def _results(scene: Scene, *, reverse: bool = False) -> Iterator[tuple[Place, ToolResult]]:
    span = range(scene.span.start, scene.span.end)
    for i in reversed(span) if reverse else span:
        for k, part in enumerate(scene.log[i].parts):
            # only words: two pictures with the same caption are not the same
            if isinstance(part, ToolResult) and len(part.text) >= _LEAST and _plain(part):
                yield Place(i, k), part


def _plain(result: ToolResult) -> bool:
    return result.kind != "server" and all(hasattr(p, "text") for p in result.parts)


def _call(scene: Scene, result: Place) -> str:
    at = scene.log.call_of(result)
    call = scene.log.part(at) if at is not None else None
    if not isinstance(call, ToolCall):
        return "result"
    return f"`{call.name} {one_line(classify(call).target, 80)}`".replace(" `", "`")


def _edit(scene: Scene, place: Place, result: ToolResult, text: str, reason: str) -> Edit:
    ref = reference(text_address(result.text))
    return Edit(place.message, place.part, text, reason, "dedupe", scene.measure(result.text), scene.measure(text), ref)
