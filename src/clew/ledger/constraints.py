"""Constraints and preferences: sentences of users that bind later work, verbatim, and which a later one replaces."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from clew.ledger import topics
from clew.ledger.cues import binding
from clew.ledger.facts import Constraint
from clew.ledger.sentences import sentences, unquoted

_LONGEST = 600
_OWN = 300  # characters of a last paragraph that is the user's own even below a long paste, and of a mere "go ahead"
_LOOK_BACK = 40  # current constraints that a new one is compared with
_PASTES = re.compile(
    r"\b(?:incorporate|feedback|review(?:er)?s?|reports?|findings|comments?|output|logs?|errors?|failure|trace|got|says?|said|wrote|seeing)\b",
    re.IGNORECASE,
)
_ANAPHORA = re.compile(r"\b(?:it|that|this|them)\b", re.IGNORECASE)


class Constraints:
    """The constraints of one conversation, in the order they were said."""

    def __init__(self) -> None:
        self.facts: list[Constraint] = []
        self._current: list[int] = []
        self._known: dict[str, int] = {}

    def user(self, position: int, text: str, *, standing: bool = False) -> None:
        """Take a user's words in, or a client's standing instructions, which are rules however long."""
        length = 0 if standing else len(text)
        last = text.rstrip().rpartition("\n\n")[2]
        pasted = not standing and _pasted(text)
        for sentence in sentences(text[:pasted] if pasted else text):
            if len(sentence) > _LONGEST or len(sentence) < 4:
                continue
            said = unquoted(sentence)
            own = len(last) if len(last) <= _OWN and sentence in last else length
            found = binding(said, min(length, own)) if " " in sentence or not sentence.isascii() else ""
            if found == "constraint":
                self._add(sentence, position, "constraint")
            elif found == "preference" or self._changed(said) is not None:
                self._add(sentence, position, "preference")
            elif topics.lifts(said):
                self._lift(said, position)
            if not standing and len(text) <= _OWN and topics.sends_off(said):
                self._sent_off(position)

    def _add(self, sentence: str, position: int, kind: Literal["constraint", "preference"]) -> None:
        plain = " ".join(sentence.lower().split())
        known = self._known.get(plain)
        if known is not None and self.facts[known].current:
            return
        fact = Constraint(sentence, position, kind, topics.topic(sentence))
        index = len(self.facts)
        gone = [i for i in self._current[-_LOOK_BACK:] if _replaces(fact, self.facts[i])]
        for i in gone:
            self._supersede(i, position)
            if not fact.topic:
                fact = replace(fact, topic=self.facts[i].topic)
        self.facts.append(fact)
        self._current.append(index)
        self._known[plain] = index

    def _changed(self, said: str) -> int | None:
        """Which current constraint a sentence without a cue of its own alters ("actually make it $500")."""
        kind = topics.kind(said)
        if not topics.changes(said) or not kind or kind == "number" or said.rstrip().endswith("?"):
            return None
        return next((i for i in reversed(self._current[-_LOOK_BACK:]) if topics.kind(self.facts[i].text) == kind), None)

    def _lift(self, said: str, position: int) -> None:
        words = topics.words(said)
        for i in reversed(self._current[-_LOOK_BACK:]):
            fact = self.facts[i]
            if fact.source == position or not topics.forbids(fact.text):
                continue
            if len(words & topics.words(fact.text)) >= 1 and _same_act(said, fact.text):
                self._supersede(i, position)
                return

    def _sent_off(self, position: int) -> None:
        """Who says "go ahead" takes back what was forbidden only "yet"."""
        for i in [i for i in self._current if self.facts[i].source != position]:
            if topics.for_now(self.facts[i].text):
                self._supersede(i, position)

    def _supersede(self, index: int, position: int) -> None:
        self.facts[index] = replace(self.facts[index], superseded_by=position)
        self._current.remove(index)


def _pasted(text: str) -> int:
    """Where a paste begins that the user's first words lead in ("the review says:"); none where they lead in rules."""
    first, gap, rest = text.partition("\n\n")
    led_in = len(first) <= _OWN and first.rstrip().endswith(":") and _PASTES.search(first) is not None
    return len(first) if gap and led_in and len(rest) > _OWN else 0


def _replaces(new: Constraint, old: Constraint) -> bool:
    if new.source == old.source and not topics.corrects(new.text):
        return False
    if new.topic == "branch" and topics.branch(new.text) == topics.branch(old.text) != "":
        return False
    if new.topic and new.topic == old.topic:
        return topics.kind(new.text) == topics.kind(old.text) or not topics.kind(old.text)
    if new.topic and old.topic:
        return False
    kind = topics.kind(new.text)
    if topics.changes(new.text) and kind and kind != "number" and kind == topics.kind(old.text):
        return not new.topic or not old.topic
    if topics.changes(new.text) and _ANAPHORA.search(new.text) and kind == "number" == topics.kind(old.text):
        return True
    a, b = topics.chosen(new.text), topics.chosen(old.text)
    if a & b and a != b | a and topics.changes(new.text):
        return True
    return len(a) > 1 and len(b) > 1 and a == b and new.text.lower() != old.text.lower()


def _same_act(allowed: str, forbidden: str) -> bool:
    """Whether the verb that is allowed is the one that was forbidden."""
    verb = topics.allowed(allowed)
    return bool(verb) and re.search(rf"\b{re.escape(verb[:5])}", forbidden.lower()) is not None
