"""Secrets whose name stands lines or columns away: Terraform variables, form parts, cookie files, `.netrc`, `redis.conf`."""

from __future__ import annotations

from clew.redact.found import Span, line_start
from clew.redact.headers import secret_pair
from clew.redact.lazy import lazy
from clew.redact.names import Holds, holds
from clew.redact.plausible import quoted_secret
from clew.redact.values import literal, wordy

_GUTTER = r"(?:[^\S\n]*\d{1,6}[|:→\t-])?[^\S\n]*[+\-]?"
_LINE = r"(?:\r?\n|\\+r\\+n|\\+n)"
_DEFAULT = lazy(r"default[ \t]{1,20}=[ \t]{0,4}\\{0,7}\"(?![,:}\]])([^\"\\\n]{4,512})\\{0,7}\"")
# A variable's head and what may stand between it and its default.
_VARIABLE = lazy(
    rf"variable[ \t]+\\{{0,7}}\"([\w\-]{{2,80}})\\{{0,7}}\"[ \t]*\{{(?:{_LINE}{_GUTTER}[^\S\n]*(?:type|description|sensitive|nullable)[ \t]*=[^\n{{}}]{{0,200}}?){{0,4}}{_LINE}{_GUTTER}[^\S\n]*\Z"
)
_PART = lazy(rf"form-data; name=\\*\"([\w.\-\[\]]{{2,80}})\\*\"{_LINE}{_LINE}([^\r\n\\\"]{{4,1024}})")
_COOKIE_LINE = lazy(r"E\t/\t(?:TRUE|FALSE)\t\d{1,15}\t([^\s\\]{1,128})\t([^\s\\\"']{4,4096})")
_NETRC = lazy(
    rf"(?:login|user|account)[ \t]+\S{{1,128}}(?:[ \t]+|(?P<over>{_LINE}){_GUTTER}[ \t]*)password[ \t]+(?P<value>[^\s\"'\\,]{{3,256}})"
)
_NETRC_LEAD = lazy(rf"{_GUTTER}[^\S\n]*(?:(?:machine[ \t]+\S{{1,256}}|default)[ \t]+)?")
_REDIS = lazy(r"(?:requirepass|masterauth)[ \t]{1,20}(?:\\*[\"'](?![,:}\]]))?([^\s\"'\\]{4,512})")
# Lines whose secret may stand on a line below.
_OPEN = lazy(
    r".*variable[ \t]+\\*\"[\w\-]{2,80}\\*\"[ \t]*\{[ \t]*\r?|.*form-data; name=.*"
    rf"|{_GUTTER}[^\S\n]*(?:(?:type|description|sensitive|nullable)[ \t]*=.*|(?:(?:machine[ \t]+\S{{1,256}}|default)[ \t]*)?(?:login[ \t]+\S{{1,128}})?[ \t]*\r?)"
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
    if (
        match is not None
        and match["over"]
        and _NETRC_LEAD.fullmatch(text, line_start(text, position), position) is None
    ):
        return []
    if match is None or not literal(match["value"]) or (match["value"].isalpha() and wordy(match["value"])):
        return []
    return [Span(match.start("value"), match.end("value"), "netrc")]


def at_redis(text: str, position: int) -> list[Span]:
    """`requirepass …`, `masterauth …`."""
    match = _REDIS.match(text, position)
    if match is None or not literal(match[1]) or not (any(map(str.isdigit, match[1])) or not wordy(match[1])):
        return []
    return [Span(match.start(1), match.end(1), "env-assignment")]


def goes_on_below(line: str) -> bool:
    """Whether a line below may give what this one names; a stream holds it until then."""
    return bool(line.strip()) and _OPEN.fullmatch(line) is not None
