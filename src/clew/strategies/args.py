"""Large arguments of old calls, shrunk leaf by leaf: the JSON stays JSON, the numbers and short values stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

from clew import jsonio
from clew.jsonio import Json
from clew.strategies.base import Edit, Scene
from clew.transcript import ToolCall, reference, text_address

_HEAD = 200  # characters kept of a long string
_LARGE = 1_500  # characters of arguments worth looking at
_NEWEST = 3


def large(scene: Scene) -> Iterator[Edit]:
    """Calls before the newest messages whose arguments hold long strings."""
    return _shrunk_calls(scene, scene.span.end - _NEWEST)


def newest(scene: Scene) -> Iterator[Edit]:
    """The same for the newest messages too, at the wall."""
    return _shrunk_calls(scene, scene.span.end)


def _shrunk_calls(scene: Scene, end: int) -> Iterator[Edit]:
    for i in range(scene.span.start, end):
        for k, part in enumerate(scene.log[i].parts):
            if isinstance(part, ToolCall) and part.kind == "function" and len(part.arguments) > _LARGE:
                small = shrunk(part.arguments)
                if small != part.arguments:
                    before, after = scene.measure(part.arguments), scene.measure(small)
                    ref = reference(text_address(part.arguments))
                    yield Edit(i, k, small, "large arguments of an old call", "args", before, after, ref)


def shrunk(arguments: str) -> str:
    """The same JSON with long strings cut; what is not JSON passes as it is."""
    try:
        value = jsonio.loads(arguments)
    except ValueError:
        return arguments
    return jsonio.dumps(_shrink(value)).decode()


def _shrink(value: Json) -> Json:
    if isinstance(value, str) and len(value) > _HEAD + 60:
        return f"{value[:_HEAD]}… [{len(value) - _HEAD:,} characters left out]"
    if isinstance(value, dict):
        return {k: _shrink(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_shrink(v) for v in value]
    return value
