"""Where in a text a rule is worth trying.

Both engines answer the same question, "at which places does which trigger stand", and neither decides anything: the
rules look at the text around each place, in Python, and say what is a secret. So the engines can't disagree on results
as long as they agree on places; what one of them reports beyond that costs time only.
"""

from __future__ import annotations

import enum
import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from clew.redact import pem
from clew.redact.lazy import lazy
from clew.redact.names import ANCHORS
from clew.redact.tokens import JWT_LEAST, infixes, shapes


class Kind(enum.IntEnum):
    """Which rule to try."""

    PREFIX = 0
    INFIX = 1
    SEPARATOR = 2
    FLAG = 3
    ELEMENT = 4
    SCHEME = 5
    HOOK = 6
    BEARER = 7
    BASIC = 8
    COMMAND = 9
    SQL = 10
    NETRC = 11
    PHONE = 12
    MENTION = 13
    PRIVATE_KEY = 14


# A place in a text, and what stands there. Texts have one byte a character when they get here.
Place = tuple[int, Kind]

# Literals, in lower case, found in any case.
LITERALS: tuple[tuple[Kind, str], ...] = (
    (Kind.SCHEME, "://"),
    (Kind.HOOK, "hooks.slack"),
    (Kind.HOOK, "hooks/"),
    (Kind.HOOK, "hook.office.com/"),
    (Kind.HOOK, "hooks.zapier.com/"),
    (Kind.BEARER, "bearer "),
    (Kind.BEARER, "bearer%20"),
    (Kind.BASIC, "basic "),
    (Kind.COMMAND, " -u "),
    (Kind.COMMAND, " --user "),
    (Kind.COMMAND, " --user="),
    (Kind.COMMAND, " --proxy-user "),
    (Kind.COMMAND, " -p"),
    (Kind.COMMAND, " -a "),
    (Kind.SQL, "identified "),
    (Kind.SQL, "password '"),
    (Kind.NETRC, "login "),
    *((Kind.PRIVATE_KEY, anchor.lower()) for anchor in pem.ANCHORS),
)
# Of several that share a beginning or a middle, the part that is searched for.
STEMS = (*ANCHORS, "hook", "bearer", " -")

# Of fixed length, in the case given.
FIXED: tuple[tuple[Kind, str, int], ...] = (
    (Kind.PHONE, r"\+[1-9][0-9 ().\-]{6}", 8),
    (Kind.MENTION, r"<[@#][0-9]{17}", 19),
    (Kind.MENTION, r"<@[!&][0-9]{17}", 20),
)

NAME_TAIL = r"[a-z0-9_.\-]{0,24}"
CLOSERS = r"[\"'`\\\])?]{0,8}[ \t]{0,8}"
LISTED = r"[\"'\\]{1,8}[ \t]{0,4}"
NAMES = "|".join(re.escape(anchor) for anchor in ANCHORS)


@dataclass(frozen=True, slots=True)
class Expression:
    """One pattern for an engine that reports where matches end: `back` from there to the place."""

    pattern: str
    kind: Kind
    back: int
    caseless: bool


@lru_cache(maxsize=1)
def expressions() -> tuple[Expression, ...]:
    """All triggers as patterns that any regular-expression engine knows."""
    out = [
        Expression(f"(?:{NAMES}){NAME_TAIL}{CLOSERS}[:=]", Kind.SEPARATOR, 1, caseless=True),
        Expression(rf"(?:{NAMES}){NAME_TAIL}{LISTED},", Kind.SEPARATOR, 1, caseless=True),
        Expression(rf"-[a-z0-9_\-]{{0,60}}(?:{NAMES}){NAME_TAIL} ", Kind.FLAG, 1, caseless=True),
        Expression(rf"<[a-z0-9_:.\-]{{0,60}}(?:{NAMES}){NAME_TAIL}>", Kind.ELEMENT, 1, caseless=True),
        Expression(rf"eyJ[A-Za-z0-9_\-]{{{JWT_LEAST}}}", Kind.PREFIX, 3 + JWT_LEAST, caseless=False),
    ]
    out += [Expression(re.escape(literal), kind, len(literal), caseless=True) for kind, literal in LITERALS]
    out += [Expression(pattern, kind, length, caseless=False) for kind, pattern, length in FIXED]
    for kind, table in ((Kind.PREFIX, shapes()), (Kind.INFIX, infixes())):
        for shape in table:
            body = f"[{shape.alphabet}]{{{shape.least}}}" if shape.least else ""
            out.append(Expression(shape.prefix + body, kind, shape.prefix_length + shape.least, caseless=False))
    return tuple(out)


_ITEM = lazy(r"\[((?:\\.|[^\]\\])+)\]|\\(.)|(.)")


def heads(prefix: str, most: int = 16) -> list[str]:
    """The literal strings a prefix can begin with; a class that stands for too many ends them."""
    found = [""]
    for match in _ITEM.finditer(prefix):
        one_of = _members(match[1]) if match[1] is not None else [match[2] or match[3]]
        if len(found) * len(one_of) > most:
            break
        found = ["".join(pair) for pair in itertools.product(found, one_of)]
    return found


def _members(inside: str) -> list[str]:
    return [chr(c) for c in range(33, 127) if re.fullmatch(f"[{inside}]", chr(c)) is not None]
