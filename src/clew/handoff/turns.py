"""The turns as a summariser reads them: originals with a label each, secrets out, long ones cut in the open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from clew.handoff.template import unframe
from clew.handoff.wording import MEDIA
from clew.ledger.foreign import recognise
from clew.ledger.names import spoken
from clew.ledger.requests import spoken_by_user
from clew.redact import redact
from clew.transcript import Image, Message, Opaque, Reasoning, Span, Text, ToolCall, ToolResult, Transcript

RESULT, RESULT_HEAD, RESULT_TAIL = 6_000, 4_000, 1_500
ARGUMENTS, ARGUMENTS_HEAD = 1_500, 1_200
_LABEL = 60  # characters; a longer first line is a turn's own text

_INLINE_MEDIA = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=\s]{40,}")
_MEDIA_KINDS = re.compile(r"image|audio|video|file|document|media", re.IGNORECASE)


def labelled(log: Transcript, span: Span) -> list[str]:
    """The turns of a span, one text each; what another compaction left there is no turn and comes from `handed_on`."""
    return [text for i in range(span.start, span.end) if (text := _turn(log[i]))]


def handed_on(log: Transcript, span: Span) -> str:
    """The newest handoff that stands in the span as a message, whoever wrote it; "" where there is none."""
    for i in range(span.end - 1, span.start - 1, -1):
        text = log[i].text
        if not log[i].results and recognise(text) is not None:
            return redact(unframe(text)[0], force=True)
    return ""


def _turn(message: Message) -> str:
    if message.is_user_turn:
        return "\n".join(x for x in (_user(message), *_parts(message, results_only=True)) if x)
    return "\n".join(_parts(message, results_only=False))


def _user(message: Message) -> str:
    own = message.text if not message.results else spoken_by_user(message)
    text = unframe(own)[1] if recognise(own) is not None else spoken_by_user(message)
    media = sum(_is_media(p) for p in message.parts)
    body = "\n".join(x for x in (clean(text), *[MEDIA] * media) if x)
    return f"[USER]\n{body}" if body else ""


def _parts(message: Message, *, results_only: bool) -> Iterable[str]:
    who = {"assistant": "ASSISTANT", "tool": "TOOL RESULT"}.get(message.role, message.role.upper())
    for part in message.parts:
        if isinstance(part, ToolResult):
            text = cut(clean(part.text), RESULT, RESULT_HEAD, RESULT_TAIL)
            body = "\n".join([x for x in (text,) if x] + [MEDIA for p in part.parts if _is_media(p)])
            yield f"[TOOL RESULT {part.call_id}]{' (failed)' if part.is_error else ''}\n{body or '(no output)'}"
        elif results_only or isinstance(part, Reasoning):
            continue
        elif isinstance(part, ToolCall):
            values = clean(spoken(part).removeprefix(f"{part.name} "))
            yield f"[TOOL CALL {part.name}] {cut(values, ARGUMENTS, ARGUMENTS_HEAD, 0)}"
        elif isinstance(part, Text):
            if part.text.strip():
                yield f"[{who}]\n{clean(part.text)}"
        elif _is_media(part):
            yield f"[{who}]\n{MEDIA}"


def _is_media(part: object) -> bool:
    return isinstance(part, Image) or (isinstance(part, Opaque) and _MEDIA_KINDS.search(part.kind) is not None)


def clean(text: str) -> str:
    """A text as it may be sent: no credentials, no inline media. Before anything is cut, since half a credential
    is none that a pattern knows.
    """
    return redact(_INLINE_MEDIA.sub(MEDIA, text), force=True).strip()


def cut(text: str, limit: int, head: int, tail: int) -> str:
    """The text, or its head and tail where it is over the limit, saying how much is left out."""
    if len(text) <= limit:
        return text
    gone = len(text) - head - tail
    return f"{text[:head]}\n[… {gone:,} characters left out …]\n{text[len(text) - tail :] if tail else ''}".rstrip()


def packed(turns: Iterable[str], room: int, measure: Callable[[str], int]) -> list[list[str]]:
    """The turns in groups of at most `room` tokens, in order; a longer one is divided, so that nothing is left out."""
    groups: list[list[str]] = [[]]
    used = 0
    for turn in turns:
        for piece in _divided(turn, room, measure):
            cost = measure(piece) + 2
            if groups[-1] and used + cost > room:
                groups.append([])
                used = 0
            groups[-1].append(piece)
            used += cost
    return groups if groups[0] else []


def _divided(turn: str, room: int, measure: Callable[[str], int]) -> Iterable[str]:
    if measure(turn) + 2 <= room or len(turn) < 2 * _LABEL:
        yield turn
        return
    label, _, body = turn.partition("\n")
    if not body or len(label) > _LABEL:
        label, body = "[CONTINUED]", turn
    half = len(body) // 2
    at = max(body.rfind("\n", 0, half), 0) or half
    yield from _divided(f"{label}\n{body[:at]}", room, measure)
    again = label if label.endswith("(continued)") else f"{label} (continued)"
    yield from _divided(f"{again}\n{body[at:].lstrip(chr(10))}", room, measure)
