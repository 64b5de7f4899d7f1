"""Messages: content blocks, whose numbers go on from round to round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew import jsonio
from clew.gateway.recall_tool.join import Events, Whole, is_ours, stripped
from clew.jsonio import Json
from clew.wire.detect import ANTHROPIC


class AnthropicEvents(Events):
    """One `message_start`, the blocks of all rounds, one `message_delta`, one `message_stop`."""

    _next = 0  # the number of the client's next block

    def _begin(self) -> None:
        super()._begin()
        self._hidden: set[Json] = set()
        self._places: dict[Json, int] = {}

    def _event(self, raw: bytes, value: dict[str, Json]) -> bytes:
        kind, index = value.get("type"), value.get("index")
        index = index if isinstance(index, (int, str)) else None
        match kind:
            case "message_start":
                return raw if self.round == 1 else b""
            case "content_block_start":
                return self._block(raw, index, value)
            case "content_block_delta" | "content_block_stop":
                return b"" if index in self._hidden else self._placed(raw, index, value)
            case "message_delta":
                return self._delta(raw, value)
            case _:
                return raw

    def _block(self, raw: bytes, index: Json, value: dict[str, Json]) -> bytes:
        block = value.get("content_block")
        if is_ours(block, "tool_use"):
            self._hidden.add(index)
            self.touched = True
            return b""
        self.own = self.own or (isinstance(block, dict) and block.get("type") == "tool_use")
        self._places[index] = self._next
        self._next += 1
        return self._placed(raw, index, value)

    def _placed(self, raw: bytes, index: Json, value: dict[str, Json]) -> bytes:
        at = self._places.get(index, index)
        return raw if at == index else named(value | {"index": at})

    def _delta(self, raw: bytes, value: dict[str, Json]) -> bytes:
        given = value.get("delta")
        delta: dict[str, Json] = given if isinstance(given, dict) else {}
        if delta.get("stop_reason") is None:
            return raw
        self._ended = True
        if not self.touched:
            return raw
        called = bool(self._hidden) and delta["stop_reason"] == "tool_use" and not self.own
        self.goes_on = called and not self.last
        if self.goes_on:
            return b""
        if called:
            value = value | {"delta": delta | {"stop_reason": "end_turn"}}
        body = self._said.assembled().body
        return named(value | {"usage": self._used(body.get("usage") or {})})

    def failure(self, error: Json) -> bytes:
        return named({"type": "error", "error": error})


class AnthropicBody(Whole):
    def _values(self, body: Mapping[str, Json]) -> Sequence[Json]:
        content = body.get("content")
        return [{"role": "assistant", "content": content}] if isinstance(content, list) and content else []

    def _reason(self, body: Mapping[str, Json]) -> Json:
        return body.get("stop_reason")

    def _merged(self, bodies: Sequence[dict[str, Json]]) -> dict[str, Json]:
        content = [b for body in bodies for b in stripped(body, ANTHROPIC).get("content", ())]
        last = bodies[-1]
        out = {**last, "id": bodies[0].get("id"), "content": content, "usage": self._used(last.get("usage") or {})}
        if out.get("stop_reason") == "tool_use" and not self.own:
            out["stop_reason"] = "end_turn"
        return out


def named(value: dict[str, Json]) -> bytes:
    """An event with its type."""
    return b"event: " + str(value.get("type", "")).encode() + b"\ndata: " + jsonio.dumps(value) + b"\n\n"
