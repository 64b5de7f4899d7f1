"""OpenAI Chat Completions chunks into one completion, and what those who speak its dialects do differently."""

from __future__ import annotations

from clew.jsonio import Json
from clew.wire import usage
from clew.wire.sse.base import grow, mapping, position, sequence, settled, text

# Strings that come in pieces. All others are said whole, and said again in every chunk by some providers.
_GROWING = frozenset({"content", "refusal", "reasoning", "reasoning_content", "text", "summary", "transcript", "data"})
_TOP = frozenset({"choices", "usage", "error"})


class _Choice:
    def __init__(self) -> None:
        self.message: dict[str, Json] = {}
        self.calls: list[dict[str, Json]] = []
        self._call_at: dict[int, int] = {}
        self.rest: dict[str, Json] = {}

    def take(self, delta: dict[str, Json]) -> None:
        for call in sequence(delta.get("tool_calls")):
            self._take_call(mapping(call))
        if isinstance(delta.get("function_call"), dict):
            _merge_function(self.message.setdefault("function_call", {}), delta["function_call"])
        for key, value in delta.items():
            if key not in {"tool_calls", "function_call"}:
                _merge(self.message, key, value)

    def _take_call(self, delta: dict[str, Json]) -> None:
        at = position(delta.get("index"), -1)
        known = self._call_at.get(at)
        new_id = text(delta.get("id"))
        if at < 0 and known is None and self.calls and not new_id:
            known = len(self.calls) - 1
        current = self.calls[known] if known is not None else None
        if current is None or (new_id and text(current.get("id")) not in {"", new_id}):
            # Some providers give every parallel call the same index, or none: then a new id is a new call.
            self._call_at[at] = len(self.calls)
            current = {}
            self.calls.append(current)
        for key, value in delta.items():
            if key == "function":
                _merge_function(current.setdefault("function", {}), mapping(value))
            elif key == "custom":
                _merge_function(current.setdefault("custom", {}), mapping(value))
            elif key != "index" and (value or key not in current):
                current[key] = value

    def value(self) -> dict[str, Json]:
        message: dict[str, Json] = settled(self.message)
        message.setdefault("content", None)
        if self.calls:
            message["tool_calls"] = settled(self.calls)
            message["content"] = message["content"] or None
        return message


class Chat:
    """Chunks in, one `chat.completion` out; with `n` over 1, all its choices."""

    def __init__(self) -> None:
        self.finished = False
        self.stop_reason = ""
        self.error: Json = None
        self.usage: Json = None
        self._head: dict[str, Json] = {}
        self._choices: dict[int, _Choice] = {}
        self._reasons: dict[int, Json] = {}

    def take(self, value: dict[str, Json], kind: str) -> None:
        for key, v in value.items():
            if key not in _TOP and (v is not None or key not in self._head):
                self._head[key] = v
        for i, c in enumerate(sequence(value.get("choices"))):
            choice = self._choice(position(mapping(c).get("index"), i))
            choice.take(mapping(mapping(c).get("delta")))
            for key, v in mapping(c).items():
                if key not in {"delta", "index", "finish_reason"}:
                    _merge(choice.rest, key, v)
        self.tail(value, kind)

    def tail(self, value: dict[str, Json], kind: str) -> None:
        for i, c in enumerate(sequence(value.get("choices"))):
            at = position(mapping(c).get("index"), i)
            reason = mapping(c).get("finish_reason")
            if reason is not None or at not in self._reasons:
                self._reasons[at] = reason
            if isinstance(mapping(c).get("usage"), dict):  # Moonshot tells it inside the choice
                self.usage = usage.merged(self.usage, mapping(c)["usage"])
        self.usage = usage.merged(self.usage, value.get("usage"))
        if value.get("error") is not None or kind == "error":
            self.error = value.get("error") or value
        first = self._reasons.get(min(self._reasons)) if self._reasons else None
        self.stop_reason = text(first)
        self.finished = self.error is None and bool(self._reasons) and None not in self._reasons.values()

    def done(self) -> None:
        self.finished = self.error is None and bool(self._reasons)

    def body(self) -> Json:
        choices = []
        for at, choice in sorted(self._choices.items()):
            rest = settled(choice.rest)
            rest.pop("usage", None)
            choices.append(
                {"index": at, "message": choice.value(), **rest, "finish_reason": self._reasons.get(at)},
            )
        told = {} if self.usage is None else {"usage": self.usage}
        head = {**self._head, "object": "chat.completion"} if "object" in self._head else self._head
        return {**head, "choices": choices, **told}

    def values(self) -> list[Json]:
        return [choice.value() for _, choice in sorted(self._choices.items())]

    def _choice(self, at: int) -> _Choice:
        return self._choices.setdefault(at, _Choice())


def _merge_function(into: dict[str, Json], delta: dict[str, Json]) -> None:
    for key, value in delta.items():
        if key in {"arguments", "input"} and isinstance(value, str):
            grow(into, key, value)
        elif key == "name" and isinstance(value, str) and isinstance(into.get("name"), str):
            if value != into["name"]:
                into["name"] += value
        elif value is not None or key not in into:
            into[key] = value


def _merge(into: dict[str, Json], key: str, value: Json) -> None:
    if value is None:
        into.setdefault(key, None)
    elif isinstance(value, str) and key in _GROWING:
        grow(into, key, value)
    elif isinstance(value, list) and isinstance(into.get(key), list):
        for item in value:
            _merge_item(into[key], item)
    elif isinstance(value, list):
        into[key] = []
        for item in value:
            _merge_item(into[key], item)
    elif isinstance(value, dict) and isinstance(into.get(key), dict):
        for k, v in value.items():
            if isinstance(v, list) and isinstance(into[key].get(k), list):
                into[key][k].extend(v)  # log probabilities, token by token
            elif isinstance(v, str) and k in _GROWING:
                grow(into[key], k, v)
            elif v is not None or k not in into[key]:
                into[key][k] = v
    else:
        into[key] = dict(value) if isinstance(value, dict) else value


def _merge_item(items: list[Json], item: Json) -> None:
    """A list item with an `index` goes on where one of the same index and type stands; others are new."""
    if isinstance(item, dict) and "index" in item:
        for known in items:
            if (
                isinstance(known, dict)
                and known.get("index") == item["index"]
                and known.get("type") == item.get("type")
            ):
                for k, v in item.items():
                    if isinstance(v, str) and k in _GROWING:
                        grow(known, k, v)
                    elif v is not None:
                        known[k] = v
                return
    items.append({**item} if isinstance(item, dict) else item)
