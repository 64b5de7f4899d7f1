"""The same result twice: at an epoch the newest stands; between epochs the new one points to the old, so no cache is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clew.ledger.tools import classify, one_line
from clew.strategies.base import Edit, Scene
from clew.transcript import Message, Place, ToolCall, ToolResult, reference, text_address

_LEAST = 200  # characters under which a repetition is shorter than a pointer to it


def older(scene: Scene) -> Iterator[Edit]:
    """Every result in the span that a later one repeats word for word."""
    newest: dict[str, Place] = {}
    for place, result in _results(scene):
        same = newest.setdefault(result.text, place)
        if same != place:
            text = f"[Same output as the later {_call(scene, same)}]"
            yield _edit(scene, place, result, text, "repeated later, word for word")


def newer(scene: Scene, position: int, earlier: Callable[[str], Place | None]) -> Iterator[Edit]:
    """A result that repeats one that the view holds in full, which `earlier` finds."""
    for place, part in repeatable(scene.log[position], position):
        before = earlier(part.text)
        if before is not None:
            text = f"[Same output as the earlier {_call(scene, before)}: nothing changed]"
            yield _edit(scene, place, part, text, "repeats a result that is in view")


def repeatable(message: Message, position: int) -> Iterator[tuple[Place, ToolResult]]:
    """The results of a message that are long enough, and only words: two pictures with one caption are not the same."""
    for k, part in enumerate(message.parts):
        if isinstance(part, ToolResult) and len(part.text) >= _LEAST and _plain(part):
            yield Place(position, k), part


def _results(scene: Scene) -> Iterator[tuple[Place, ToolResult]]:
    for i in range(scene.span.end - 1, scene.span.start - 1, -1):
        yield from repeatable(scene.log[i], i)


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
