"""From a text to its secrets: an engine says where to look, the rules say what is there, what overlaps is merged."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Protocol

from clew.redact import assignments, blocks, calls, headers, pem, phrases, tokens, urls
from clew.redact.engine_hyperscan import HyperscanEngine
from clew.redact.engine_stdlib import StdlibEngine
from clew.redact.found import Finding, Span
from clew.redact.lazy import lazy
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
    Kind.ORACLE: urls.at_oracle,
    Kind.DSN: urls.at_dsn,
    Kind.PIPED: phrases.at_piped,
    Kind.CELL: phrases.at_cell,
    Kind.SAID: phrases.at_said,
    Kind.SIGNS: calls.at_signs,
    Kind.LOGIN: calls.at_login,
    Kind.BEARER: headers.bearer,
    Kind.BASIC: headers.basic,
    Kind.COMMAND: phrases.at_command,
    Kind.SQL: phrases.at_sql,
    Kind.NETRC: blocks.at_netrc,
    Kind.DEFAULT: blocks.at_default,
    Kind.PART: blocks.at_part,
    Kind.JAR: blocks.at_jar,
    Kind.REDIS: blocks.at_redis,
    Kind.SECURE: phrases.at_secure_string,
    Kind.DEFINE: phrases.at_define,
    Kind.JWK: phrases.at_jwk,
    Kind.PHONE: phrases.at_phone,
    Kind.MENTION: phrases.at_mention,
    Kind.PRIVATE_KEY: pem.at_private_key,
}
# An index is quicker than the hash of an enumeration's member.
_BY_NUMBER = [_RULES.get(kind, tokens.at_prefix) for kind in sorted(Kind)]
# What `code_file` leaves out beside assignments: in source these are fixtures and documentation.
_NOISY = frozenset(
    [
        Kind.FLAG,
        Kind.ELEMENT,
        Kind.SQL,
        Kind.NETRC,
        Kind.DEFINE,
        Kind.PIPED,
        Kind.CELL,
        Kind.SAID,
        Kind.SIGNS,
        Kind.LOGIN,
        Kind.DEFAULT,
        Kind.REDIS,
        Kind.SECURE,
    ]
)


# After so many looks, a chain of secrets each laid bare by the mark before it is taken for one, so that looks stay few.
_TURNS = 3
_RUN = lazy(r"[\w.~%-]+")


@lru_cache(maxsize=1)
def default() -> Engine:
    """The fast engine where the extra `redact-fast` is installed."""
    try:
        return HyperscanEngine()
    except ImportError:  # not installed, or built for another processor
        return StdlibEngine()


def spans(text: str, engine: Engine, *, code_file: bool) -> list[Span]:
    """The secrets in a text, in order, none touching another."""
    found: set[Span] = set()
    for position, kind in engine.places(text.encode("ascii", "replace")):
        if kind is Kind.SEPARATOR:
            found.update(assignments.at_separator(text, position, code_file=code_file))
        elif not (code_file and kind in _NOISY):
            found.update(_BY_NUMBER[kind](text, position))
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
    """The secrets and their marks. What an earlier pass has marked is left as it is, and its numbers are taken.

    A mark can lay bare what stood against a secret: where a word ended, a token may begin. So what has been marked is
    looked at again, until nothing more is found; that is what makes a second pass change nothing.
    """
    found = spans(text, engine, code_file=code_file)
    for turn in itertools.count():
        if not found:
            break
        trial = marks.copy()
        marked = _marked(text, found, trial)
        more = [_back(span, marked) for span in spans(apply(text, marked), engine, code_file=code_file)]
        fresh = [span for span in more if span is not None and not _touches_mark(text, span)]
        if not fresh:
            break
        if turn >= _TURNS:
            fresh = [Span(span.start, _run_end(text, span.end), span.family) for span in fresh]
        found = _merged(sorted([*found, *fresh]))
    return _marked(text, found, marks)


def _run_end(text: str, position: int) -> int:
    run = _RUN.match(text, position)
    return position if run is None else run.end()


def _marked(text: str, found: list[Span], marks: Marks) -> list[Finding]:
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


def _back(span: Span, marked: list[Finding]) -> Span | None:
    """Where a span of the marked text stands in the text; None when it touches a mark."""
    shift = 0
    for finding in marked:
        start = finding.start + shift
        if start >= span.end:
            break
        if start + len(finding.mask) > span.start:
            return None
        shift += len(finding.mask) - (finding.end - finding.start)
    return Span(span.start - shift, span.end - shift, span.family)


def _touches_mark(text: str, span: Span) -> bool:
    """Whether it overlaps what an earlier pass has marked."""
    low = text.rfind(OPENING, 0, span.end)
    if low < 0:
        return False
    mark = MARK.match(text, low)
    return mark is not None and mark.end() > span.start


def apply(text: str, found: list[Finding]) -> str:
    """The text with its secrets replaced."""
    if not found:
        return text
    pieces: list[str] = []
    position = 0
    for finding in found:
        pieces += (text[position : finding.start], finding.mask)
        position = finding.end
    pieces.append(text[position:])
    return "".join(pieces)
