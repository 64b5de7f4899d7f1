"""A model's reply as sections: its wrapping taken off, its headings recognised however it wrote them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clew.handoff import template as t
from clew.handoff.template import Sections
from clew.handoff.wording import echoed
from clew.ledger.foreign import BANNER, recognise

_THOUGHT = re.compile(
    r"<(think|thinking|analysis|scratchpad|reasoning|tool_call|tool_use|function_calls?)>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TAGS = re.compile(r"</?(?:summary|record|handoff|answer|output|response|context|document)>\s*", re.IGNORECASE)
_FENCE = re.compile(r"\A\s*```[\w-]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_OTHERS_TURN = re.compile(  # a turn of someone else's in the reply, to its end or to the next heading
    r"(?:<\|(?:im_start|start_header_id)\|>\s*(?:user|system|tool)\b(?:<\|end_header_id\|>)?|<\|(?:user|system)\|>|\[INST\]).*?"
    r"(?=<\||\[/INST\]|^\s{0,3}#{1,6}\s|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_TURN = re.compile(
    r"<\|[a-z0-9_ ]{2,30}\|>|\[/?INST\]|<</?SYS>>|</?s>|</?(?:system|user|assistant|tool)(?:[-_]\w+)?>"
    r"|^(?:Human|Assistant|System|User):[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_DRESSED = re.compile(
    r"^\s{0,3}(?:#{1,6}\s*)?(?:\d{1,2}[.)]\s*)?[*_]{0,3}([^*_#:`\n]{3,60}?)\s*:?[*_]{0,3}\s*:?[ \t]*$"
)
_LEAD = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+|[*_]{2,3})(?:\d{1,2}[.)]\s*)?([^*_#:`\n]{3,60}?)(?:[*_]{2,3}:?|:[*_]{0,3})[ \t]+(\S.*)$"
)
_ANY_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*$")
_ORDERING = {
    "next steps": t.REMAINING, "next step": t.REMAINING, "next actions": t.REMAINING, "todo": t.REMAINING,
    "to do": t.REMAINING, "to-do": t.REMAINING, "action items": t.REMAINING, "instructions": t.REMAINING,
    "what to do next": t.REMAINING, "your task": t.TASK, "current task": t.TASK, "task": t.TASK,
    "open questions": t.PENDING, "pending questions": t.PENDING, "pending requests": t.PENDING,
    "errors": t.BLOCKED, "open errors": t.BLOCKED, "issues": t.BLOCKED, "actions": t.ACTIONS,
    "completed": t.ACTIONS, "completed work": t.ACTIONS, "preferences": t.CONSTRAINTS, "state": t.STATE,
    "overview": t.GOAL, "objective": t.GOAL, "context": t.CONTEXT, "key values": t.CONTEXT,
    "files read": t.FILES, "files modified": t.FILES, "modified files": t.FILES, "answered questions": t.RESOLVED,
}  # fmt: skip
_NAMES: Mapping[str, str] = {h.lower(): h for h in t.SECTIONS} | _ORDERING
_REFUSAL = re.compile(
    r"\A\W*(?:i(?:'|’)?m\s+(?:really\s+|very\s+)?(?:sorry|afraid|unable)|i\s+(?:can(?:no|')t|can’t|cannot|am\s+(?:not\s+able|unable)|won(?:'|’)t)"
    r"\s+(?:\w+\s+){0,2}?(?:help|assist|do|comply|provide|create|process|summari[sz]e|continue|fulfil)|sorry,|as\s+an?\s+(?:ai|language\s+model)"
    r"|unfortunately,?\s+i|es\s+tut\s+mir\s+leid|(?:leider\s+)?kann\s+ich\s+(?:dabei\s+|dir\s+|ihnen\s+)?nicht|je\s+(?:suis\s+désolé|ne\s+peux\s+pas)"
    r"|lo\s+siento|no\s+puedo|desculpe|não\s+posso|mi\s+dispiace|抱歉|对不起|很抱歉|我无法|申し訳|죄송)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^(?P<lead>\s{0,1}(?:[-*•]\s+|(?P<n>\d{1,6})[.)]\s+))(?P<rest>\S.*)$")


def cleaned(reply: str) -> str:
    """The reply without thoughts, fences, tags, another handoff's banner or a chat's turn marks around it."""
    text = _THOUGHT.sub("", reply)
    fenced = _FENCE.match(text)
    text = fenced[1] if fenced is not None else text
    text = _TURN.sub("", _OTHERS_TURN.sub("", _TAGS.sub("", text)))
    for framing in (t.FRAMING, t.END_MARKER, BANNER):
        text = text.replace(framing, "")
    if recognise(text) is not None:
        text = t.unframe(text)[0]
    return text.strip()


def declined(plain: str) -> bool:
    """Whether a cleaned reply says that it won't do it, in place of a record."""
    return _REFUSAL.match(plain) is not None and t.TASK not in plain


def sectioned(text: str) -> Sections:
    """The sections of a cleaned reply. A heading that reads as an order becomes its historical one; an unknown heading
    becomes a plain line of the section it stands in.
    """
    lines = []
    for line in text.split("\n"):
        name, rest = _heading(line)
        if name:
            lines += [f"## {name}", *([rest] if rest else [])]
        else:
            unknown = _ANY_HEADING.match(line)
            lines.append(unknown[1].strip("*_ ") if unknown is not None else line)
    found = t.parse_body("\n".join(lines))
    bodies = {h: _bare(h, body) for h, body in found.by_heading.items()}
    return Sections({h: b for h, b in bodies.items() if b}, found.preamble)


def _heading(line: str) -> tuple[str, str]:
    """The section a line opens, and what of its text stands behind the heading on the same line."""
    dressed = _DRESSED.match(line)
    if dressed is not None and (name := _known(dressed[1])) and _is_dressed(line):
        return name, ""
    lead = _LEAD.match(line)
    if lead is not None and (name := _known(lead[1])):
        return name, lead[2]
    return "", ""


def _is_dressed(line: str) -> bool:
    """“Goal” alone on a line may be a heading; in lower case, or with words of more than a heading, it is text."""
    return line.strip()[:1] in "#*_0123456789" or (line.strip()[:1].isupper() and len(line) < 60)


def _known(name: str) -> str:
    bare = re.sub(r"\s*\(.*\)$", "", name).strip().lower()
    return _NAMES.get(bare) or next(iter(t.parse_body(f"## {bare}\nx").by_heading), "")


def _bare(heading: str, body: str) -> str:
    """A section's text without placeholders, and the actions numbered throughout."""
    said = [x for x in body.split("\n") if not echoed(x)]
    kept = [x for x in said if x.strip().strip("-*• ").rstrip(".").lower() not in ("none", "n/a", "...", "…")]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return _numbered(text) if heading == t.ACTIONS else text


def _numbered(text: str) -> str:
    """Every action with a number, each above the one before it."""
    out, last = [], 0
    for line in text.split("\n"):
        item = _BULLET.match(line)
        if item is None:
            out.append(line)
            continue
        last = max(last + 1, int(item["n"] or 0))
        out.append(f"{last}. {item['rest']}")
    return "\n".join(out)
