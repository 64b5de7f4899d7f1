"""What recorded traffic says of a client: which request belongs to which conversation, what kind it is, and what the
client changes in what it had sent before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clew import jsonio
from clew.errors import ClewError
from clew.record.changes import Change, changes, header_changes
from clew.record.exchange import Exchange
from clew.wire import get, system_text

Kind: TypeAlias = Literal["turn", "subagent", "summary", "title", "count", "probe"]

_SESSION = ("x-claude-code-session-id", "thread-id", "x-session-id", "session-id")
_AGENT = ("x-claude-code-agent-id", "x-parent-session-id")
_SUMMARY = re.compile(
    r"^You are a context summarization|^\s*CRITICAL: Respond with TEXT ONLY|CONTEXT CHECKPOINT COMPACTION", re.MULTILINE
)
_TITLE = re.compile(r"^You are a title generator|Generate a (?:title|concise, sentence-case title)", re.MULTILINE)
_NUMBER = re.compile(r"\[\d+\]")
_MANY = 4  # messages that go at once: the client has compacted


@dataclass(frozen=True, slots=True)
class Habit:
    """One way in which a client changes what it had sent. `where` is a path with its numbers left out; `times` is in how
    many of `of` following requests it was seen.
    """

    where: str
    what: str
    times: int
    of: int
    example: tuple[str, str]


def session(e: Exchange) -> str:
    """The client's own id of the conversation that a request belongs to, "" where it sends none.

    A subagent is a conversation of its own.
    """
    name = next((v for h in _SESSION if (v := e.header(h))), "")
    agent = e.header("x-claude-code-agent-id")
    return f"{name}/{agent}" if agent else name


def kind(e: Exchange) -> Kind:
    """What a request is for."""
    if e.method != "POST" or not isinstance(e.body, dict):
        return "probe"
    if e.path.split("?")[0].endswith("/count_tokens"):
        return "count"
    if e.body.get("max_tokens") == 1:
        return "probe"
    if _is_summary(e):
        return "summary"
    if not e.body.get("tools") and _TITLE.search(_heads(e)):
        return "title"
    return "subagent" if any(e.header(h) for h in _AGENT) else "turn"


def habits(exchanges: Iterable[Exchange]) -> list[Habit]:
    """What the client changed between every two requests of one conversation that follow each other, by frequency."""
    seen: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], tuple[str, str]] = {}
    pairs = 0
    for before, after in successive(exchanges):
        pairs += 1
        found = {(_place(c.path), c.what): c for c in _told(before, after)}
        for key, change in found.items():
            seen[key] += 1
            examples.setdefault(key, (change.before, change.after))
    return [Habit(where, what, n, pairs, examples[where, what]) for (where, what), n in seen.most_common()]


def successive(exchanges: Iterable[Exchange]) -> Iterator[tuple[Exchange, Exchange]]:
    """Every request of a conversation's own turns with the one before it."""
    last: dict[tuple[str, str], Exchange] = {}
    for e in exchanges:
        which = kind(e)
        if which not in ("turn", "subagent"):
            continue
        key = (session(e), which)
        if key in last:
            yield last[key], e
        last[key] = e


def compacted(before: Exchange, after: Exchange) -> bool:
    """Whether the client took more of its history away than any edit does."""
    a, b = (e.body.get("messages") or e.body.get("input") or () for e in (before, after))
    return len(b) <= len(a) - _MANY


def _place(path: str) -> str:
    """Without the numbers that differ from request to request; system blocks keep theirs."""
    return path if path.startswith("system") else _NUMBER.sub("[]", path)


def _told(before: Exchange, after: Exchange) -> Iterator[Change]:
    found = changes(before, after)
    if compacted(before, after):
        key = "messages" if "messages" in after.body else "input"
        sizes = [str(len(e.body[key])) for e in (before, after)]
        yield Change(key, "removed", f"{sizes[0]} messages", f"{sizes[1]} messages: the client compacted")
        found = [c for c in found if not c.path.startswith(key)]
    yield from found
    for c in header_changes(before, after):
        yield Change(f"header {c.path}", c.what, c.before, c.after)


def _is_summary(e: Exchange) -> bool:
    told = e.header("x-codex-turn-metadata")
    if told:
        try:
            return bool(jsonio.loads(told).get("request_kind") == "compaction")
        except (ValueError, AttributeError):
            return False
    return _SUMMARY.search(_heads(e)) is not None


def _heads(e: Exchange) -> str:
    """The system prompt and the last message, where a client says what it wants."""
    try:
        request = get(e.wire).request(e.body)
    except ClewError:
        return ""
    last = [m.text for m in request.messages[-1:]]
    return "\n".join([system_text(request)[:4000], *last])
