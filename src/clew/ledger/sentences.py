"""Prose taken apart into sentences, verbatim; code, quotations, logs and tables left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 60_000  # characters of a text that are looked at
_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*(?P<info>[^\n`]*)$", re.MULTILINE)
_BREAK = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(*_`\[]*[A-ZÀ-ÖØ-Þ0-9$`/@a-z぀-ヿ一-鿿])|(?<=[。！？])\s*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|z\.B|d\.h|bzw|No|Nr|Dr|Mr|Mrs|Ms)\.|\.\.\.)[\"')]*$"
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|[a-z][.)]|#{1,6})\s+")
_WRAP = 50  # characters under which a line isn't one that was broken at a width
_GOES_ON = re.compile(r"\s*(?:[a-z(`]|[A-Z][\w/.-]* [a-z])")
_LOG = re.compile(
    r"^\s*(?:\d{1,6}[→|:\t]|[+\-]{1,3}[ \t]{2,}|@@|\||[-=─━*#]{4,}|at \S+ ?\(|File \"|\$ |➜|>>>|\d{4}-\d\d-\d\d[T ]\d\d:"
    r"|={2,}|\S+\.\w{1,5}:\d+(?::\d+)?: |-{3} (?:FAIL|PASS|SKIP|a/)|\+{3} b/|</?\w[\w-]*[ >/]|[{}\[\]]\s*$|//|/\*|\*/)|[;{]\s*$|^\s*\w+\([^)]*\):?\s*$"
)


def paragraphs(text: str) -> Iterator[str]:
    """Lines of prose, without bullets, fenced code, quotations and what looks like a log or a diff."""
    held = ""
    for raw in _without_code(text[:LONGEST]).split("\n"):
        line = raw.rstrip("\r")
        if not line.strip() or line.lstrip().startswith(">") or _LOG.search(line) is not None:
            if held:
                yield held
            held = ""
            continue
        if held and _wrapped(held, line):
            held = f"{held} {line.strip()}"
            continue
        if held:
            yield held
        held = _BULLET.sub("", line).strip()
    if held:
        yield held


def _without_code(text: str) -> str:
    """Without fenced code. A fence that meets another's opening was never closed, and what follows it is prose."""
    if "```" not in text and "~~~" not in text:
        return text
    marks = list(_FENCE.finditer(text))
    out, at, i = [], 0, 0
    while i < len(marks):
        closed = i + 1 < len(marks) and not marks[i + 1]["info"].strip()
        out.append(text[at : marks[i].start()])
        at = marks[i + 1].end() if closed else marks[i].end()
        i += 2 if closed else 1
    return "".join(out) + text[at:]


def _wrapped(held: str, line: str) -> bool:
    """Whether a line goes on with the sentence of the one before: writers of rule files break theirs at a width."""
    return (
        len(held) >= _WRAP and held[-1] not in ".!?:;。！？" and _GOES_ON.match(line) is not None and len(held) < 1_200
    )


def sentences(text: str) -> Iterator[str]:
    """Sentences in order, each as it stands in the text."""
    for line in paragraphs(text):
        start = 0
        for m in _BREAK.finditer(line):
            if _ABBREVIATED.search(line[max(0, start) : m.start() + 1].rstrip()):
                continue
            piece = line[start : m.end()].strip()
            if piece:
                yield piece
            start = m.end()
        if line[start:].strip():
            yield line[start:].strip()


_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]{2,}\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]|(?<![\w])'[^'\n]{4,}'(?!\w)")


def unquoted(sentence: str) -> str:
    """The sentence with everything quoted blanked out: what its writer says himself."""
    return _QUOTED.sub("…", sentence)
