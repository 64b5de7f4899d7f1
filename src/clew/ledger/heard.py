"""What users say by way of a tool's result: the words with which they turn a call down, and answers to an agent's questions.

Clients that ask before a call runs hand the user's objection to the agent as that call's result; no user message says it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LONGEST = 20_000
_DECLINED = re.compile(
    r"\A\s*(?:Exit code \d+\s+)?(?:<tool_use_error>\s*)?(?:Error:\s*)?(?:The user doesn['’]t want to (?:proceed|take this action)|\[?Request interrupted|\[Tool use rejected"
    r"|.{0,60}\boperation was aborted|.{0,60}\b(?:user rejected|rejected by (?:the )?user)\b)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\b(?:the user said|reason for the rejection):[ \t]*\n?")
_AFTERWORD = re.compile(r"\n+(?:Note: The user|<system-reminder>)")  # what a client adds below the user's words
_CANNED = "The user wants to clarify these questions"
_ANSWERS = re.compile(r"\A\s*(?:The )?[Uu]ser has answered your questions:?\s*")
_AFTER_ANSWERS = ". You can now continue"
_UNANSWERED = re.compile(r'^- "(?P<question>.+)"\n[ \t]+Answer: (?P<answer>.+)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Answer:
    """A question of the agent's with the user's answer; `text` is both as they stand in the result."""

    text: str
    said: str


def declined(text: str) -> bool:
    """Whether the call never ran, since the user turned it down."""
    return _DECLINED.match(text[:300]) is not None


def objection(text: str) -> str:
    """The user's own words in turning a call down; empty where there are none."""
    if not declined(text):
        return ""
    lead = _WORDS.search(text, 0, _LONGEST)
    if lead is None:
        return ""
    words = text[lead.end() : _LONGEST]
    after = _AFTERWORD.search(words)
    words = (words[: after.start()] if after is not None else words).strip()
    return "" if words.startswith(_CANNED) else words


def answers(text: str) -> list[Answer]:
    """The user's answers to what a tool asked, in order; one that is a question itself is left out."""
    text = text[:_LONGEST]
    lead = _ANSWERS.match(text)
    if lead is not None:
        body = text[lead.end() :].partition(_AFTER_ANSWERS)[0].strip()
        pairs = (p.partition('"="') for p in body.strip('"').split('", "'))
        found = [Answer(f'"{question}"="{said}"', said) for question, eq, said in pairs if eq]
    elif _CANNED in text[:400]:
        found = [Answer(m.group().removeprefix("- "), m["answer"]) for m in _UNANSWERED.finditer(text)]
    else:
        return []
    return [a for a in found if a.said.strip() and not a.said.rstrip().endswith(("?", "？"))]
