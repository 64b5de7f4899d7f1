"""Where in a text a rule is worth trying.

Both engines answer the same question, "at which places does which trigger stand", and neither decides anything: the
rules look at the text around each place, in Python, and say what is a secret. So the engines can't disagree on results
as long as they agree on places; what one of them reports beyond that costs time only.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from functools import lru_cache

from clew.redact import pem
from clew.redact.names import ANCHORS
from clew.redact.tokens import JWT_LEAST, Shape, infixes, shapes


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
    DEFINE = 15
    JWK = 16
    PHONE = 12
    MENTION = 13
    PRIVATE_KEY = 14
    PIPED = 17
    ORACLE = 18
    CELL = 19
    SAID = 20
    SIGNS = 21
    LOGIN = 22
    DEFAULT = 23
    PART = 24
    JAR = 25
    REDIS = 26
    SECURE = 27
    DSN = 28


# A place in a text, and what stands there. Texts have one byte a character when they get here.
Place = tuple[int, Kind]

# Literals, in lower case, found in any case.
LITERALS: tuple[tuple[Kind, str], ...] = (
    (Kind.SCHEME, "://"),
    (Kind.SCHEME, ":\\/\\/"),
    (Kind.DSN, "@tcp("),
    (Kind.ORACLE, "oracle:thin:"),
    (Kind.ORACLE, "oracle:oci"),
    (Kind.HOOK, "hooks.slack"),
    (Kind.HOOK, "hooks/"),
    (Kind.HOOK, "hook.office.com/"),
    (Kind.HOOK, "hooks.zapier.com/"),
    (Kind.BEARER, "bearer "),
    (Kind.BEARER, "bearer%20"),
    (Kind.BASIC, "basic "),
    (Kind.JWK, '"kty'),
    (Kind.COMMAND, " -u "),
    (Kind.COMMAND, " -w "),
    (Kind.COMMAND, " -b "),
    (Kind.COMMAND, " -bc "),
    (Kind.COMMAND, " --cookie "),
    (Kind.COMMAND, " --user "),
    (Kind.COMMAND, " --user="),
    (Kind.COMMAND, " --proxy-user "),
    (Kind.COMMAND, " -p"),
    (Kind.COMMAND, " -a "),
    (Kind.COMMAND, " -k "),
    (Kind.COMMAND, " --auth "),
    (Kind.COMMAND, " --auth="),
    (Kind.PIPED, "password-stdin"),
    (Kind.PIPED, "sudo -s "),
    (Kind.PIPED, "chpasswd"),
    (Kind.SECURE, "convertto-securestring "),
    (Kind.SQL, "identified "),
    (Kind.SQL, "password '"),
    (Kind.SQL, "password for "),
    (Kind.SQL, 'password "'),
    (Kind.NETRC, "login "),
    (Kind.REDIS, "requirepass "),
    (Kind.REDIS, "masterauth "),
    (Kind.DEFAULT, "default "),
    (Kind.PART, "form-data; name="),
    (Kind.JAR, "e\t/\t"),
    (Kind.LOGIN, "login("),
    *((Kind.SIGNS, f"jwt.{verb}(") for verb in ("sign", "verify", "encode", "decode")),
    *((Kind.PRIVATE_KEY, anchor.lower()) for anchor in pem.ANCHORS),
)
# Of several that share a beginning or a middle, the part that is searched for.
STEMS = (*ANCHORS, "hook", " -", "oracle:", "login")

# Of fixed length, in the case given.
FIXED: tuple[tuple[Kind, str, int], ...] = (
    (Kind.PHONE, r"\+[1-9][0-9 ().\-]{6}", 8),
    (Kind.PHONE, r"%2[Bb][1-9][0-9]{7}", 11),
    (Kind.PHONE, r"\([2-9][0-9]{2}\)[ 2-9]", 6),
    (Kind.MENTION, r"<[@#][0-9]{17}", 19),
    (Kind.MENTION, r"<@[!&][0-9]{17}", 20),
    (Kind.MENTION, r"u003[Cc][@#][0-9!&\\]", 7),
)

NAME_TAIL = r"[a-z0-9_.\-]{0,24}"
CLOSERS = r"(?:%5d)?[\"'`*\\\])?]{0,8}[ \t]{0,40}[?|+]{0,2}"
LISTED = r"\]?[\"'\\]{1,8}[ \t]{0,4}"
# `process.env.API_KEY || "…"`, `getenv("API_KEY") or "…"`; from its end back to the operator.
FALLBACK = r"[\"')\]]{0,4} (?:\|\||\?\?|or) [\"'`]"
FALLBACK_BACK = 4
CALLED = r"\([\"'`\\]"
# `password for root is: …`: the words between, and what ends them.
SAID_NAMES = ("pass", "pw", "secret", "token", "key")
PROSE = r"[ a-z0-9@.'\-]{0,60}"
SAYS = r"(?: is:?| to|:)"
# Words before a name, a blank and a value: `setx API_KEY …`, `ENV API_TOKEN …`, `npm config set //host/:_authToken …`.
DEFINERS = r"(?:setx|set -g?x|setenv|config(?:ure)? set|env|arg|#define)"
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
        Expression(f"(?:{NAMES}){NAME_TAIL}{CALLED}", Kind.SEPARATOR, 2, caseless=True),
        Expression(rf"-[a-z0-9_\-]{{0,60}}(?:{NAMES}){NAME_TAIL} ", Kind.FLAG, 1, caseless=True),
        Expression(
            rf"{DEFINERS} {{1,8}}[a-z0-9_./:\-@]{{0,120}}(?:{NAMES}){NAME_TAIL}[ \t]", Kind.DEFINE, 1, caseless=True
        ),
        Expression(f"(?:{NAMES}){NAME_TAIL}{FALLBACK}", Kind.SEPARATOR, FALLBACK_BACK, caseless=True),
        Expression(f"(?:{'|'.join(SAID_NAMES)}){NAME_TAIL} (?:is:?|to|{PROSE}{SAYS}) ", Kind.SAID, 1, caseless=True),
        Expression(rf"(?:{NAMES}){NAME_TAIL}[`*]{{0,2}} {{0,40}}\|", Kind.CELL, 1, caseless=True),
        Expression(rf"(?:{NAMES}){NAME_TAIL}[\"']{{0,1}}>", Kind.ELEMENT, 1, caseless=True),
        Expression(rf"eyJ[A-Za-z0-9_\-]{{{JWT_LEAST}}}", Kind.PREFIX, 3 + JWT_LEAST, caseless=False),
    ]
    out += [Expression(re.escape(literal), kind, len(literal), caseless=True) for kind, literal in LITERALS]
    out += [Expression(pattern, kind, length, caseless=False) for kind, pattern, length in FIXED]
    for shape in shapes():
        out.append(
            Expression(f"{shape.prefix}{_body(shape)}", Kind.PREFIX, shape.prefix_length + shape.least, caseless=False)
        )
    for shape in infixes():
        out.append(
            Expression(
                f"{shape.left}{shape.prefix}{_body(shape)}",
                Kind.INFIX,
                shape.prefix_length + shape.least,
                caseless=False,
            )
        )
    return tuple(out)


def _body(shape: Shape) -> str:
    return f"[{shape.alphabet}]{{{shape.least}}}" if shape.least else ""
