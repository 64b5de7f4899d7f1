"""Anthropic's stream of content blocks into one message."""

from __future__ import annotations

from clew import jsonio
from clew.jsonio import Json
from clew.wire import usage
from clew.wire.sse.base import Growing, grow, mapping, position, settled, text


class Messages:
    """Events in, one message out: text, tool inputs, thinking with its signature, citations, server tools."""

    def __init__(self) -> None:
        self.finished = False
        self.stop_reason = ""
        self.error: Json = None
        self.usage: Json = None
        self._message: dict[str, Json] = {}
        self._blocks: dict[int, dict[str, Json]] = {}
        self._inputs: dict[int, Growing] = {}

    def take(self, value: dict[str, Json], kind: str) -> None:
        match value.get("type", kind):
            case "message_start":
                self._message = dict(mapping(value.get("message")))
            case "content_block_start":
                self._blocks[position(value.get("index"), len(self._blocks))] = dict(
                    mapping(value.get("content_block"))
                )
            case "content_block_delta":
                at = position(value.get("index"), len(self._blocks) - 1)
                self._grow(at, mapping(value.get("delta")))
            case "content_block_stop":
                self._settle(position(value.get("index"), -1))
            case "message_delta":
                for key, v in {**mapping(value.get("delta")), **value}.items():
                    if key not in {"type", "delta", "usage"} and (v is not None or key not in self._message):
                        self._message[key] = v
        self.tail(value, kind)

    def tail(self, value: dict[str, Json], kind: str) -> None:
        match value.get("type", kind):
            case "message_start":
                self.usage = usage.merged(self.usage, mapping(value.get("message")).get("usage"))
            case "message_delta":
                self.usage = usage.merged(self.usage, value.get("usage"))
                self.stop_reason = text(mapping(value.get("delta")).get("stop_reason")) or self.stop_reason
            case "message_stop":
                self.finished = self.error is None
            case "error":
                self.error = value.get("error") or value
                self.finished = False

    def done(self) -> None:
        """Anthropic has no such word; a proxy that adds it adds nothing."""

    def body(self) -> Json:
        told = {} if self.usage is None else {"usage": self.usage}
        return {**self._message, "content": self._content(), **told}

    def values(self) -> list[Json]:
        return [{"role": self._message.get("role", "assistant"), "content": self._content()}] if self._blocks else []

    def _content(self) -> list[Json]:
        for at in list(self._inputs):
            self._settle(at, cut=True)
        return [settled(block) for _, block in sorted(self._blocks.items())]

    def _grow(self, at: int, delta: dict[str, Json]) -> None:
        block = self._blocks.setdefault(at, {"type": text(delta.get("type")).removesuffix("_delta")})
        match delta.get("type"):
            case "input_json_delta":
                self._inputs.setdefault(at, Growing()).add(text(delta.get("partial_json")))
            case "citations_delta":
                if not isinstance(block.get("citations"), list):
                    block["citations"] = []
                block["citations"].append(delta.get("citation"))
            case _:
                for key, v in delta.items():
                    if key == "type":
                        continue
                    if isinstance(v, str):
                        grow(block, key, v)
                    elif v is not None:
                        block[key] = v

    def _settle(self, at: int, *, cut: bool = False) -> None:
        """The tool input, once its last piece came. One that was cut off stays as it began: no half call is made up."""
        growing = self._inputs.get(at)
        if growing is None:
            return
        written = str(growing)
        try:
            self._blocks[at]["input"] = jsonio.loads(written) if written else self._blocks[at].get("input", {})
        except ValueError:
            if not cut:
                self._blocks[at]["input"] = {"INVALID_JSON": written}
        if not cut:
            del self._inputs[at]
