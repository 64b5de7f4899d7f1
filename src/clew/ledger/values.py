"""Values used later: ports, versions, ids, URLs, amounts, addresses, codes, variables of the environment.

One counts when a user, the agent or a call names it and it is seen twice or passed to a call.
"""

from __future__ import annotations

import re
from dataclasses import replace

from clew.ledger.facts import Value

_BOUND = 12_000  # characters of a text that are looked at
_RESULT_BOUND = 4_000  # the same of a result: what it alone holds has no name yet
_FORMS = r"""
    (?P<url>https?://[^\s<>"'`)\]}|\\]+)
  | (?P<email>\b[\w.+-]+@[\w-]+\.[\w.-]*\w)
  | (?P<amount>[$€£]\s?\d[\d,]*(?:\.\d+)?\b)
  | (?P<address>\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?\b | \blocalhost:\d{2,5}\b)
  | (?P<port>\b[Pp]ort(?:\s+(?:number\s+)?|\s*[:=]\s*|\s+is\s+)(\d{2,5})\b | --port[= ](\d{2,5})\b)
  | (?P<variable>\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b)
  | (?P<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)
  | (?P<version>\bv\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?\b | \b\d+\.\d+\.\d+(?:-[\w.]+)?\b)
  | (?P<ticket>(?<![\w/])\#\d{2,7}\b | \b[A-Z]{2,10}-\d{1,6}\b)
  | (?P<code>\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,10}\b)
  | (?P<id>\b[a-z]+(?:_[a-z]+)*_\d{3,}\b)
  | (?P<hash>\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b)
"""
# What holds no value is passed over a word at a time: most of a text is letters that nothing here begins with. A word is
# passed only where none of the forms could begin in it, so that the same values are found as by the forms alone.
_WORD = r"(?!(?:[Pp]ort\b|[0-9a-f]{8}-))(?:[A-Za-z]++(?!_)|[a-z_]++)"
_VALUE = re.compile(
    rf"""
    (?: [^\w$€£\#.+-]++
      | (?<![\w.+-]) {_WORD} (?: [.+-] {_WORD} )*+ (?![\w.+@:-])
      | \d++ (?![\w.+@-])
      | (?! {re.sub(r"[(][?]P<[a-z]+>", "(?:", _FORMS)} ) (?s:.)
    )*+
    (?: {_FORMS} | \Z )
    """,
    re.VERBOSE,
)
_NAME = re.compile(r"([A-Za-z][\w ]{1,30}?)\s*(?:\bis\b|:|=)\s*[`\"']?$")


class Values:
    """Candidates are counted once a message; those that only results held wait without a name."""

    def __init__(self) -> None:
        self._seen: dict[str, Value] = {}
        self._named: dict[str, None] = {}
        self._passed: set[str] = set()

    def facts(self) -> tuple[Value, ...]:
        return tuple(v for n in self._named if (v := self._seen[n]).uses >= 2 or n in self._passed)

    def observe(self, position: int, text: str, who: str) -> None:
        """Take a text in; `who` is "user", "agent", "call" or "result"."""
        if not text:
            return
        bound = _RESULT_BOUND if who == "result" else _BOUND
        piece = text if len(text) <= bound else text[: bound * 2 // 3] + "\n" + text[-bound // 3 :]
        found: dict[str, tuple[str, int]] = {}
        for m in _VALUE.finditer(piece):
            kind = m.lastgroup
            if kind is None:
                continue
            value = m[kind].rstrip(".,;:!?*_'") if kind == "url" else m[kind]
            if kind == "port":
                value = re.sub(r"\D", "", value)
            found.setdefault(value, (kind, m.start(kind)))
        for value, (kind, at) in found.items():
            known = self._seen.get(value)
            if known is None:
                name = _NAME.search(piece[max(0, at - 40) : at].split("\n")[-1])
                self._seen[value] = Value(value, position, name[1].strip() if name is not None else "", kind)
            else:
                self._seen[value] = replace(known, uses=known.uses + 1)
            if who != "result":
                self._named.setdefault(value)
            if who == "call":
                self._passed.add(value)
