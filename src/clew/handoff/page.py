"""A page of the record, message by message: what was asked, what was done, and what of it is quoted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from clew.handoff.actions import action_line, action_name, shortened
from clew.handoff.excerpts import Seen, excerpts
from clew.handoff.focus import NO_FOCUS, Focus
from clew.handoff.template import unframe
from clew.ledger.facts import Decision, Request
from clew.ledger.foreign import recognise
from clew.ledger.names import Names, names_in
from clew.ledger.notices import notice
from clew.ledger.requests import spoken_by_user
from clew.ledger.tools import one_line
from clew.strategies.clip import clip
from clew.transcript import Place, ToolCall, ToolResult, Transcript, reference

Measure: TypeAlias = Callable[[str], int]

_REPLY = 240  # characters of an answer to the user
_ANSWERED = 120  # the same where a page repeats an older question
_SHORTENED = 320


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens: of the pages together before they are rebuilt, of a rebuilt one, of users' words kept verbatim, and of what
    stands after the pages.
    """

    cap: int
    rebuilt: int
    user_each: int
    user_all: int
    closing: int = 640
    rate: float = 0.12  # of the leaving turns, for names
    least: int = 300

    @classmethod
    def of(cls, soft: int, scale: float = 1.0, most: int = 0) -> Budget:
        """In proportion to the room there is, to an upper bound: what stays is read again at every request. `most` is what
        the user wants the whole handoff to take at most.
        """
        if most:
            scale *= most / (0.47 * min(soft, 42_000) + 0.02 * min(soft, 34_000))
        room = min(soft, 42_000) * scale
        # A larger room has fewer epochs, each further from what it compacts: a page then holds a little more.
        rate = 0.12 * min(max((soft / 32_000) ** 0.6, 1.0), 1.5) * min(scale, 1.0)
        closing = int(0.02 * min(soft, 34_000) * scale)
        return cls(int(0.47 * room), int(0.2 * room), int(0.037 * room), int(0.18 * room), closing, rate)


@dataclass(frozen=True)
class Source:
    """What a record is written from."""

    log: Transcript
    names: Names
    size: Callable[[int], int]
    measure: Measure
    recall: str = ""
    decisions: tuple[Decision, ...] = ()  # by position
    focus: Focus = NO_FOCUS
    requests: tuple[Request, ...] = ()

    @cached_property
    def decided(self) -> Mapping[int, Sequence[Decision]]:
        """The decisions by message."""
        found: dict[int, list[Decision]] = {}
        for d in self.decisions:
            found.setdefault(d.source, []).append(d)
        return found

    @cached_property
    def answers(self) -> Mapping[int, Request]:
        """The answered requests by message."""
        return {r.source: r for r in self.requests if r.status == "answered" and r.answer}

    def answer(self, request: Request) -> str:
        """The answer's first words on a line, without what stands as decided; empty where nothing is left."""
        text = request.answer
        for d in self.decided.get(request.answered_at, ()):
            text = text.replace(d.text, "")
        return f"Reply: {one_line(text, _ANSWERED)}" if text.strip() else ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a page shows: the names quoted of each message, the calls that only a quote needs, the user messages that stand
    word for word or only as a number, the answers that stand below older ones, and where what is new begins.
    """

    names: Mapping[int, set[str]]
    asked: Mapping[int, set[int]]
    verbatim: frozenset[int]
    numbered: frozenset[int]
    answers: Mapping[int, str]
    fresh: int


def lines(src: Source, i: int, chosen: Chosen, seen: Seen, budget: Budget) -> list[str]:
    """The lines of one message; what they show is noted in `seen`."""
    names = chosen.names.get(i, set())
    message = src.log[i]
    decided = src.decided.get(i, ())
    if message.role == "assistant":
        actions = i >= chosen.fresh or bool(names)
        done = _assistant(src, i, names, seen, actions=actions, asked=chosen.asked.get(i, set()))
        return [*_decided(decided, done), *done]
    said: list[str] = []
    if message.is_user_turn and i not in chosen.numbered:
        said = user_lines(src, i, names, seen, budget, whole=i in chosen.verbatim)
        if said and i in chosen.answers:
            said.append(chosen.answers[i])
    quoted = (
        excerpts(src.names.lines(i), names, f"   → {_number(src, i)}", ("result",), seen) if message.results else []
    )
    return [*said, *_decided(decided, said), *quoted]


def own(src: Source, i: int) -> bool:
    """Whether a user turn is the user's: neither a handoff from before nor what a client reports."""
    spoken = spoken_by_user(src.log[i])
    return recognise(spoken) is None and not notice(spoken)


def calls_quoted(src: Source, kept: Iterable[int]) -> dict[int, set[int]]:
    """The calls whose results a page quotes, by message: without them nobody knows what it quotes."""
    calls: dict[int, set[int]] = {}
    for i in kept:
        for k, part in enumerate(src.log[i].parts):
            call = src.log.call_of(Place(i, k)) if isinstance(part, ToolResult) else None
            if call is not None:
                calls.setdefault(call.message, set()).add(call.part)
    return calls


def user_lines(src: Source, i: int, names: set[str], seen: Seen, budget: Budget, *, whole: bool) -> list[str]:
    text = spoken_by_user(src.log[i])
    if not text:
        return []
    if recognise(text) is not None:
        return _earlier(src, i, text, seen, budget)
    if whole:
        seen.note(text)
        return [f"User: {text}"]
    ref = f", {reference(src.log[i].address)}" if src.recall else ""
    reported = notice(text)
    who = "Notice" if reported else "User"
    lead = f"{who} (first words of {src.size(i)} tokens{ref}): {one_line(reported or text, _SHORTENED)}"
    seen.note(lead)
    return [lead, *excerpts(src.names.lines(i), names, "   ", ("user",), seen)]


def _decided(decisions: Iterable[Decision], beside: Sequence[str]) -> list[str]:
    """A line for each decision that the lines beside it don't hold in its own words."""
    text = "\n".join(beside)
    return [
        f"Decided: {d.text}" + (f" ({d.reason})" if d.reason not in d.text else "")
        for d in decisions
        if d.text not in text
    ]


def _earlier(src: Source, i: int, text: str, seen: Seen, budget: Budget) -> list[str]:
    """A handoff that the transcript already held, ours or another tool's: state rather than something the user said."""
    body, live = unframe(text)
    limit = 2 * budget.user_all
    if src.measure(body) > limit:
        body = clip(body, int(len(body) * limit / src.measure(body)))
        if src.recall:
            body += f"\n(in full: {reference(src.log[i].address)})"
    seen.note(body)
    return [f"Earlier record, as it was found:\n{body}", *([f"User: {live}"] if live else [])]


def _number(src: Source, i: int) -> str:
    """Which call a result answers, where several were made at once."""
    places = [Place(i, k) for k, part in enumerate(src.log[i].parts) if isinstance(part, ToolResult)]
    call = src.log.call_of(places[0]) if len(places) == 1 else None
    if call is None or len(src.log[call.message].calls) < 2:
        return ""
    before = sum(isinstance(p, ToolCall) for p in src.log[call.message].parts[: call.part])
    return f"({src.names.calls_before(call.message) + before + 1}) "


def _assistant(src: Source, i: int, names: set[str], seen: Seen, *, actions: bool, asked: set[int]) -> list[str]:
    """What the agent did: one numbered line a call, and the names it spoke of that are worth keeping. Where not all of its
    calls are listed, those in `asked` are named: what came of them stands below.
    """
    message, lines = src.log[i], src.names.lines(i)
    number = src.names.calls_before(i)
    done = []
    for k, part in enumerate(message.parts):
        if isinstance(part, ToolCall):
            number += 1
            if actions:
                done.append(f"{number}. {shortened(action_line(src.log, Place(i, k), part), seen)}")
            elif k in asked:
                done.append(f"{number}. {shortened(action_name(part), seen)}")
    if not done and actions and (reply := one_line(message.text, _REPLY)):
        done.append(f"Reply: {reply}")
    rest = names - names_in("\n".join(done))
    said = excerpts(lines, rest, "Said: ", ("said",), seen)
    wrote = excerpts(lines, rest - names_in("\n".join(said)), "   ", ("call",), seen)
    for line in done:
        seen.note(line)
    return [*said, *done, *wrote]
