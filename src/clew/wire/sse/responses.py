"""OpenAI Responses events into one response.

Its last event carries the whole response; the deltas matter only where that event never comes, or comes without output.
"""

from __future__ import annotations

from clew.jsonio import Json
from clew.wire.sse.base import grow, mapping, position, sequence, settled, text

_LAST = {"response.completed", "response.incomplete", "response.failed", "response.done"}
# Which field of its item, or of its item's part, a delta grows.
_ITEM_FIELD = {
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
    "response.code_interpreter_call_code.delta": "code",
}
_PART_FIELD = {
    "response.output_text.delta": ("content", "content_index", "output_text", "text"),
    "response.refusal.delta": ("content", "content_index", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "content_index", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_index", "summary_text", "text"),
}


class Responses:
    """Events in, one response out; output items stand in the order of their indexes."""

    def __init__(self) -> None:
        self.finished = False
        self.stop_reason = ""
        self.error: Json = None
        self.usage: Json = None
        self._response: dict[str, Json] = {}
        self._items: dict[int, dict[str, Json]] = {}
        self._whole: set[int] = set()

    def take(self, value: dict[str, Json], kind: str) -> None:
        kind = text(value.get("type")) or kind
        at = position(value.get("output_index"), len(self._items) - 1)
        if isinstance(value.get("response"), dict):
            self._response = {**self._response, **value["response"]}
        elif kind == "response.output_item.added":
            self._items[position(value.get("output_index"), len(self._items))] = dict(mapping(value.get("item")))
        elif kind == "response.output_item.done":
            at = position(value.get("output_index"), self._at_id(value) if self._items else 0)
            self._items[at] = mapping(value.get("item"))
            self._whole.add(at)
        elif at in self._whole or at < 0:
            pass  # its last word is known already
        elif kind in _ITEM_FIELD:
            grow(self._items.setdefault(at, {}), _ITEM_FIELD[kind], text(value.get("delta")))
        elif kind in _PART_FIELD:
            self._grow_part(at, value, *_PART_FIELD[kind])
        elif kind in {"response.output_text.annotation.added", "response.output_text_annotation.added"}:
            part = self._part(at, "content", position(value.get("content_index"), 0), "output_text")
            part["annotations"] = [*sequence(part.get("annotations")), value.get("annotation")]
        self.tail(value, kind)

    def tail(self, value: dict[str, Json], kind: str) -> None:
        kind = text(value.get("type")) or kind
        response = mapping(value.get("response"))
        if isinstance(response.get("usage"), dict):
            self.usage = response["usage"]
        if kind in _LAST:
            why = text(mapping(response.get("incomplete_details")).get("reason"))
            self.stop_reason = why or text(response.get("status"))
            self.error = response.get("error") if self.error is None else self.error
            self.finished = kind != "response.failed" and self.error is None
        elif kind == "error":
            self.error = value.get("error") or value
            self.finished = False

    def done(self) -> None:
        """Nothing: the last event says more."""

    def body(self) -> Json:
        return {**self._response, "output": self.values()}

    def values(self) -> list[Json]:
        told = sequence(self._response.get("output"))
        if told:
            return told
        return [settled(item) for _, item in sorted(self._items.items())]

    def _at_id(self, value: dict[str, Json]) -> int:
        wanted = mapping(value.get("item")).get("id")
        return next((at for at, item in self._items.items() if wanted and item.get("id") == wanted), len(self._items))

    def _part(self, at: int, where: str, index: int, kind: str) -> dict[str, Json]:
        parts = self._items.setdefault(at, {}).setdefault(where, [])
        if not isinstance(parts, list):
            parts = self._items[at][where] = []
        index = min(max(index, 0), len(parts))
        if index == len(parts):
            parts.append({"type": kind})
        if not isinstance(parts[index], dict):
            parts[index] = {"type": kind}
        part: dict[str, Json] = parts[index]
        return part

    def _grow_part(self, at: int, value: dict[str, Json], where: str, index_key: str, kind: str, field: str) -> None:
        part = self._part(at, where, position(value.get(index_key), 0), kind)
        grow(part, field, text(value.get("delta")))
