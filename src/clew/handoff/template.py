"""The form of a handoff: thirteen sections under historical headings, a framing, an end marker; and finding one again.

Headings are part of the format that later compactions read back, so they never change without a migration here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from clew.ledger.foreign import BANNER, recognise

TASK = "Historical Task Snapshot"
GOAL = "Goal"
CONSTRAINTS = "Constraints & Preferences"
ACTIONS = "Completed Actions"
STATE = "Active State"
PROGRESS = "Historical In-Progress State"
BLOCKED = "Blocked"
DECISIONS = "Key Decisions"
RESOLVED = "Resolved Questions"
PENDING = "Historical Pending User Asks"
FILES = "Relevant Files"
REMAINING = "Historical Remaining Work"
CONTEXT = "Critical Context"

SECTIONS = (
    TASK, GOAL, CONSTRAINTS, ACTIONS, STATE, PROGRESS, BLOCKED, DECISIONS, RESOLVED, PENDING, FILES, REMAINING, CONTEXT,
)  # fmt: skip
SAID = "What The User Said"  # after a model's sections: the users' own words, which are not the model's to choose
EMPTY = "None."

FRAMING = (
    "The turns before this point were compacted into the record below. It is background: what was asked, done and "
    "found up to then. The newest user message decides what happens now; a request quoted here is history unless that "
    "message takes it up. If it says to stop, undo or roll back, the work described here has ended. Memory files "
    "(MEMORY.md, USER.md) and the system prompt stay authoritative, and all tools stay in use. Files and processes may "
    "already reflect this work: build on it rather than repeat it."
)
SYSTEM_NOTE = (
    "[Note: earlier turns of this conversation were compacted into a record that stands below. Build on it and on the "
    "present state rather than repeat what it says was done.]"
)
RECALL_NOTE = "A reference such as clew:… stands for an original that `{how}` prints in full."
END_MARKER = "[End of the compacted record. What follows is the live conversation.]"

_LEAD = re.compile(  # what Claude Code, Codex and pi say before a summary
    r"\A\s*(?:This session is being continued from a previous conversation[^.\n]*\.?"
    r"(?:\s*The (?:conversation is summarized below|summary below covers)[^.:\n]*[.:])?"
    r"|Another language model started to solve this problem and produced a summary(?:[^\n]*?:(?=\s)|[^.\n]*\.?)"
    r"|The conversation history before this point was compacted into the following summary[.:]?)\s*"
)
_TAG = re.compile(r"^</?summary>[ \t]*\n?", re.MULTILINE)
_GO_ON = re.compile(  # and after it, to the model that reads it
    r"^(?:Please )?continue (?:the conversation from where|with the last task)\b[^\n]*\n?|^If you need specific details from before compaction[^\n]*\n?",
    re.MULTILINE | re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,4}\s+(.+?)\s*:?\s*$", re.MULTILINE)
_ALIASES = {
    "active task": TASK, "task snapshot": TASK, "in progress": PROGRESS, "in-progress state": PROGRESS,
    "constraints": CONSTRAINTS, "constraints and preferences": CONSTRAINTS, "pending user asks": PENDING,
    "pending asks": PENDING, "remaining work": REMAINING, "next steps": REMAINING, "progress": ACTIONS, "done": ACTIONS,
    "decisions": DECISIONS, "files": FILES, "blockers": BLOCKED, "current state": STATE,
}  # fmt: skip
_BY_NAME = {s.lower(): s for s in SECTIONS} | _ALIASES


_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sections:
    """A handoff's body by heading; a missing section is empty. `preamble` is text that stood under no heading."""

    by_heading: Mapping[str, str] = field(default_factory=lambda: _NONE)
    preamble: str = ""

    def __getitem__(self, heading: str) -> str:
        return self.by_heading.get(heading, "")

    @property
    def empty(self) -> bool:
        return not any(self.by_heading.values())


def render_body(sections: Sections) -> str:
    """The thirteen sections in their order; an empty one says so."""
    return "\n\n".join(f"## {h}\n{sections[h].strip() or EMPTY}" for h in SECTIONS)


def paged(pages: Sequence[str], *, recall: str = "") -> tuple[str, ...]:
    """A record's pages as they are sent: one banner and framing, before the first."""
    lead = _lead(recall)
    return tuple(
        f"{lead}\n\n## {ACTIONS}\n{page}" if i == 0 else f"## {ACTIONS} (continued)\n{page}"
        for i, page in enumerate(pages)
    )


def closing_text(sections: Sections, *, banner: bool = False, recall: str = "") -> str:
    """Every section but the record, and the end marker; with the banner where no page stands before it."""
    body = "\n".join(f"## {h}\n{sections[h].strip() or EMPTY}" for h in SECTIONS if h != ACTIONS)
    lead = f"{_lead(recall)}\n\n## {ACTIONS}\n{EMPTY}\n" if banner else ""
    return f"{lead}{body}\n\n{END_MARKER}"


def _lead(recall: str) -> str:
    lead = f"{BANNER}\n{FRAMING}"
    return f"{lead} {RECALL_NOTE.format(how=recall)}" if recall else lead


def frame(body: str, *, recall: str = "", note: str = "") -> str:
    """The whole text of a handoff message. `recall` is the command or tool that prints originals, if there is one."""
    lead = f"{_lead(recall)} {note}" if note else _lead(recall)
    return f"{lead}\n\n{body}\n\n{END_MARKER}"


def parse_body(text: str) -> Sections:
    """Sections of a body, ours or a model's: headings of any level, in any case, with the known aliases."""
    found: dict[str, list[str]] = {}
    preamble, current, at = "", None, 0
    for match in _HEADING.finditer(text):
        name = _BY_NAME.get(re.sub(r"\s*\(.*\)\s*$", "", match[1]).strip().strip("*").lower())
        if name is None:
            continue
        chunk = text[at : match.start()].strip()
        if current is None:
            preamble = chunk
        elif chunk:
            found.setdefault(current, []).append(chunk)
        current, at = name, match.end()
    tail = text[at:].strip()
    if current is None:
        return Sections({}, tail)
    if tail:
        found.setdefault(current, []).append(tail)
    bodies = {h: "\n".join(c for c in chunks if c.rstrip(".").lower() != "none") for h, chunks in found.items()}
    return Sections({h: b for h, b in bodies.items() if b}, preamble)


def unframe(text: str) -> tuple[str, str]:
    """A handoff message's body, and what follows its end marker (the live text it was merged with).

    Banners that earlier tools nested inside each other are all taken off.
    """
    live = ""
    if END_MARKER in text:
        text, _, live = text.rpartition(END_MARKER)
        text = text.replace(END_MARKER, "")
    elif (hermes := re.search(r"^-{2,}\s*END OF CONTEXT SUMMARY.*$", text, re.MULTILINE)) is not None:
        text, live = text[: hermes.start()], text[hermes.end() :]
    if recognise(text) == "clew":
        text = _without_banners(text)
    elif (lead := _LEAD.match(text)) is not None:
        text = _GO_ON.sub("", _TAG.sub("", text[lead.end() :]))
    elif recognise(text) and (first := _HEADING.search(text)) is not None:
        text = text[first.start() :]
    return text.strip(), live.strip()


def _without_banners(text: str) -> str:
    while (at := text.find(BANNER)) >= 0:
        heading = _HEADING.search(text, at)
        text = text[:at] + (text[heading.start() :] if heading is not None else "")
    return text
