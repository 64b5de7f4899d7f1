"""Old results as one informative line each: what ran, how it ended, how much came back."""

from __future__ import annotations

from collections.abc import Iterator

from clew.ledger.tools import classify, one_line, unwrap
from clew.strategies.base import Edit, Scene
from clew.transcript import Place, ToolCall, ToolResult, reference, text_address

_LEAST = 200  # characters of a result worth a digest
_NEWEST = 3  # messages at the end that stay as they are


def old(scene: Scene) -> Iterator[Edit]:
    """Every larger result before the newest messages of the span."""
    for i in range(scene.span.start, max(scene.span.start, scene.span.end - _NEWEST)):
        for k, part in enumerate(scene.log[i].parts):
            if isinstance(part, ToolResult) and part.kind != "server" and len(part.text) > _LEAST:
                yield _digest(scene, Place(i, k), part)


def _digest(scene: Scene, place: Place, result: ToolResult) -> Edit:
    at = scene.log.call_of(place)
    call = scene.log.part(at) if at is not None else None
    ref = reference(text_address(result.text))
    text = line(call if isinstance(call, ToolCall) else None, result) + (f" {ref}" if scene.recall else "")
    before, after = scene.measure(result.text), scene.measure(text)
    return Edit(place.message, place.part, text, "an old result as one line", "digest", before, after, ref)


def line(call: ToolCall | None, result: ToolResult) -> str:
    """`[tool] what it did -> exit code, size`, from the unwrapped output."""
    output = unwrap(result)
    size = f"{output.lines} line{'s' if output.lines != 1 else ''}"
    if call is None:
        return f"[result] {size}"
    action = classify(call)
    code = f"exit {output.exit_code}, " if output.exit_code is not None else "failed, " if output.failed else ""
    target = one_line(action.target or call.name, 120)
    match action.kind:
        case "command":
            return f"[{call.name}] ran `{target}` -> {code}{size}"
        case "read":
            at = f" from line {action.lines[0]}" if action.lines[0] else ""
            return f"[{call.name}] read {target}{at} ({len(output.text):,} chars)"
        case "search":
            return f"[{call.name}] searched {target} -> {code}{size}"
        case _:
            return f"[{call.name}] {target} -> {code}{len(output.text):,} chars"
