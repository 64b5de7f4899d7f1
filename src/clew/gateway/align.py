"""A request's messages laid beside those of the log: what is the same, what is new, where the client went another way.

Two messages are the same by what the model reads of them: call ids and arguments, results, words without what clients
put in and take out again (reminders, cache marks, thinking), however the content is spelt. Whole messages that clients put
in and take out again are asides: system messages in the middle, users' turns of reminders alone, thinking alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_

from clew import jsonio
from clew.jsonio import Json
from clew.transcript import Image, Message, Opaque, Reasoning, Text, ToolCall, ToolResult

_VOLATILE = re.compile(r"<(system-reminder|environment_details|ide_\w+)>.*?</\1>", re.DOTALL)
_LEADING = "leading"  # system messages before the conversation may change and stay the same one
_ASIDE = "aside"
_RESULTS = "results"
_PICTURE = 4_000  # characters that a picture in a result counts for
_CLEARED = 0.5  # of a result's length, at most: what its client has shortened since


@dataclass(frozen=True, slots=True)
class Alignment:
    """`places` says for every message of the request at which position of the log it stands; what is new has the
    positions after its end; -1 is a message that the log doesn't hold and that needs no place, as it lies where a
    handoff stands. `dropped` are the log's asides that the client sends no more, `cleared` the results that it has
    shortened. `fork` is the position of the log where the two part, -1 where they don't, and `at` the message of the
    request that stands there.
    """

    places: Sequence[int]
    fork: int = -1
    at: int = 0
    dropped: frozenset[int] = frozenset()
    cleared: frozenset[int] = frozenset()

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
                parts.append(["result", p.call_id, words(p.text), images])
            case Text():
                if said := words(p.text):
                    parts.append(["text", said])
            case Image():
                parts.append(["image", _picture(p)])
            case Opaque():
                parts.append([p.kind, p.text])
            case Reasoning():
                pass
    digest = jsonio.digest(jsonio.canonical(parts))
    results = [p for p in message.parts if isinstance(p, ToolResult)]
    if results and len(results) == len(parts):  # nothing is said beside them
        ids = jsonio.digest(jsonio.canonical([r.call_id for r in results]))
        return f"{_RESULTS} {message.role} {digest} {ids} {sum(map(_length, results))}"
    return f"{_ASIDE if _is_aside(message, parts) else 'message'} {message.role} {digest}"


def _length(result: ToolResult) -> int:
    return len(result.text) + _PICTURE * sum(isinstance(i, Image) for i in result.parts)


def is_aside(essence: str) -> bool:
    """Whether it is of a message that a client may leave out later."""
    return essence.startswith(_ASIDE)


def _is_aside(message: Message, parts: Sequence[Json]) -> bool:
    if message.role in ("system", "developer"):
        return True
    reminders = message.role == "user" and all(isinstance(p, Text) for p in message.parts)
    thinking = message.role == "assistant" and all(isinstance(p, Reasoning) for p in message.parts)
    return not parts and bool(message.parts) and (reminders or thinking)


def _picture(image: Image) -> str:
    return jsonio.digest((image.data or image.url).encode("utf-8", "surrogatepass"))


def essences(messages: Sequence[Message], before: Sequence[Message] = (), known: Sequence[str] = ()) -> list[str]:
    """The essence of each; those of `before` at the same place, whose essences are `known`, are not looked at again."""
    n = len(before)
    if not all(map(is_, messages, before)) or len(messages) < n:
        n = next((i for i, (m, k) in enumerate(zip(messages, before, strict=False)) if m is not k), len(messages))
    out = list(known[:n])
    leading = all(e.startswith(_LEADING) for e in out)
    for i, m in enumerate(messages[n:], n):
        leading = leading and m.role in ("system", "developer")
        if i < len(before) and before[i] is m and known[i].startswith(_LEADING) == leading:
            out.append(known[i])
        else:
            out.append(essence(m, leading=leading))
    return out


def align(log: Sequence[str], asked: Sequence[str], shown_from: int) -> Alignment:
    """Lay the essences of a request beside those of the log, of which the view shows the messages from `shown_from` on;
    those before stand in a handoff, so a change among them changes nothing.
    """
    same = _common(log, asked)
    if same == len(log):
        return Alignment(range(len(asked)))
    walk = _Walk(log, asked, same, same)
    if walk.done:
        return _aligned((*range(same), *walk.places, *_new(log, asked, walk.at)), walk)
    before = (*range(same), *walk.places)
    if walk.at < len(asked) and walk.position < shown_from:
        behind = _behind(log, asked, shown_from, walk.at)
        if behind is not None:
            between = [-1] * (behind.began - walk.at)
            places = (*before, *between, *behind.places, *_new(log, asked, behind.at))
            return _aligned(places, walk, behind)
    return Alignment(before, walk.position, walk.at)


def _aligned(places: Sequence[int], *walks: _Walk) -> Alignment:
    return Alignment(
        places,
        dropped=frozenset(p for w in walks for p in w.dropped),
        cleared=frozenset(p for w in walks for p in w.cleared),
    )


class _Walk:
    """From a position of the log and a message of the request as far as the two agree, but for asides."""

    def __init__(self, log: Sequence[str], asked: Sequence[str], position: int, at: int) -> None:
        self.began = at
        self.places: list[int] = []
        self.dropped: list[int] = []
        self.cleared: list[int] = []
        end = next((i for i in range(len(log), position, -1) if not is_aside(log[i - 1])), position)
        while position < len(log):
            here = asked[at] if at < len(asked) else ""
            if log[position] != here and _cleared(log[position], here):
                self.cleared.append(position)
            elif log[position] != here:
                if at and (once := _once(log, position, asked[at - 1], here)):
                    self.dropped += range(position, position + once)
                    position += once
                    continue
                if not is_aside(log[position]):
                    break
                if position >= end or not _reworded(log[position], here):
                    self.dropped.append(position)
                    position += 1
                    continue
            self.places.append(position)
            position, at = position + 1, at + 1
        self.position, self.at, self.done = position, at, position == len(log)


def _reworded(one: str, other: str) -> bool:
    """Whether both are asides of the same role: one that says something else now, where it stood before."""
    return is_aside(other) and _role(one) == _role(other)


def _cleared(one: str, other: str) -> bool:
    """Whether both are results of the same calls, of which the client keeps a short word only."""
    if not (one.startswith(_RESULTS) and other.startswith(_RESULTS)):
        return False
    (*_, ids, size), (*_, its_ids, its_size) = one.split(" "), other.split(" ")
    return ids == its_ids and int(its_size) <= _CLEARED * int(size)


def _once(log: Sequence[str], position: int, before: str, here: str) -> int:
    """How many of the log's messages from a position on were there for one answer only, which stands in their place."""
    if _role(here) != "assistant" or _role(before) == "assistant":
        return 0
    end = position
    while end < len(log) and log[end] != here and (_role(log[end]) == "user" or is_aside(log[end])):
        end += 1
    return end - position if end == len(log) or log[end] == here else 0


def _role(essence: str) -> str:
    return essence.partition(" ")[2].partition(" ")[0]


def _new(log: Sequence[str], asked: Sequence[str], at: int) -> range:
    """The places of everything from a message of the request on, behind the log's end."""
    return range(len(log), len(log) + len(asked) - at)


def _behind(log: Sequence[str], asked: Sequence[str], shown_from: int, same: int) -> _Walk | None:
    """Where in the request all that the view shows of the log stands in one piece, None where it doesn't."""
    tail = log[shown_from:]
    first = {*tail[:1], *[e for e in tail if not is_aside(e)][:1]}
    for at in range(len(asked) - 1, same - 1, -1):
        if asked[at] in first and (walk := _Walk(log, asked, shown_from, at)).done:
            return walk
    return None


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    n = min(len(a), len(b))
    if a[:n] == b[:n]:
        return n
    return next((i for i in range(n) if a[i] != b[i]), n)


def words(text: str) -> str:
    """What is said in a text, without what clients put in and take out again."""
    if "<" in text:
        text = _VOLATILE.sub("", text)
    return " ".join(text.split())
