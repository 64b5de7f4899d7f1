"""Secrets whose name stands lines or columns away: Terraform variables, form parts, cookie files, `.netrc`, `redis.conf`."""

from __future__ import annotations

from clew.redact.found import Span
from clew.redact.headers import secret_pair
from clew.redact.lazy import lazy
from clew.redact.names import Holds, holds
from clew.redact.plausible import quoted_secret
from clew.redact.values import literal, wordy

_GUTTER = r"(?:[^\S\n]*\d{1,6}[|:→\t-])?[^\S\n]*[+\-]?"
_LINE = r"(?:\r?\n|\\+r\\+n|\\+n)"
_DEFAULT = lazy(r"default[ \t]{1,20}=[ \t]{0,4}\\{0,7}\"([^\"\\\n]{4,512})\\{0,7}\"")
# A variable's head and what may stand between it and its default.
_VARIABLE = lazy(
    rf"variable[ \t]+\\{{0,7}}\"([\w\-]{{2,80}})\\{{0,7}}\"[ \t]*\{{(?:{_LINE}{_GUTTER}[^\S\n]*(?:type|description|sensitive|nullable)[ \t]*=[^\n{{}}]{{0,200}}?){{0,4}}{_LINE}{_GUTTER}[^\S\n]*\Z"
)
_PART = lazy(rf"form-data; name=\\*\"([\w.\-\[\]]{{2,80}})\\*\"{_LINE}{_LINE}([^\r\n\\\"]{{4,1024}})")
_COOKIE_LINE = lazy(r"\t/\t(?:TRUE|FALSE)\t\d{1,15}\t([^\s\\]{1,128})\t([^\s\\\"']{4,4096})")
_NETRC = lazy(
    rf"(?:login|user|account)(?:[ \t]+|{_LINE}{_GUTTER}[ \t]*)\S{{1,128}}(?:[ \t]+|{_LINE}{_GUTTER}[ \t]*)password[ \t]+([^\s\"'\\,]{{3,256}})"
)
_REDIS = lazy(r"(?:requirepass|masterauth)[ \t]{1,20}\\*[\"']?([^\s\"'\\]{4,512})")
_OPEN = lazy(
    rf"{_GUTTER}[^\S\n]*(?:variable[ \t]+\\*\"[\w\-]{{2,80}}\\*\"[ \t]*\{{|(?:type|description|sensitive|nullable)[ \t]*=.*|(?i:content-disposition: )?form-data; name=.*"
    r"|(?:machine[ \t]+\S{1,256}|default)?(?:[ \t]*login[ \t]+\S{1,128})?)[ \t]*\r?"
)
_ABOVE = 600


def at_default(text: str, position: int) -> list[Span]:
    """`variable "db_password" { … default = "…" }`."""
    match = _DEFAULT.match(text, position)
    if match is None:
        return []
    low = text.rfind("variable", max(0, position - _ABOVE), position)
    head = _VARIABLE.match(text, low, position) if low >= 0 else None
    if head is None or not quoted_secret(holds(head[1]), head[1], match[1]):
        return []
    return [Span(match.start(1), match.end(1), "toml-assignment")]


def at_part(text: str, position: int) -> list[Span]:
    """A field of a `multipart/form-data` body."""
    match = _PART.match(text, position)
    if match is None:
        return []
    name = match[1].rstrip("]").replace("[", ".")
    if holds(name) not in {Holds.PASSWORD, Holds.SECRET, Holds.TOKEN} or not quoted_secret(holds(name), name, match[2]):
        return []
    return [Span(match.start(2), match.end(2), "form-body")]


def at_jar(text: str, position: int) -> list[Span]:
    """A line of a cookie file, as curl and browsers' exporters write it."""
    match = _COOKIE_LINE.match(text, position)
    if match is None or not secret_pair(match[1], match[2]):
        return []
    return [Span(match.start(2), match.end(2), "cookie")]


def at_netrc(text: str, position: int) -> list[Span]:
    """`login NAME password …`, on one line or three."""
    match = _NETRC.match(text, position)
    if match is None or not literal(match[1]) or (match[1].isalpha() and wordy(match[1])):
        return []
    return [Span(match.start(1), match.end(1), "netrc")]


def at_redis(text: str, position: int) -> list[Span]:
    """`requirepass …`, `masterauth …`."""
    match = _REDIS.match(text, position)
    if match is None or not literal(match[1]) or not (any(map(str.isdigit, match[1])) or not wordy(match[1])):
        return []
    return [Span(match.start(1), match.end(1), "env-assignment")]


def goes_on_below(line: str) -> bool:
    """Whether a line below may give what this one names; a stream holds it until then."""
    return bool(line.strip()) and _OPEN.fullmatch(line) is not None
