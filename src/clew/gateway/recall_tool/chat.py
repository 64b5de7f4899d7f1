"""Chat Completions: chunks of one choice, under one id; the words of the rounds are one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew import jsonio
from clew.gateway.recall_tool.join import CALLING, Events, Whole, is_ours, stripped
from clew.jsonio import Json
from clew.wire.detect import CHAT

_SAME = ("id", "created", "model", "system_fingerprint")  # in every chunk of an answer
_GAP = "\n\n"  # between the words of two rounds
_GROWING = ("content", "reasoning_content", "reasoning")


class ChatEvents(Events):
    """The role once, the words and calls of all rounds, one finish reason, one `[DONE]`."""

    _spoke: frozenset[str] = frozenset()  # of which members the client has words of a round before
    _speaks: frozenset[str] = frozenset()
    _head: Mapping[str, Json] | None = None

    def _begin(self) -> None:
        super()._begin()
        self._hidden: set[Json] = set()
        self._places: dict[Json, int] = {}
        self._at: Json = None  # the call that a delta without an index belongs to
        self._spoke |= self._speaks
        self._speaks = frozenset()

    def _event(self, raw: bytes, value: dict[str, Json]) -> bytes:
        choices = value.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
        if choice is None:
            return self._beside(raw, value)
        if self._head is None:
            self._head = {k: value[k] for k in _SAME if k in value}
        given = choice.get("delta")
        delta: dict[str, Json] = dict(given) if isinstance(given, dict) else {}
        changed = self._calls(delta)
        if self.round > 1:
            changed = True
            delta.pop("role", None)
        for key in _GROWING:
            if isinstance(words := delta.get(key), str) and words and key not in self._speaks:
                self._speaks |= {key}
                if key in self._spoke:
                    delta[key] = f"{_GAP}{words}"
        reason = choice.get("finish_reason")
        if reason is not None:
            return self._finished(raw, value, choice, delta, reason)
        if not changed:
            return raw
        if not any(v not in (None, "") for v in delta.values()):
            return b""
        return self._chunk(value, choice | {"delta": delta})

    def _calls(self, delta: dict[str, Json]) -> bool:
        """Takes the gateway's calls out of a delta and numbers the others; whether that changed it."""
        calls = delta.get("tool_calls")
        if not isinstance(calls, list):
            return False
        left = []
        for c in calls:
            if not isinstance(c, dict):
                continue
            self._at = c.get("index", c.get("id") or self._at)
            if self._at not in self._hidden and self._at not in self._places:
                if is_ours(c.get("function"), None):
                    self._hidden.add(self._at)
                    self.touched = True
                else:
                    self.own = True
                    self._places[self._at] = len(self._places)
            if self._at not in self._hidden:
                left.append(c if "index" not in c else c | {"index": self._places[self._at]})
        if left == calls:
            return False
        delta.pop("tool_calls")
        if left:
            delta["tool_calls"] = left
        return True

    def _finished(
        self, raw: bytes, value: dict[str, Json], choice: dict[str, Json], delta: dict[str, Json], reason: Json
    ) -> bytes:
        self._ended = True
        if not self.touched:
            return raw
        called = bool(self._hidden) and reason in CALLING and not self.own
        self.goes_on = called and not self.last
        if self.goes_on:
            return b""
        if called:
            reason = "stop"
        return self._chunk(value, choice | {"delta": delta, "finish_reason": reason})

    def _beside(self, raw: bytes, value: dict[str, Json]) -> bytes:
        """`[DONE]`, the usage, an error: what belongs to no choice."""
        if not self.touched or not value or value.get("error") is not None:
            return raw
        return self._chunk(value, None)

    def _chunk(self, value: dict[str, Json], choice: dict[str, Json] | None) -> bytes:
        usage = value.get("usage")
        told = {"usage": self._used(usage)} if isinstance(usage, dict) else {}
        chosen = {"choices": [choice]} if choice is not None else {}
        return b"data: " + jsonio.dumps({**value, **(self._head or {}), **chosen, **told}) + b"\n\n"

    def failure(self, error: Json) -> bytes:
        return b"data: " + jsonio.dumps({"error": error}) + b"\n\n"


class ChatBody(Whole):
    def _values(self, body: Mapping[str, Json]) -> Sequence[Json]:
        message = _choice(body).get("message")
        return [{"role": "assistant", **message}] if isinstance(message, dict) else []

    def _reason(self, body: Mapping[str, Json]) -> Json:
        return _choice(body).get("finish_reason")

    def _merged(self, bodies: Sequence[dict[str, Json]]) -> dict[str, Json]:
        messages = [stripped(_choice(b)["message"], CHAT) for b in bodies]
        message = dict(messages[-1])
        for key in _GROWING:
            texts = [t for m in messages if isinstance(t := m.get(key), str) and t]
            if texts:
                message[key] = _GAP.join(texts)
        last = bodies[-1]
        reason = self._reason(last)
        choice = _choice(last) | {"message": message}
        if reason == "tool_calls" and not self.own:
            choice["finish_reason"] = "stop"
        told = {"usage": self._used(last["usage"])} if isinstance(last.get("usage"), dict) else {}
        return {**last, **{k: bodies[0][k] for k in _SAME if k in bodies[0]}, "choices": [choice], **told}


def _choice(body: Mapping[str, Json]) -> dict[str, Json]:
    choices = body.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
