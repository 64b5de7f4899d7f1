"""Decisions: choices made and causes found, with their reasons; options turned down are none."""

from __future__ import annotations

import re

from clew.ledger.facts import Decision
from clew.ledger.sentences import sentences, unquoted

_LONGEST = 500
_CHOICE = re.compile(
    r"\b(?:i['’]?ve|i\s+have|we['’]?ve|we)?\s*decided\s+(?:to|on|that|against)\b|\b(?:going|go|went)\s+with\b|\b(?:i|we)\s+chose\b|\bchose\s+to\b|\bopted\s+(?:for|to)\b|\bsettled\s+on\b"
    r"|\b(?:i['’]?ll|i\s+will|i['’]?m\s+going\s+to|we['’]?ll|we\s+will|let['’]?s|let\s+me)\s+(?:just\s+|also\s+|therefore\s+|instead\s+)?(?:use|switch|go\s+with|keep|stick\s+(?:to|with)|replace|make|adopt|implement|extract|move|treat|take)\b.{0,120}?\b(?:because|since|so\s+that|instead|rather\s+than|to\s+avoid|to\s+keep|which)\b"
    r"|\b(?:i['’]?ll|i\s+will|we['’]?ll|let['’]?s)\s+(?:use|go\s+with|go\s+for|stick\s+(?:to|with)|switch\s+to|adopt)\b"
    r"|\b(?:root\s+cause|the\s+(?:actual\s+|real\s+|underlying\s+|core\s+)?(?:cause|culprit|problem|issue|bug)|the\s+reason)\s+(?:\w+\s+){0,4}?(?:is|was|here\s+is|turned\s+out)\b(?!\s+(?:not\s+clear|unclear|now|fixed|that\s+i))"
    r"|\b(?:the|my|a\s+better|best|proper|correct|right|simplest|cleanest)\s+(?:\w+\s+)?(?:fix|solution|approach|plan|way|option)\s+(?:\w+\s+){0,3}?(?:is|was|would\s+be|will\s+be)\s+to\b|\bthe\s+(?:\w+\s+)?fix\s+is\b|\bthe\s+fix\s*:|\broot\s+cause\s*:"
    r"|\b(?:i\s+)?recommend(?:ation)?\s*(?::|is\b|\w+ing\b|option\b|keeping\b)|\bdecision\s*:|\bchosen\s+(?:approach|option)\b"
    r"|\b(?:this|that)\s+(?:confirms|means)\s+(?:that\s+)?(?:the|it|we|our)\b"
    r"|\bturns\s+out\b"
    r"|\b(?:ich\s+(?:nehme|verwende|benutze|habe\s+mich\s+entschieden)|wir\s+(?:nehmen|verwenden)|die\s+ursache\s+ist|je\s+vais\s+utiliser|j['’]ai\s+(?:choisi|décidé)|la\s+cause\s+(?:est|es)|voy\s+a\s+usar|he\s+decidido|decidí)\b|决定|我将使用|采用|根本原因|原因是|することにしました|ことにする|原因は",
    re.IGNORECASE,
)
_USER_CHOICE = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|yes|yeah|yep|sure|right|alright|good|great|cool|perfect|no|so|hmm)[,.!:]?\s+)*"
    r"(?:let['’]?s\s+(?:do|go|use|keep|stick|add|make|take|try|skip|drop|move|update|call)\b|(?:do|go\s+with|take|pick|use|choose|implement)\s+(?:option\s+)?(?:#?\d+\b|[A-D]\b|option\b|the\s+(?:first|second|third|last|latter|former)\b)"
    r"|go\s+(?:with|for)\b|option\s+(?:\d|[a-d])\b|we(?:['’]ll|\s+will)?\s+(?:go\s+with|use|decided)\b|i\s+(?:decided|chose|choose|pick)\b)"
    r"|\bi(?:['’]?d|\s+would)\s+(?:rather|prefere?)\b|\b(?:i\s+)?decided\s+to\b|\bgoing\s+with\b",
    re.IGNORECASE,
)
_TURNED_DOWN = re.compile(
    r"\b(?:rejected|ruled\s+out|discarded|dismissed|considered\s+but|decided\s+against|won['’]?t\s+use|not\s+going\s+(?:to|with)|could\s+(?:also\s+)?(?:use|go\s+with)|alternatively|one\s+option|another\s+option|option\s+[a-z\d]\s*:|might\s+be|could\s+be|would\s+you\s+like|should\s+(?:i|we)\b|if\s+(?:you|we)\s+(?:want|prefer|go))\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|i\s+(?:guess|wonder)|not\s+sure|let\s+me\s+(?:check|see|look|verify|try|understand|find))\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:\bbecause\b|\bsince\b|\bso\s+that\b|\bin\s+order\s+to\b|\bto\s+avoid\b|\bas\s+(?:it|this|that|the)\b|\bdue\s+to\b|\bweil\b|\bdamit\b|\bparce\s+que\b|\bporque\b|因为|なので|ため)\s*(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_THOUGHT = re.compile(r"^(?:THOUGHT|Thought|Reasoning|Plan)\s*:\s*")


class Decisions:
    def __init__(self) -> None:
        self.facts: list[Decision] = []
        self._known: set[str] = set()

    def user(self, position: int, text: str) -> None:
        if len(text) > 4_000:
            return
        for sentence in sentences(text):
            said = unquoted(sentence)
            if _USER_CHOICE.search(said) and not said.rstrip().endswith(("?", "？")) and _SHORT.search(said):
                self._add(sentence, position)

    def assistant(self, position: int, text: str) -> None:
        for sentence in sentences(text):
            said = _THOUGHT.sub("", unquoted(sentence))
            if (
                _CHOICE.search(said) is None
                or said.rstrip().endswith(("?", "？"))
                or _TURNED_DOWN.search(said) is not None
                or _UNSURE.search(said) is not None
            ):
                continue
            self._add(_THOUGHT.sub("", sentence), position)

    def _add(self, sentence: str, position: int) -> None:
        plain = " ".join(sentence.lower().split())
        if len(sentence) > _LONGEST or len(sentence) < 12 or plain in self._known:
            return
        self._known.add(plain)
        reason = _REASON.search(sentence)
        self.facts.append(Decision(sentence, position, reason[1].strip() if reason is not None else ""))


_SHORT = re.compile(r"\w+\W+\w+")
