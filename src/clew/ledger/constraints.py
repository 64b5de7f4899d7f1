"""Constraints and preferences: sentences of users that bind later work, verbatim, and which a later one replaces."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from clew.ledger import topics
from clew.ledger.cues import binding
from clew.ledger.facts import Constraint
from clew.ledger.scope import apart
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
            released = self._release(said, position)
            if released or (self._lift(said, position) and not topics.forbids(said)):
                pass  # it says no more than that
            elif found == "constraint":
                self._add(sentence, position, "constraint")
            elif found == "preference" or self._changed(said) is not None:
                self._add(sentence, position, "preference")
            if not standing and len(text) <= _OWN and topics.ends_wait(said):
                self._waited(said, position)
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
        if not topics.changes(said) or said.rstrip().endswith(("?", "？")):
            return None
        kind, topic = topics.kind(said), topics.topic(said)
        for i in reversed(self._current[-_LOOK_BACK:]):
            fact = self.facts[i]
            same = (topic and topic == fact.topic) or (kind not in ("", "number") and topics.kind(fact.text) == kind)
            if same and topics.alters(said, fact.text):
                return i
        return None

    def _lift(self, said: str, position: int) -> bool:
        """Take back what a permission allows; says whether there was any."""
        if not topics.lifts(said):
            return False
        words = topics.words(said)
        for i in reversed(self._current[-_LOOK_BACK:]):
            fact = self.facts[i]
            if fact.source == position or not topics.forbids(fact.text):
                continue
            if topics.same_act(said, fact.text) and (topics.objects(fact.text) <= words or _ANAPHORA.search(said)):
                self._supersede(i, position)
                return True
        return False

    def _release(self, said: str, position: int) -> bool:
        """Take back what need not be any more: the one, and the newest such, that shares most of its words."""
        words = topics.released(said)
        known = [i for i in self._current[-_LOOK_BACK:] if self.facts[i].source != position] if words else []
        best = max(known, key=lambda i: (len(words & topics.parts(self.facts[i].text)), i), default=-1)
        if best < 0 or 2 * len(words & topics.parts(self.facts[best].text)) < len(words):
            return False
        self._supersede(best, position)
        return True

    def _waited(self, said: str, position: int) -> None:
        """What was held back "until I say so" is ordered now."""
        words = topics.words(said)
        for i in [i for i in self._current[-_LOOK_BACK:] if self.facts[i].source != position]:
            if topics.for_now(self.facts[i].text) and words & topics.words(self.facts[i].text):
                self._supersede(i, position)

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
    if not topics.changes(new.text) and apart(new.text, old.text):
        return False
    if new.topic == "branch" and topics.branch(new.text) == topics.branch(old.text) != "":
        return False
    if new.topic and new.topic == old.topic:
        return topics.kind(new.text) == topics.kind(old.text) or not topics.kind(old.text)
    if new.topic and old.topic:
        return False
    kind = topics.kind(new.text)
    if kind and topics.masked(new.text) == topics.masked(old.text):
        return True
    if kind and kind == topics.kind(old.text) and topics.alters(new.text, old.text):
        return kind != "number" or bool(topics.words(new.text) & topics.words(old.text) or _ANAPHORA.search(new.text))
    a, b = topics.chosen(new.text), topics.chosen(old.text)
    if a & b and a != b | a and topics.changes(new.text):
        return True
    return len(a) > 1 and len(b) > 1 and a == b and new.text.lower() != old.text.lower()
