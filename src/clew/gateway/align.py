"""A request's messages laid beside those of the log: what is the same, what is new, where the client went another way.

Two messages are the same by what the model reads of them: call ids and arguments, results, words without what clients
put in and take out again (reminders, cache marks, thinking), however the content is spelt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew import jsonio
from clew.jsonio import Json
from clew.transcript import Image, Message, Opaque, Reasoning, Text, ToolCall, ToolResult

_VOLATILE = re.compile(r"<(system-reminder|environment_details|ide_\w+)>.*?</\1>", re.DOTALL)
_LEADING = "leading"  # system messages before the conversation may change and stay the same one


@dataclass(frozen=True, slots=True)
class Alignment:
    """`places` says for every message of the request at which position of the log it stands; what is new has the
    positions after its end; -1 is a message that the log doesn't hold and that needs no place, as it lies where a
    handoff stands. `fork` is the position where the two part, -1 where they don't.
    """

    places: Sequence[int]
    fork: int = -1

    @property
    def plain(self) -> bool:
        """Whether every message stands at its own number."""
        return isinstance(self.places, range)


def essence(message: Message, *, leading: bool = False) -> str:
    """What makes it the same message in another request."""
    if leading:
        return f"{_LEADING} {message.role}"
    parts: list[Json] = []
    for p in message.parts:
        match p:
            case ToolCall():
                parts.append(["call", p.id, p.name, p.arguments])
            case ToolResult():
                images = [_picture(i) for i in p.parts if isinstance(i, Image)]
                parts.append(["result", p.call_id, _words(p.text), images])
            case Text():
                if words := _words(p.text):
                    parts.append(["text", words])
            case Image():
                parts.append(["image", _picture(p)])
            case Opaque():
                parts.append([p.kind, p.text])
            case Reasoning():
                pass
    return jsonio.digest(jsonio.canonical([message.role, parts]))


def _picture(image: Image) -> str:
    return jsonio.digest((image.data or image.url).encode("utf-8", "surrogatepass"))


def essences(messages: Sequence[Message], known: Sequence[tuple[Message, str]] = ()) -> list[tuple[Message, str]]:
    """Each message with its essence; those of `known` at the same place are not looked at again."""
    n = 0
    for m, k in zip(messages, known, strict=False):
        if k[0] is not m:
            break
        n += 1
    out = list(known[:n])
    leading = all(m.role in ("system", "developer") for m in messages[:n])
    for i, m in enumerate(messages[n:], n):
        leading = leading and m.role in ("system", "developer")
        if i < len(known) and known[i][0] is m and known[i][1].startswith(_LEADING) == leading:
            out.append(known[i])
        else:
            out.append((m, essence(m, leading=leading)))
    return out


def align(log: Sequence[str], asked: Sequence[str], shown_from: int) -> Alignment:
    """Lay the essences of a request beside those of the log, of which the view shows the messages from `shown_from` on;
    those before stand in a handoff, so a change among them changes nothing.
    """
    same = _common(log, asked)
    if same == len(log):
        return Alignment(range(len(asked)))
    if same == len(asked) or same >= shown_from:
        return Alignment(range(same), same)
    behind = _behind(log, asked, shown_from, same)
    if behind < 0:
        return Alignment(range(same), same)
    shift = shown_from - behind
    return Alignment((*range(same), *[-1] * (behind - same), *range(shown_from, len(asked) + shift)))


def _behind(log: Sequence[str], asked: Sequence[str], shown_from: int, same: int) -> int:
    """Where in the request all that the view shows of the log stands in one piece, -1 where it doesn't."""
    tail = log[shown_from:]
    if not tail:
        return -1
    for at in range(len(asked) - len(tail), same - 1, -1):
        if asked[at] == tail[0] and list(asked[at : at + len(tail)]) == list(tail):
            return at
    return -1


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    n = min(len(a), len(b))
    if a[:n] == b[:n]:
        return n
    return next((i for i in range(n) if a[i] != b[i]), n)


def _words(text: str) -> str:
    if "<" in text:
        text = _VOLATILE.sub("", text)
    return " ".join(text.split())
