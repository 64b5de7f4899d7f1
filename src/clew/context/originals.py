"""Originals by reference, and search over one log, for as long as the object lives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clew.context.log import Log
from clew.context.tools import RECALL, SEARCH
from clew.engine.plan import words_of
from clew.ledger.names import spoken
from clew.ledger.tools import one_line
from clew.redact import redact
from clew.strategies.base import Edit
from clew.transcript import Image, Message, Place, Reasoning, Text, ToolCall, ToolResult, reference, text_address

_AROUND = 80  # characters of a snippet on each side of what was found


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found. `in_view` says whether the model sees it now; `reference` prints it in full."""

    position: int
    role: str
    snippet: str
    reference: str
    in_view: bool
    session: str = ""


class Originals:
    """What references of this conversation stand for."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._texts: dict[str, str] = {}

    def keep(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._texts[reference(text_address(text))] = text

    def keep_edits(self, edits: Iterable[Edit]) -> None:
        """The originals of parts that edits replaced."""
        for e in edits:
            if e.part >= 0 and e.reference:
                self._texts[e.reference] = part_text(self._log.transcript[e.message], e.part)

    def get(self, ref: str) -> str | None:
        if ref in self._texts:
            return self._texts[ref]
        message = self._log.original(ref)
        return readable(message) if message is not None else None

    def texts(self) -> dict[str, str]:
        return dict(self._texts)


def part_text(message: Message, part: int) -> str:
    """The text of a part, as it arrived."""
    match message.parts[part]:
        case Text(text=text) | Reasoning(text=text):
            return text
        case ToolResult() as result:
            return result.text
        case ToolCall(arguments=arguments):
            return arguments
        case Image(url=url):
            return url
        case other:
            return other.text


def readable(message: Message) -> str:
    """A whole message as its words where it is nothing but words, else as its JSON."""
    if len(message.parts) == 1 and isinstance(message.parts[0], (Text, ToolResult)):
        return part_text(message, 0)
    return message.raw.decode("utf-8", "replace")


def find(log: Log, query: str, *, shown_from: int, limit: int = 20) -> list[Hit]:
    """Messages that hold the query, or else every word of it; what left the view first, then the newest."""
    whole = query.strip().casefold()
    words = whole.split()
    if not words:
        return []
    exact: list[tuple[int, str]] = []
    loose: list[tuple[int, str]] = []
    for i in range(len(log.transcript) - 1, -1, -1):
        if _of_recall(log, i):
            continue
        text = _searched(log.transcript[i])
        flat = text.casefold()
        if whole in flat:
            exact.append((i, text))
        elif all(w in flat for w in words):
            loose.append((i, text))
    found = sorted(exact, key=lambda h: h[0] >= shown_from) + sorted(loose, key=lambda h: h[0] >= shown_from)
    return [
        Hit(
            i,
            log.transcript[i].role,
            _snippet(text, whole if whole in text.casefold() else words[0]),
            reference(log.transcript[i].address),
            i >= shown_from,
        )
        for i, text in found[:limit]
    ]


def _of_recall(log: Log, i: int) -> bool:
    """Whether a message holds nothing but results of recall's own tools, which repeat what stands elsewhere."""
    parts = log.transcript[i].parts
    calls = [log.transcript.call_of(Place(i, k)) for k, p in enumerate(parts) if isinstance(p, ToolResult)]
    names = [getattr(log.transcript.part(at), "name", "") for at in calls if at is not None]
    return len(names) == len(parts) > 0 and all(n in (RECALL, SEARCH) for n in names)


def _searched(message: Message) -> str:
    """Everything said in a message: its calls by name and value as well as in the spelling of their JSON."""
    return "\n".join([words_of(message), *(spoken(c) for c in message.calls)])


def _snippet(text: str, word: str) -> str:
    at = max(0, text.casefold().find(word))
    start, end = max(0, at - _AROUND), min(len(text), at + len(word) + _AROUND)
    lead, trail = "…" if start else "", "…" if end < len(text) else ""
    return redact(f"{lead}{one_line(text[start:end], 400)}{trail}", force=True)
