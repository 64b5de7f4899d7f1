"""Responses: output items, numbered from round to round as the events are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.gateway.recall_tool.anthropic import named
from clew.gateway.recall_tool.join import Events, Whole, is_ours
from clew.jsonio import Json
from clew.wire import get
from clew.wire.detect import RESPONSES

_OPENING = ("response.created", "response.queued", "response.in_progress")
_CLOSING = ("response.completed", "response.incomplete", "response.failed")
_SAME = ("id", "created_at")


class ResponsesEvents(Events):
    """One `response.created`, the items of all rounds, one `response.completed` that holds them all."""

    _number = 0  # of the client's next event
    _next = 0  # of the client's next item

    def __init__(self, wire: str, encoding: str) -> None:
        super().__init__(wire, encoding)
        self._items: list[Json] = []
        self._first: dict[str, Json] = {}

    def _begin(self) -> None:
        super()._begin()
        self._hidden: set[Json] = set()
        self._places: dict[Json, int] = {}

    def _event(self, raw: bytes, value: dict[str, Json]) -> bytes:
        kind = value.get("type")
        if kind in _OPENING:
            if self.round > 1:
                return b""
            response = value.get("response")
            self._first = response if isinstance(response, dict) else {}
            return self._numbered(raw, value)
        if kind in _CLOSING:
            return self._closed(raw, value)
        index = value.get("output_index")
        if not isinstance(index, int):
            return self._numbered(raw, value)
        if kind == "response.output_item.added":
            self._added(index, value.get("item"))
        if index in self._hidden:
            return b""
        if kind == "response.output_item.done":
            self._items.append(value.get("item"))
        at = self._places.get(index, index)
        return self._numbered(raw, value if at == index else value | {"output_index": at}, same=at == index)

    def _added(self, index: int, item: Json) -> None:
        if is_ours(item, "function_call"):
            self._hidden.add(index)
            self.touched = True
            return
        self.own = self.own or _is_clients(item)
        self._places[index] = self._next
        self._next += 1

    def _numbered(self, raw: bytes, value: dict[str, Json], *, same: bool = True) -> bytes:
        number = value.get("sequence_number")
        if not isinstance(number, int):
            return raw if same else named(value)
        at = self._number if self.touched else number
        self._number = at + 1
        return raw if same and at == number else named(value | {"sequence_number": at})

    def _closed(self, raw: bytes, value: dict[str, Json]) -> bytes:
        self._ended = True
        given = value.get("response")
        response: dict[str, Json] = given if isinstance(given, dict) else {}
        if not self.touched:
            return raw
        called = bool(self._hidden) and response.get("status") == "completed" and not self.own
        self.goes_on = called and not self.last
        if self.goes_on:
            return b""
        usage = response.get("usage")
        told = {"usage": self._used(usage)} if isinstance(usage, dict) else {}
        same = {k: self._first[k] for k in _SAME if k in self._first}
        return self._numbered(raw, value | {"response": response | same | told | {"output": self._items}}, same=False)

    def failure(self, error: Json) -> bytes:
        told = error if isinstance(error, dict) else {"message": str(error)}
        response = self._first | {
            "status": "failed",
            "error": {"code": told.get("code"), "message": told.get("message")},
        }
        return named({"type": "response.failed", "response": response, "sequence_number": self._number})


class ResponsesBody(Whole):
    def _values(self, body: Mapping[str, Json]) -> Sequence[Json]:
        output = body.get("output")
        return output if isinstance(output, list) else []

    def _reason(self, body: Mapping[str, Json]) -> Json:
        return body.get("status")

    def _merged(self, bodies: Sequence[dict[str, Json]]) -> dict[str, Json]:
        output = [i for b in bodies for i in b["output"] if not is_ours(i, "function_call")]
        last = bodies[-1]
        told = {"usage": self._used(last["usage"])} if isinstance(last.get("usage"), dict) else {}
        return {**last, **{k: bodies[0][k] for k in _SAME if k in bodies[0]}, "output": output, **told}


def _is_clients(item: Json) -> bool:
    """Whether the client is to run it."""
    if not isinstance(item, dict):
        return False
    return any(c.kind != "server" for c in get(RESPONSES).message(item).calls)
