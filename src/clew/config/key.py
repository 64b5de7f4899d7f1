"""One key of the settings: what it accepts, from a file, a text or a caller, and what it says when it doesn't."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from clew import jsonio
from clew.config.fields import Check, Secret

Kind: TypeAlias = Literal["bool", "int", "number", "text", "texts", "secret", "map"]

_WANTS = {
    "bool": "true or false",
    "int": "a whole number",
    "number": "a number",
    "text": "text",
    "texts": "a list of texts",
    "secret": "text",
    "map": "a mapping",
}
_DIGITS = re.compile(r"[-+]?\d+(\.\d+)?")
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True)
class Key:
    """One leaf of the schema under its dotted name."""

    name: str
    kind: Kind
    nullable: bool
    default: Any
    doc: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    others: bool
    spelled: Mapping[str, str]
    check: Check | None

    def accept(self, value: Any) -> Any:
        """The value as the settings hold it; ValueError says what was wanted. A secret is never quoted."""
        if value is None or value == "":
            if self.nullable:
                return None
            if value is None and self.kind in ("texts", "map"):
                return () if self.kind == "texts" else {}
        accepted = _TYPED[self.kind](value)
        if accepted is None:
            raise ValueError(f"wants {_WANTS[self.kind]}, got {_named(value)}{self._slip(value)}")
        if isinstance(accepted, (int, float)) and not isinstance(accepted, bool):
            self._in_range(accepted)
        if self.choices:
            accepted = self._chosen(accepted)
        if self.kind in ("text", "texts") and not all(map(_clean, (accepted,) if self.kind == "text" else accepted)):
            raise ValueError("holds a control character")
        complaint = self.check(accepted) if self.check else ""
        if complaint:
            raise ValueError(complaint)
        return accepted

    def parse(self, text: str) -> Any:
        """The value a text stands for, from the environment or the command line; lists as JSON or with commas."""
        text = text.strip()
        if self.nullable and text in ("", "null", "~"):
            return None
        return self.accept(self._read(text))

    def _read(self, text: str) -> Any:
        try:
            if self.kind == "bool":
                return _WORDS.get(text.lower(), text)
            if self.kind == "int":
                return int(text)
            if self.kind == "number":
                return float(text)
            if self.kind == "map" or (self.kind == "texts" and text.startswith("[")):
                return jsonio.loads(text)
        except ValueError:
            wanted = "a mapping as JSON" if self.kind == "map" else _WANTS[self.kind]
            raise ValueError(f"wants {wanted}, got {shown(text)}") from None
        if self.kind == "texts":
            return [item.strip() for item in text.split(",") if item.strip()]
        return text

    def range(self) -> str:
        """The accepted values in words, for messages and the reference."""
        if self.choices:
            return ", ".join(self.choices) + (", …" if self.others else "")
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"{self.low:g} or more"
        return {"bool": "true, false", "int": "whole number", "number": "number", "secret": "`${NAME}` or text"}.get(
            self.kind, {"texts": "list of texts", "map": "mapping"}.get(self.kind, "text")
        )

    def _in_range(self, value: float) -> None:
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            percent = self.high is not None and self.high <= 1 and 1 < value <= 100
            raise ValueError(
                f"wants {self.range()}, got {value:g}" + (f": {value:g}% is {value / 100:g}" if percent else "")
            )

    def _chosen(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._choice(item) for item in value)
        return self._choice(value)

    def _choice(self, value: str) -> str:
        value = self.spelled.get(value.lower(), value)
        for choice in self.choices:
            if choice.lower() == value.lower():
                return choice
        slip = nearest(value, (*self.choices, *self.spelled))
        if not self.others or slip:
            raise ValueError(f"wants {self.range()}; got {shown(value)}" + (f"; did you mean {slip}?" if slip else ""))
        return value

    def _slip(self, value: Any) -> str:
        if self.kind in ("text", "secret") and isinstance(value, (bool, int, float)):
            return "; put it in quotes"
        if self.kind in ("bool", "int", "number") and isinstance(value, str):
            known = _WORDS if self.kind == "bool" else ()
            if value.lower() in known or (self.kind != "bool" and _DIGITS.fullmatch(value.strip())):
                return "; leave the quotes out"
        return ""


def nearest(word: str, known: Sequence[str], cutoff: float = 0.75) -> str:
    """The known word a mistyped one most likely meant, or ""."""
    import difflib  # stated reason: only a mistake needs it, and `import clew` shouldn't pay for it

    found = difflib.get_close_matches(word, known, n=1, cutoff=cutoff)
    return found[0] if found else ""


def shown(text: str, limit: int = 40) -> str:
    """A user's text in a message: quoted, short, and hidden where it has the look of a credential."""
    if re.search(r"[A-Za-z0-9_\-+/=]{20,}|://[^/\s]*@", text):
        return "a text (not shown: it may be a credential)"
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def _named(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"the number {value}" if abs(value) < 1e15 else "a huge number"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    return (
        "a mapping"
        if isinstance(value, Mapping)
        else "a list"
        if isinstance(value, (list, tuple))
        else "something else"
    )


def _clean(text: str) -> bool:
    return not any(c < " " or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in text)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def _secret(value: Any) -> Secret | None:
    if isinstance(value, Secret):
        return value
    return Secret(value.strip()) if isinstance(value, str) else None


_TYPED: dict[str, Callable[[Any], Any]] = {
    "bool": lambda v: v if isinstance(v, bool) else None,
    "int": lambda v: v if isinstance(v, int) and not isinstance(v, bool) and abs(v) < 2**53 else None,
    "number": _number,
    "text": lambda v: v if isinstance(v, str) else None,
    "texts": _texts,
    "secret": _secret,
    "map": lambda v: dict(v) if isinstance(v, Mapping) else None,
}
