"""The one checker of protocol validity. It reads each message once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from clew import jsonio
from clew.catalog.model import Model, Quirks
from clew.transcript import Image, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from clew.wire.detect import ANTHROPIC, CHAT, RESPONSES, get
from clew.wire.pairing import Problem, anywhere, in_tool_messages, in_user_messages

# What a provider of this format insists on, where no model says otherwise.
DEFAULTS = {
    CHAT: Quirks(system_mid=True),
    RESPONSES: Quirks(system_mid=True, image_in_tool_result=True),
    ANTHROPIC: Quirks(first_user=True, system_mid=True, image_in_tool_result=True, call_id="[a-zA-Z0-9_-]+"),
}
_SYSTEM = ("system", "developer")
_INPUT_TEXT = re.compile(rb'"input"\s*:\s*"')


def problems(
    messages: Sequence[Message],
    wire: str,
    *,
    model: Model | Quirks | None = None,
    final: bool = True,
    continued: bool = False,
) -> list[Problem]:
    """Everything in `messages` that the provider would refuse, in order.

    `final` says that nothing follows, so that calls at the end without results count. `continued` says that a previous
    response (`previous_response_id`) comes before them.
    """
    name = get(wire).name
    quirks = model.quirks if isinstance(model, Model) else model or DEFAULTS[name]
    found = [p for n, m in enumerate(messages) for p in _of_message(m, n, name, quirks)]
    found += _turns(messages, name, quirks)
    if name == CHAT:
        found += in_tool_messages(messages, final=final)
    elif name == ANTHROPIC:
        found += in_user_messages(messages, final=final)
        found += _trailing_space(messages) if final else ()
    else:
        found += anywhere(messages, final=final, continued=continued)
        found += _lonely_reasoning(messages, final=final)
    return sorted(found, key=lambda p: (p.place, -1 if p.part is None else p.part))


def _of_message(m: Message, n: int, wire: str, quirks: Quirks) -> Iterator[Problem]:
    if m.role not in get(wire).roles:
        yield Problem(n, None, "unknown-role", f"{wire} has no role {m.role!r}")
    if _is_empty(m, wire):
        yield Problem(n, None, "empty-content", f"the {m.role} message has no content")
    as_object = wire != ANTHROPIC and bool(m.calls) and _holds_object(m.raw)
    as_text = _inputs_as_text(m) if wire == ANTHROPIC and m.calls else ()
    if wire == CHAT and _holds_empty_calls(m):
        yield Problem(n, None, "empty-calls", "`tool_calls` is an empty list: it is left out where nothing is called")
    if wire == RESPONSES and (wrong := _wrong_text(m)):
        yield Problem(n, None, "misplaced-text", f"a block of type {wrong} stands in a message of role {m.role}")
    for i, p in enumerate(m.parts):
        if isinstance(p, ToolCall):
            yield from _call(m, p, n, i, quirks)
            if p.kind == "function" and (as_object or i in as_text or not _parseable(p, wire)):
                kind = "a JSON object" if wire == ANTHROPIC else "JSON in a string"
                yield Problem(n, i, "bad-arguments", f"the arguments of {p.name!r} are not {kind}")
        elif isinstance(p, ToolResult):
            yield from _result(p, n, i, wire, quirks)
        elif isinstance(p, Image) and m.role not in ("user", "tool") and wire != RESPONSES:
            yield Problem(n, i, "misplaced-image", f"an image stands in a message of role {m.role}")
        elif wire == ANTHROPIC and isinstance(p, Text) and not p.text.strip():
            yield Problem(n, i, "empty-text", "a text block holds no words")
    if wire == ANTHROPIC:
        yield from _thinking(m, n)


def _is_empty(m: Message, wire: str) -> bool:
    if any(not isinstance(p, (Text, Opaque, Reasoning)) for p in m.parts):
        return False
    if wire == RESPONSES and any(isinstance(p, (Reasoning, Opaque)) for p in m.parts):
        return False
    if wire == ANTHROPIC:  # blank blocks are named one by one
        return not m.parts
    if m.role == "user" and m.parts:
        return False
    return not any(p.text for p in m.parts if isinstance(p, (Text, Opaque)))


def _call(m: Message, call: ToolCall, n: int, i: int, quirks: Quirks) -> Iterator[Problem]:
    if m.role != "assistant":
        yield Problem(n, i, "misplaced-call", f"a tool call stands in a message of role {m.role}")
    if not call.id:
        yield Problem(n, i, "missing-id", f"the call of {call.name!r} has no id")
    elif quirks.call_id and not re.fullmatch(quirks.call_id, call.id):
        yield Problem(n, i, "bad-id", f"the id {call.id!r} is not of the form {quirks.call_id}")
    if not call.name:
        yield Problem(n, i, "missing-name", "a call names no tool")


def _parseable(call: ToolCall, wire: str) -> bool:
    if wire == ANTHROPIC:
        return call.arguments.startswith("{")
    try:
        jsonio.loads(call.arguments or "{}")
    except ValueError:
        return False
    return True


def _holds_object(raw: bytes) -> bool:
    """Whether arguments stand as an object where the wire wants them as text."""
    mark = b'"arguments"'
    at = raw.find(mark)
    while at >= 0:
        at += len(mark)
        if raw[at : at + 40].lstrip(b" \t\r\n:")[:1] in (b"{", b"["):
            return True
        at = raw.find(mark, at)
    return False


def _inputs_as_text(m: Message) -> tuple[int, ...]:
    """The parts that are calls whose input is a string where the wire wants an object."""
    if b'"input"' not in m.raw or not _INPUT_TEXT.search(m.raw):
        return ()
    content = m.value.get("content")
    listed = content if isinstance(content, list) else []
    return tuple(i for i, b in enumerate(listed) if isinstance(b, dict) and isinstance(b.get("input"), str))


def _holds_empty_calls(m: Message) -> bool:
    return m.role == "assistant" and not m.calls and b'"tool_calls"' in m.raw and m.value.get("tool_calls") == []


def _wrong_text(m: Message) -> str:
    """The type of text that is not this role's: what users say is `input_text`, what the model says `output_text`."""
    wrong = "input_text" if m.role == "assistant" else "output_text"
    if m.role not in ("user", "assistant", "system", "developer") or wrong.encode() not in m.raw:
        return ""
    value = m.value
    content = value.get("content") if value.get("type", "message") == "message" else None
    listed = content if isinstance(content, list) else []
    return wrong if any(isinstance(b, dict) and b.get("type") == wrong for b in listed) else ""


def _result(result: ToolResult, n: int, i: int, wire: str, quirks: Quirks) -> Iterator[Problem]:
    if not result.call_id:
        yield Problem(n, i, "missing-id", "a result doesn't say which call it answers")
    if wire == RESPONSES or quirks.image_in_tool_result:
        return
    if any(isinstance(p, Image) for p in result.parts):
        yield Problem(
            n, i, "image-in-result", "a tool result holds an image, which this provider takes from users only"
        )


def _thinking(m: Message, n: int) -> Iterator[Problem]:
    led = isinstance(m.parts[0], Reasoning) if m.parts else False
    for i, p in enumerate(m.parts):
        if isinstance(p, Reasoning):
            if not led:
                yield Problem(n, i, "thinking-not-first", "a turn that holds thinking starts with it")
                led = True
            if not p.sealed:
                yield Problem(n, i, "unsigned-thinking", "a thinking block has no signature")


def _turns(messages: Sequence[Message], wire: str, quirks: Quirks) -> Iterator[Problem]:
    """Who may speak first, who after whom."""
    spoken = [(n, m) for n, m in enumerate(messages) if m.role not in _SYSTEM]
    if quirks.first_user and spoken and spoken[0][1].role != "user":
        n, m = spoken[0]
        yield Problem(n, None, "first-not-user", f"the first message is the user's, not of role {m.role}")
    if wire == ANTHROPIC and messages and messages[0].role == "system":
        yield Problem(0, None, "first-not-user", "a system message stands first: that is what `system` is for")
    if not quirks.system_mid:
        first = spoken[0][0] if spoken else len(messages)
        for n, m in enumerate(messages[first:], first):
            if m.role in _SYSTEM:
                yield Problem(n, None, "system-mid", "a system message stands after the conversation began")
    if quirks.alternation:
        for (_, before), (n, m) in pairwise(spoken):
            if before.role == m.role and m.role in ("user", "assistant"):
                yield Problem(n, None, "alternation", f"two messages of role {m.role} follow each other")


def _trailing_space(messages: Sequence[Message]) -> Iterator[Problem]:
    last: Part | None = messages[-1].parts[-1] if messages and messages[-1].parts else None
    if messages and messages[-1].role == "assistant" and isinstance(last, Text) and last.text[-1:].isspace():
        sentence = "the last message is the assistant's and ends in blanks"
        yield Problem(len(messages) - 1, len(messages[-1].parts) - 1, "trailing-space", sentence)


def _lonely_reasoning(messages: Sequence[Message], *, final: bool) -> Iterator[Problem]:
    """A reasoning item goes with the item that it led to."""
    for n, m in enumerate(messages):
        if not any(isinstance(p, Reasoning) for p in m.parts):
            continue
        alone = final if n + 1 == len(messages) else messages[n + 1].role != "assistant"
        if alone:
            yield Problem(n, 0, "reasoning-alone", "a reasoning item has lost the item that came of it")
