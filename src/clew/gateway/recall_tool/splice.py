"""Where the upstream's transcript and the client's differ: one answer of the client's, and what was really said there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_not

from clew import jsonio
from clew.gateway.align import essence
from clew.jsonio import Json
from clew.transcript import Message, Text
from clew.wire import Wire, get


@dataclass(frozen=True, slots=True)
class Mark:
    """What an answer is known by when the client sends it back: what came before it, its calls, else its words.

    Its thinking counts for nothing, nor does how it is cut into messages: clients drop the one and change the other.
    """

    before: str
    calls: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Splice:
    """`messages` are what the upstream saw in the place of the client's answer, `results` those of the gateway's calls
    in the last of them, which come before the client's own. Of answers that look alike it is the `nth`.
    """

    mark: Mark
    nth: int
    messages: tuple[Message, ...]
    results: tuple[Message, ...] = ()

    def body(self) -> Json:
        """As a store keeps it: messages as their text, so that they come back byte for byte."""
        return {
            "before": self.mark.before,
            "calls": list(self.mark.calls),
            "words": self.mark.words,
            "nth": self.nth,
            "messages": [m.raw.decode("utf-8", "surrogatepass") for m in self.messages],
            "results": [m.raw.decode("utf-8", "surrogatepass") for m in self.results],
        }


def from_body(body: Mapping[str, Json], wire: Wire) -> Splice:
    mark = Mark(body["before"], tuple(body["calls"]), body["words"])
    messages, results = (
        tuple(wire.message(m.encode("utf-8", "surrogatepass")) for m in body[k]) for k in ("messages", "results")
    )
    return Splice(mark, body["nth"], messages, results)


def mark_of(answer: Iterable[Message], before: Message | None) -> Mark | None:
    """What an answer is known by; None for one that says nothing."""
    calls: list[str] = []
    words: list[str] = []
    for m in answer:
        calls += [c.id for c in m.calls]
        words += [p.text for p in m.parts if isinstance(p, Text)]
    said = "".join("".join(words).split())
    if not calls and not said:
        return None
    told = "" if calls else jsonio.digest(said.encode("utf-8", "surrogatepass"))
    return Mark(essence(before) if before is not None else "", tuple(calls), told)


class Restorer:
    """Puts what was really said in the place of a client's answers. What it made of a message it makes once, so that the
    messages of two requests of one client are the same objects.
    """

    def __init__(self, wire: str) -> None:
        self._wire = get(wire)
        self._splices: dict[tuple[Mark, int], Splice] = {}
        self._marks: dict[int, tuple[tuple[Message, ...], Mark | None]] = {}
        self._merged: dict[int, tuple[Message, Message, Message]] = {}

    def __bool__(self) -> bool:
        return bool(self._splices)

    def add(self, splice: Splice) -> None:
        self._splices[splice.mark, splice.nth] = splice

    def number(self, messages: Sequence[Message], mark: Mark) -> int:
        """How many answers among a client's messages look like this one."""
        ends = ((at, _stretch(messages, at)) for at in range(len(messages)) if _begins(messages, at))
        return sum(self._mark(messages, at, end) == mark for at, end in ends)

    def restored(self, messages: Sequence[Message]) -> list[Message]:
        """The upstream's transcript of a client's."""
        out: list[Message] = []
        seen: Counter[Mark] = Counter()
        waiting: tuple[Message, ...] = ()
        at = 0
        while at < len(messages):
            if not _begins(messages, at):
                out += self._with(waiting, messages[at])
                waiting = ()
                at += 1
                continue
            end = _stretch(messages, at)
            mark = self._mark(messages, at, end)
            splice = self._splices.get((mark, seen[mark])) if mark is not None else None
            if mark is not None:
                seen[mark] += 1
            out += splice.messages if splice is not None else messages[at:end]
            waiting = splice.results if splice is not None else ()
            at = end
        return [*out, *waiting]

    def _mark(self, messages: Sequence[Message], at: int, end: int) -> Mark | None:
        before = messages[at - 1] if at else None
        looked = tuple(messages[max(0, at - 1) : end])
        held = self._marks.get(at)
        if held is None or len(held[0]) != len(looked) or any(map(is_not, held[0], looked)):
            held = self._marks[at] = looked, mark_of(messages[at:end], before)
        return held[1]

    def _with(self, results: tuple[Message, ...], message: Message) -> list[Message]:
        """Results and the message after them, one where the format has them in one."""
        if not results:
            return [message]
        if not self._wire.results_in_user or message.role != "user":
            return [*results, message]
        held = self._merged.get(id(results[0]))
        if held is None or held[1] is not message:
            made = message
            for r in reversed(results):
                made = self._wire.merge(r, made)
            held = self._merged[id(results[0])] = results[0], message, made
        return [held[2]]


def _begins(messages: Sequence[Message], at: int) -> bool:
    """Whether an answer begins here: messages of the assistant one after the other."""
    return messages[at].role == "assistant" and (at == 0 or messages[at - 1].role != "assistant")


def _stretch(messages: Sequence[Message], at: int) -> int:
    """Where the answer ends that begins here."""
    end = at
    while end < len(messages) and messages[end].role == "assistant":
        end += 1
    return end
