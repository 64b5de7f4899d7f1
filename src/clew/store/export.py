"""Sessions for other programs: one JSON object a line. What a compaction made is marked, or left out, so that no handoff
becomes training data unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from clew import jsonio
from clew.jsonio import Json
from clew.store.base import Store
from clew.store.records import Session
from clew.transcript import Image, Message, Opaque, Reasoning, Text, ToolCall, ToolResult

SYNTHETIC = "synthetic"  # the key in a message's meta under which its maker says what it is: "handoff", say
MARK = "clew_synthetic"
_SUMMARY = "compact_summary"  # the key under which a client's file says that it is one

Mask = Callable[[str], str]


def noted(message: Message) -> str:
    """What its maker noted it as, and what a client's own file says is a summary; "" for what somebody said."""
    made = message.meta.get(SYNTHETIC)
    return str(made) if made else "summary" if message.meta.get(_SUMMARY) else ""


@dataclass(frozen=True, slots=True)
class Options:
    """`training` leaves out what a compaction made instead of marking it; `mask` goes over every string on its way out;
    `made` says what a message is that nobody said.
    """

    training: bool = False
    mask: Mask = str
    made: Callable[[Message], str] = noted


def export(store: Store, sessions: Iterable[str], format: str, options: Options | None = None) -> Iterator[bytes]:  # noqa: A002 - the word the command line uses
    """One line for each session, as `FORMATS` names them."""
    options = options or Options()
    write = FORMATS[format]
    for name in sessions:
        session = store.session(name)
        made = [(m.message, options.made(m.message)) for m in store.messages(name)]
        messages = [
            Message(m.role, m.parts, m.raw, m.wire, {**m.meta, SYNTHETIC: what} if what else m.meta)
            for m, what in made
            if not (what and options.training)
        ]
        yield jsonio.dumps(_masked(write(session, messages), options.mask))


def openai(session: Session, messages: list[Message]) -> Json:
    """`messages` as chat completions take them, and as fine-tuning does."""
    return {"id": session.id, "messages": [v for m in messages for v in _openai(m)]}


def anthropic(session: Session, messages: list[Message]) -> Json:
    """`system` and `messages` as the Messages API takes them."""
    system = [m.text for m in messages if m.role in ("system", "developer")]
    rest = [_anthropic(m) for m in messages if m.role not in ("system", "developer")]
    return {"id": session.id, "system": "\n\n".join(system), "messages": rest}


def sharegpt(session: Session, messages: list[Message]) -> Json:
    """A trajectory: who said what, calls and results as turns of their own."""
    return {"id": session.id, "conversations": [turn for m in messages for turn in _sharegpt(m)]}


FORMATS: Mapping[str, Callable[[Session, list[Message]], Json]] = {
    "openai": openai,
    "anthropic": anthropic,
    "sharegpt": sharegpt,
}


def _marked(value: dict[str, Json], message: Message) -> dict[str, Json]:
    made = message.meta.get(SYNTHETIC)
    return {**value, MARK: made} if made else value


def _openai(m: Message) -> list[dict[str, Json]]:
    if m.wire == "openai-chat":
        return [_marked(m.value, m)]
    out: list[dict[str, Json]] = [
        _marked({"role": "tool", "tool_call_id": r.call_id, "content": r.text}, m) for r in m.results
    ]
    said = [p for p in m.parts if not isinstance(p, ToolResult | ToolCall | Reasoning)]
    if said or m.calls or not out:
        content: Json = _words(said) if not any(isinstance(p, Image) for p in said) else [_openai_part(p) for p in said]
        value: dict[str, Json] = {"role": "user" if m.role == "tool" else m.role, "content": content}
        if m.calls:
            calls = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in m.calls
            ]
            value = {**value, "content": content or None, "tool_calls": calls}
        out.append(_marked(value, m))
    return out


def _openai_part(part: Text | Image | Opaque) -> Json:
    if isinstance(part, Image):
        return {"type": "image_url", "image_url": {"url": part.url or f"data:{part.media_type};base64,{part.data}"}}
    return {"type": "text", "text": part.text}


def _anthropic(m: Message) -> dict[str, Json]:
    if m.wire == "anthropic":
        return _marked(m.value, m)
    blocks: list[Json] = []
    for p in m.parts:
        if isinstance(p, ToolCall):
            blocks.append({"type": "tool_use", "id": p.id, "name": p.name, "input": p.input})
        elif isinstance(p, ToolResult):
            blocks.append({"type": "tool_result", "tool_use_id": p.call_id, "content": p.text, "is_error": p.is_error})
        elif isinstance(p, Image):
            source = (
                {"type": "url", "url": p.url}
                if p.url
                else {"type": "base64", "media_type": p.media_type, "data": p.data}
            )
            blocks.append({"type": "image", "source": source})
        elif not isinstance(p, Reasoning) and p.text:
            blocks.append({"type": "text", "text": p.text})
    return _marked({"role": "assistant" if m.role == "assistant" else "user", "content": blocks}, m)


def _sharegpt(m: Message) -> list[dict[str, Json]]:
    who = {"system": "system", "developer": "system", "assistant": "gpt"}.get(m.role, "human")
    said = _words([p for p in m.parts if isinstance(p, Text)])
    turns: list[dict[str, Json]] = [{"from": "tool", "value": r.text} for r in m.results]
    if said:
        turns.append({"from": who, "value": said})
    calls = [jsonio.dumps({"name": c.name, "arguments": c.input}).decode() for c in m.calls]
    turns += [{"from": "function_call", "value": c} for c in calls]
    return [_marked(t, m) for t in turns]


def _words(parts: Iterable[Text | Image | Opaque]) -> str:
    return "\n".join(p.text for p in parts if not isinstance(p, Image) and p.text)


def _masked(value: Json, mask: Mask) -> Json:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [_masked(v, mask) for v in value]
    if isinstance(value, dict):
        return {k: _masked(v, mask) for k, v in value.items()}
    return value
