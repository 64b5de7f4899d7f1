"""What is worth acting on, in sentences; the one that concerns most tokens comes first."""

from __future__ import annotations

from collections.abc import Iterator

from clew.inspect.figures import money, percent, plural, short_path, tokens, waited
from clew.inspect.values import KIND_NAMES, Finding, Inspection

_LEAST = 0.02  # of what was sent: below it a finding is noise
_NEAR = 0.8  # of the window
_BILL = 0.05  # of the bill


def headline(i: Inspection) -> str:
    """The one sentence that says what the file is."""
    if not i.requests:
        return f"{plural(i.messages, 'message')}, {tokens(i.tokens)} tokens; no request in it, so nothing was sent yet."
    said = f"{plural(i.requests, 'request')} sent {tokens(i.sent)} tokens in all"
    largest = next((s for s in i.by_kind if s.name != "unseen"), None)
    if largest is not None and largest.sent:
        said += f", {percent(largest.sent, i.sent)} of them {_of(largest.name)}"
    if i.costs.paid.cost:
        said += f"; {'billed' if i.costs.source == 'recorded' else 'about'} {money(i.costs.paid.cost)}"
    return said + "."


def _of(kind: str) -> str:
    if kind == "unseen":
        return "what the file doesn't show (system prompt, tools, reminders)"
    return next(name for key, name in KIND_NAMES.items() if key == kind)


def findings(i: Inspection) -> tuple[Finding, ...]:
    """All of them, the weightiest first."""
    found = [*_window(i), *_old(i), *_repeats(i), *_heaviest(i), *_unseen(i), *_misses(i), *_secrets(i), *_problems(i)]
    return tuple(sorted(found, key=lambda f: -f.weight))


def _old(i: Inspection) -> Iterator[Finding]:
    if i.sent and i.old_sent >= _LEAST * i.sent:
        yield Finding(
            "old results",
            f"{percent(i.old_sent, i.sent)} of everything sent was tool results more than 10 requests old "
            f"({tokens(i.old_sent)} tokens): shortening results once they have been used is where most can be saved.",
            i.old_sent / i.sent,
        )


def _repeats(i: Inspection) -> Iterator[Finding]:
    if not i.sent:
        return
    copies = i.repeated_sent / i.sent
    most_read = max((r for r in i.repeats if r.kind == "file"), key=lambda r: (r.times, r.total), default=None)
    if copies >= _LEAST / 4:
        yield Finding(
            "repeats",
            f"{plural(i.copies, 'result')} came again word for word: {tokens(i.repeated_tokens)} tokens, "
            f"{tokens(i.repeated_sent)} over all requests ({percent(i.repeated_sent, i.sent)}).",
            copies,
        )
    if most_read and most_read.times > 2:
        same_text = f", {most_read.same} of them with nothing new" if most_read.same else ""
        yield Finding(
            "file read often",
            f"{short_path(most_read.target, 60)} was read {most_read.times} times ({tokens(most_read.total)} tokens{same_text}).",
            most_read.sent / i.sent,
        )


def _heaviest(i: Inspection) -> Iterator[Finding]:
    worst = next((h for h in i.heaviest if h.kind in ("result", "call", "user")), None)
    if worst is None or not i.sent or worst.sent < _LEAST * i.sent:
        return
    if worst.tool:
        name = f"{'call' if worst.kind == 'call' else 'result'} of {worst.tool}"
        name += f" ({short_path(worst.target, 60)})" if worst.target else ""
    else:
        name = f"{KIND_NAMES[worst.kind]} part"
    yield Finding(
        "largest part",
        f"One {name} of {tokens(worst.tokens)} tokens travelled in {plural(worst.requests, 'request')}: "
        f"{tokens(worst.sent)} tokens, {percent(worst.sent, i.sent)} of everything sent.",
        worst.sent / i.sent,
    )


def _unseen(i: Inspection) -> Iterator[Finding]:
    for share in i.by_kind:
        if share.name in ("unseen", "system", "tools") and i.sent and share.sent >= 0.1 * i.sent:
            yield Finding(
                "overhead",
                f"{percent(share.sent, i.sent)} of everything sent was {_of(share.name)}: "
                f"about {tokens(share.sent // max(1, i.requests))} tokens in each request.",
                share.sent / i.sent / 4,  # seldom in the user's hands
            )


def _misses(i: Inspection) -> Iterator[Finding]:
    c = i.costs
    if not c.missed or not c.paid.input_cost or c.missed_cost < _BILL * c.paid.input_cost:
        return
    worst = c.misses[0]
    idle = f", after {waited(worst.idle)} of silence" if worst.idle and worst.idle > 60 else ""
    yield Finding(
        "cache misses",
        f"{plural(c.missed, 'request')} paid again for {tokens(c.missed_tokens)} tokens that had been in the cache: "
        f"{money(c.missed_cost)}, {percent(c.missed_cost, c.paid.cost)} of the bill. The costliest is request "
        f"{worst.request} ({worst.reason}{idle}).",
        c.missed_cost / c.paid.cost,
    )


def _window(i: Inspection) -> Iterator[Finding]:
    if i.window and i.peak > i.window:
        yield Finding(
            "window",
            f"Request {i.peak_request} held {tokens(i.peak)} tokens, more than the window of {tokens(i.window)}: "
            "name the right model with --model, or the window with --window.",
            2.0,
        )
    elif i.window and i.peak >= _NEAR * i.window:
        yield Finding(
            "window",
            f"Request {i.peak_request} filled {percent(i.peak, i.window)} of the window "
            f"({tokens(i.peak)} of {tokens(i.window)}).",
            i.peak / i.window / 2,
        )
    if i.compactions:
        c = max(i.compactions, key=lambda c: c.before)
        after = f" to {tokens(c.after)}" if c.after else ""
        yield Finding(
            "compactions",
            f"The client compacted {_times(len(i.compactions))}: the largest one took {tokens(c.before)} tokens{after}, "
            f"before request {c.request}.",
            0.05,
        )


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _secrets(i: Inspection) -> Iterator[Finding]:
    if i.secrets:
        different = sum(s.distinct for s in i.secrets)
        families = ", ".join(s.family for s in i.secrets[:3]) + (" …" if len(i.secrets) > 3 else "")
        yield Finding(
            "secrets",
            f"{plural(different, 'secret')} in plain text, {plural(i.secret_count, 'time')} ({families}): see below, and replace "
            "what is still valid.",
            1.0 if different else 0.0,
        )


def _problems(i: Inspection) -> Iterator[Finding]:
    if i.problem_count:
        code, n = i.problem_counts[0]
        yield Finding(
            "problems",
            f"{plural(i.problem_count, 'breach', 'breaches')} of the provider's protocol, most often {code} ({n}).",
            0.04,
        )
