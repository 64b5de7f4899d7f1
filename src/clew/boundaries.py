"""Which cuts are legal, and which of them to take.

A cut at `c` puts the messages before `c` into the handoff and shows those from `c` on. It is legal where every rule
allows it; each rule speaks of one thing a provider or a reader would miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.transcript import Message, Place, Reasoning, Span, Text, ToolCall, Transcript

HARD_FLOOR = 3  # messages that stay, whatever they cost, where a caller doesn't say
SOFT_CEILING = 1.5  # of the tail's budget: so far it is passed for an anchor's sake


@dataclass(frozen=True, slots=True)
class Cut:
    """The tail starts at `tail`. The anchors are the last user turn and the last visible reply; one that lies before
    the tail has to be shown there verbatim by other means.
    """

    tail: int
    last_user: int
    last_reply: int

    @property
    def user_in_tail(self) -> bool:
        return self.last_user >= self.tail

    @property
    def reply_in_tail(self) -> bool:
        return self.last_reply >= self.tail


def _groups(log: Transcript, span: Span) -> list[Span]:
    """Between a call and its result no cut is legal; a call that still waits for its result stays with the end."""
    out = []
    for i in range(span.start, span.end):
        for k, part in enumerate(log[i].parts):
            result = log.result_of(Place(i, k)) if isinstance(part, ToolCall) else None
            if result is not None and result.message > i:
                out.append(Span(i, result.message))
    last = _last_answer(log, span)
    out += [Span(p.message, span.end) for p in log.open_calls() if p.message >= last]
    return out


def _last_answer(log: Transcript, span: Span) -> int:
    """Where the newest answer starts: one answer may be several messages, a call each."""
    at = span.end
    while at > span.start and log[at - 1].role != "assistant":
        at -= 1
    while at > span.start and log[at - 1].role == "assistant":
        at -= 1
    return at


def _sealed_runs(log: Transcript, span: Span) -> list[Span]:
    """Sealed reasoning goes with the items of the same answer: a run of assistant messages that holds one is whole."""
    out, start, sealed = [], span.start, False
    for i in range(span.start, span.end + 1):
        if i < span.end and log[i].role == "assistant":
            sealed = sealed or any(isinstance(p, Reasoning) and p.sealed for p in log[i].parts)
            continue
        if sealed and i - start > 1:
            out.append(Span(start, i - 1))
        start, sealed = i + 1, False
    return out


RULES = (_groups, _sealed_runs)


def legal_cuts(log: Transcript, span: Span) -> list[int]:
    """Every legal cut in `span`, ascending; the end itself is one."""
    barred = bytearray(len(span) + 2)
    for rule in RULES:
        for s in rule(log, span):
            # a span says: no cut after its first message and up to its last
            lo, hi = s.start + 1 - span.start, min(s.end, span.end) - span.start
            barred[max(lo, 0) : hi + 1] = b"\x01" * (hi + 1 - max(lo, 0))
    return [c for c in range(span.start, span.end + 1) if not barred[c - span.start]]


def last_user_turn(log: Transcript, end: int, floor: int = 0) -> int:
    return next((i for i in range(end - 1, floor - 1, -1) if log[i].is_user_turn), -1)


def last_reply(log: Transcript, end: int, floor: int = 0) -> int:
    """The newest assistant message with words a user would have read."""
    return next((i for i in range(end - 1, floor - 1, -1) if _speaks(log[i])), -1)


def _speaks(m: Message) -> bool:
    return m.role == "assistant" and any(isinstance(p, Text) and p.text.strip() for p in m.parts)


def head_end(log: Transcript, protect_first: int, *, compacted: bool) -> int:
    """Where the head ends: the system prompt; before the first compaction the opening messages too, whole groups;
    after it the one user turn of a run that has no other, which is never far from what is being done.
    """
    end = 0
    while end < len(log) and log[end].role in ("system", "developer"):
        end += 1
    if compacted or not protect_first:
        return end
    span = Span(end, len(log))
    return next((c for c in legal_cuts(log, span) if c >= min(end + protect_first, len(log))), end)


def choose(
    log: Transcript,
    sizes: Sequence[int],
    span: Span,
    *,
    target: int,
    budget: int,
    keep_last: int,
    least: int = HARD_FLOOR,
    ceiling: float = SOFT_CEILING,
) -> Cut | None:
    """The cut that leaves the largest tail within `target` tokens.

    `sizes[i - span.start]` is what message `i` costs. At least `least` messages stay. The last `keep_last` messages stay
    where they fit `budget`, and so do the last user turn and the last reply where the tail from them on fits `ceiling`
    times it. None where no cut would leave anything to compact.
    """
    cuts = [c for c in legal_cuts(log, span) if span.start < c < span.end]
    if not cuts:
        return None
    cost = _from_the_end(sizes)
    recent = cost[max(0, len(sizes) - keep_last)]
    groups = next((cost[c - span.start] for c in reversed(cuts) if c <= span.end - keep_last), recent)
    recent = groups if groups <= budget else recent  # whole groups: the first of them may start earlier
    limit = max(target, recent) if recent <= budget else target
    floor = span.end - min(least, len(span) - 1)
    below = max((c for c in cuts if c <= floor), default=cuts[0])
    best = min((c for c in cuts if cost[c - span.start] <= limit), default=below)
    best = min(best, below)
    user, reply = last_user_turn(log, span.end, span.start), last_reply(log, span.end, span.start)
    for anchor in (reply, user):
        if 0 <= anchor < best:
            earlier = max((c for c in cuts if c <= anchor), default=-1)
            if earlier >= 0 and cost[earlier - span.start] <= budget * ceiling:
                best = earlier
    return Cut(best, user, reply)


def _from_the_end(sizes: Sequence[int]) -> list[int]:
    """Tokens from each message to the end."""
    out = [0] * (len(sizes) + 1)
    for i in range(len(sizes) - 1, -1, -1):
        out[i] = out[i + 1] + sizes[i]
    return out
