"""Secrets that are arguments with no name of their own: `jwt.sign(payload, "…")`, `smtp.login("user", "…")`."""

from __future__ import annotations

from clew.redact.found import Span
from clew.redact.lazy import lazy
from clew.redact.names import Holds
from clew.redact.plausible import quoted_secret

# The first argument is skipped: no comma in it but between brackets.
_SIGNS = lazy(
    r"jwt\.[a-z]+\((?:[^\"'`\n(){},]++|\([^()\n]{0,200}+\)|\{[^{}\n]{0,300}+\}){1,20}+,[ ]?\\{0,3}[\"']([^\"'\\\n]{8,512})\\{0,3}[\"']"
)
_LOGIN = lazy(r"login\([ ]?\\{0,3}[\"'][^\"'\\\n]{1,128}\\{0,3}[\"'],[ ]?\\{0,3}[\"']([^\"'\\\n]{4,128})\\{0,3}[\"']")
FAMILY = "code-assignment"


def at_signs(text: str, position: int) -> list[Span]:
    """The key that signs or checks a JWT."""
    match = _SIGNS.match(text, position)
    if match is None or not quoted_secret(Holds.SECRET, "secret", match[1]):
        return []
    return [Span(match.start(1), match.end(1), FAMILY)]


def at_login(text: str, position: int) -> list[Span]:
    """The password after the user's name."""
    match = _LOGIN.match(text, position)
    if match is None or not quoted_secret(Holds.PASSWORD, "password", match[1], bare_list=True):
        return []
    return [Span(match.start(1), match.end(1), FAMILY)]
