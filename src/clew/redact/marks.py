"""What stands where a secret stood.

`[REDACTED]`, with the first and last four characters of a long one: `[REDACTED:ghp_...x9Kq]`. Two secrets that would
read the same are told apart by a number counted in order of appearance, `[REDACTED#2]`: it says "another one" and
nothing else. A digest would say which one in every text, and would let a short password be guessed offline.
"""

from __future__ import annotations

import re

from clew.redact.lazy import lazy

LONG = 18
HINT = 4
OPENING = "[REDACTED"
MARK = lazy(
    r"\[REDACTED(?P<base>(?: PRIVATE KEY)?(?::[^\s\[\]\"'\\#&;,<>]{1,8}\.\.\.[^\s\[\]\"'\\#&;,<>]{1,8})?)(?:#(?P<n>\d{1,9}))?\]"
)
_SHOWABLE = lazy(r"[A-Za-z0-9_\-+/=.~:@%!*]{4}")
# A key is the same key however its line ends are spelt.
_LINE_ENDS = lazy(r"(?:\\+[nrt]|\s)+")


class Marks:
    """The marks given within one text so far: equal secrets, equal marks; different secrets, different marks."""

    __slots__ = ("_count", "_given")

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def copy(self) -> Marks:
        """As many marks given, apart from here on."""
        other = Marks()
        other._given.update(self._given)
        other._count.update(self._count)
        return other

    def seen(self, mark: re.Match[str]) -> None:
        """A mark that an earlier pass left in the text: its number is taken."""
        base = mark["base"]
        self._count[base] = max(self._count.get(base, 0), int(mark["n"] or 1))

    def give(self, secret: str, *, private_key: bool = False) -> str:
        """The mark for that secret."""
        identity = _LINE_ENDS.sub("", secret) if private_key else secret
        mark = self._given.get(identity)
        if mark is None:
            base = " PRIVATE KEY" if private_key else _hint(secret)
            number = self._count[base] = self._count.get(base, 0) + 1
            mark = f"{OPENING}{base}{f'#{number}' if number > 1 else ''}]"
            self._given[identity] = mark
        return mark


def _hint(secret: str) -> str:
    first, last = secret[:HINT], secret[-HINT:]
    if len(secret) < LONG or _SHOWABLE.fullmatch(first) is None or _SHOWABLE.fullmatch(last) is None:
        return ""
    return f":{first}...{last}"
