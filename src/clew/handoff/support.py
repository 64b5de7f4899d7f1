"""Whether a text holds a value: as a whole, not as a piece of a longer one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

_WORDS = re.compile(r"[^\W\d_]{4,}")
_SPELLED = re.compile(r"\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")
_STEM = 5  # letters of a word that are compared, so that its endings don't matter
_TRIES = 400  # places of a word that are looked at
_LINE = 4_000


class Source:
    """A text that may support statements. What is derived from it is made once, at the first question."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def flat(self) -> str:
        return " ".join(self.text.split())

    @cached_property
    def _lower(self) -> str:
        return self.text.lower()

    @cached_property
    def _units(self) -> frozenset[str]:
        return frozenset(units(self.text))

    @cached_property
    def _spoken(self) -> str:
        return f" {_spelled(self.text)} "

    def said(self, *pieces: str, least: int) -> bool:
        """Whether each piece stands there word for word, whatever its marks and capitals; one of fewer than `least` words
        counts as said.
        """
        words = [w for p in pieces if (w := _spelled(p))]
        return all(w.count(" ") + 1 < least or f" {w} " in self._spoken for w in words)

    def whole(self, value: str, *, within: str = "", fold: bool = False) -> bool:
        """Whether `value` stands there and neither side goes on with a word character or one of `within`."""
        text, wanted = (self._lower, value.lower()) if fold else (self.text, value)
        if not wanted:
            return False
        at = text.find(wanted)
        while at >= 0:
            before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
            if not _joins(before, within) and not _joins(after, within):
                return True
            at = text.find(wanted, at + 1)
        return False

    def starts(self, value: str) -> bool:
        """Whether a word there starts with `value`: a short hash of a long one."""
        at = self.text.find(value)
        while at >= 0:
            if not _joins(self.text[at - 1 : at], ""):
                return True
            at = self.text.find(value, at + 1)
        return False

    def number(self, value: str) -> bool:
        """Whether the number stands there, with or without separators of thousands; 5.1 is none of 5.1.2 or 15.1."""
        plain = value.replace(",", "")
        return any(self._number(x) for x in {value, plain, _grouped(plain)} if x)

    def _number(self, value: str) -> bool:
        text, at = self.text, self.text.find(value)
        joints = ".," if len(value) <= 3 else "."  # 1505,1545 are two numbers, 1,545 is one
        while at >= 0:
            before, after = text[max(0, at - 2) : at], text[at + len(value) : at + len(value) + 2]
            inside = before[-1:].isdigit() or (len(before) == 2 and before[1] in joints and before[0].isdigit())
            longer = after[:1].isdigit() or (len(after) == 2 and after[0] in joints and after[1].isdigit())
            if not inside and not longer:
                return True
            at = text.find(value, at + 1)
        return False

    def near(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.text) is not None

    def together(self, tokens: Iterable[str]) -> bool:
        """Whether one line there holds all of the tokens."""
        listed = sorted(set(tokens), key=len, reverse=True)
        if not listed:
            return True
        at, text = self.text.find(listed[0]), self.text
        for _ in range(_TRIES):
            if at < 0:
                return False
            start = max(text.rfind("\n", 0, at) + 1, at - _LINE)
            end = text.find("\n", at)
            line = text[start : min(end if end >= 0 else len(text), at + _LINE)]
            if all(x in line for x in listed):
                return True
            at = text.find(listed[0], at + 1)
        return False

    def share(self, statement: str) -> tuple[int, float]:
        """How many content words a statement has, and which share of them stands there somewhere."""
        wanted = units(statement)
        return len(wanted), (sum(u in self._units for u in wanted) / len(wanted) if wanted else 1.0)


def units(text: str) -> list[str]:
    """Content words by their first letters; pairs of letters where a script has no spaces."""
    words = [w[:_STEM].lower() for w in _WORDS.findall(_CJK.sub(" ", text))]
    pairs = [run[i : i + 2] for run in _CJK.findall(text) for i in range(len(run) - 1)]
    return words + pairs


def _spelled(text: str) -> str:
    return " ".join(_SPELLED.findall(text.casefold()))


def _joins(character: str, within: str) -> bool:
    return bool(character) and (character.isalnum() or character == "_" or character in within)


def _grouped(plain: str) -> str:
    return f"{int(plain):,}" if plain.isdigit() and len(plain) < 16 else ""
