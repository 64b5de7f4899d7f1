"""From a text to its secrets: an engine says where to look, the rules say what is there, what overlaps is merged."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Protocol

from clew.redact import assignments, headers, pem, phrases, tokens, urls
from clew.redact.engine_hyperscan import HyperscanEngine
from clew.redact.engine_stdlib import StdlibEngine
from clew.redact.found import Finding, Span
from clew.redact.marks import MARK, OPENING, Marks
from clew.redact.triggers import Kind, Place


class Engine(Protocol):
    """Finds the places where a rule is worth trying."""

    name: str

    def places(self, raw: bytes) -> set[Place]:
        """Every such place in a text of one byte a character."""


_RULES = {
    Kind.PREFIX: tokens.at_prefix,
    Kind.INFIX: tokens.at_infix,
    Kind.FLAG: phrases.at_flag,
    Kind.ELEMENT: phrases.at_element,
    Kind.SCHEME: urls.at_scheme,
    Kind.HOOK: urls.at_hook,
    Kind.BEARER: headers.bearer,
    Kind.BASIC: headers.basic,
    Kind.COMMAND: phrases.at_command,
    Kind.SQL: phrases.at_sql,
    Kind.NETRC: phrases.at_netrc,
    Kind.PHONE: phrases.at_phone,
    Kind.MENTION: phrases.at_mention,
    Kind.PRIVATE_KEY: pem.at_private_key,
}
# What `code_file` leaves out beside assignments: in source these are fixtures and documentation.
_NOISY = frozenset([Kind.FLAG, Kind.ELEMENT, Kind.SQL, Kind.NETRC])


@lru_cache(maxsize=1)
def default() -> Engine:
    """The fast engine where the extra `redact-fast` is installed."""
    return HyperscanEngine() if find_spec("hyperscan") is not None else StdlibEngine()


def spans(text: str, engine: Engine, *, code_file: bool) -> list[Span]:
    """The secrets in a text, in order, none touching another."""
    found: set[Span] = set()
    for position, kind in engine.places(text.encode("ascii", "replace")):
        if kind is Kind.SEPARATOR:
            found.update(assignments.at_separator(text, position, code_file=code_file))
        elif not (code_file and kind in _NOISY):
            found.update(_RULES[kind](text, position))
    return _merged(sorted(found))


def _merged(found: list[Span]) -> list[Span]:
    out: list[Span] = []
    for span in found:
        if out and span.start < out[-1].end:
            last = out[-1]
            family = last.family if (last.end - last.start) >= (span.end - span.start) else span.family
            out[-1] = Span(last.start, max(last.end, span.end), family)
        else:
            out.append(span)
    return out


def findings(text: str, engine: Engine, marks: Marks, *, code_file: bool) -> list[Finding]:
    """The secrets and their marks. What an earlier pass has marked is left as it is, and its numbers are taken."""
    found = spans(text, engine, code_file=code_file)
    old = list(MARK.finditer(text)) if OPENING in text else []
    out, next_old = [], 0
    for span in found:
        while next_old < len(old) and old[next_old].end() <= span.start:
            marks.seen(old[next_old])
            next_old += 1
        if next_old < len(old) and old[next_old].start() < span.end:
            continue
        mask = marks.give(text[span.start : span.end], private_key=span.family == pem.FAMILY)
        out.append(Finding(span.start, span.end, span.family, mask))
    for mark in old[next_old:]:
        marks.seen(mark)
    return out


def apply(text: str, found: list[Finding]) -> str:
    """The text with its secrets replaced."""
    if not found:
        return text
    pieces, position = [], 0
    for finding in found:
        pieces += (text[position : finding.start], finding.mask)
        position = finding.end
    pieces.append(text[position:])
    return "".join(pieces)
