"""Prose taken apart into sentences, verbatim; code, quotations, logs and tables left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 60_000  # characters of a text that are looked at
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_BREAK = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(*_`\[]*[A-ZÀ-ÖØ-Þ0-9$`/@a-z])|(?<=[。！？])\s*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|z\.B|d\.h|bzw|No|Nr|Dr|Mr|Mrs|Ms)\.|\.\.\.)[\"')]*$"
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|[a-z][.)]|#{1,6})\s+")
_LOG = re.compile(
    r"^\s*(?:\d{1,6}[→|:\t]|[+\-]{1,3}[ \t]{2,}|@@|\||[-=─━*#]{4,}|at \S+ ?\(|File \"|\$ |➜|>>>|\d{4}-\d\d-\d\d[T ]\d\d:"
    r"|={2,}|-{3} (?:FAIL|PASS|SKIP|a/)|\+{3} b/|</?\w[\w-]*[ >/]|[{}\[\]]\s*$|//|/\*|\*/)|[;{]\s*$|^\s*\w+\([^)]*\):?\s*$"
)


def paragraphs(text: str) -> Iterator[str]:
    """Lines of prose, without bullets, fenced code, quotations and what looks like a log or a diff."""
    for raw in _FENCE.sub("\n", text[:LONGEST]).split("\n"):
        line = raw.rstrip("\r")
        if not line.strip() or line.lstrip().startswith(">") or _LOG.search(line) is not None:
            continue
        yield _BULLET.sub("", line).strip()


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
