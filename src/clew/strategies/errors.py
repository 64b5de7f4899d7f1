"""Failures that were overcome: once the same call has succeeded, the long text of its earlier failure is one line."""

from __future__ import annotations

from collections.abc import Iterator

from clew.ledger.tools import classify, one_line, unwrap
from clew.strategies.base import Edit, Scene
from clew.transcript import Place, ToolCall, ToolResult, reference, text_address

_LEAST = 400


def stale(scene: Scene) -> Iterator[Edit]:
    """Failed results in the span whose very call succeeded later in it."""
    succeeded: set[tuple[str, str]] = set()
    for i in range(scene.span.end - 1, scene.span.start - 1, -1):
        for k, part in enumerate(scene.log[i].parts):
            if not isinstance(part, ToolResult) or part.kind == "server":
                continue
            at = scene.log.call_of(Place(i, k))
            call = scene.log.part(at) if at is not None else None
            if not isinstance(call, ToolCall):
                continue
            key, output = (call.name, call.arguments), unwrap(part)
            if not output.failed:
                succeeded.add(key)
            elif key in succeeded and len(part.text) > _LEAST:
                text = f"[{call.name} {one_line(classify(call).target, 80)} failed here; the same call succeeded later]"
                before, after = scene.measure(part.text), scene.measure(text)
                ref = reference(text_address(part.text))
                yield Edit(i, k, text, "a failure that was overcome", "errors", before, after, ref)
