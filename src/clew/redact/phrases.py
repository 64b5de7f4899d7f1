"""Secrets that follow no separator: command-line flags, SQL, `.netrc`, XML elements; and people: phones, mentions."""

from __future__ import annotations

import re

from clew.redact.found import Span, line_start
from clew.redact.lazy import lazy
from clew.redact.names import Holds, holds
from clew.redact.plausible import quoted_secret
from clew.redact.values import literal, opaque, wordy

_FLAG = lazy(r"-{1,2}([A-Za-z][\w\-]{2,60}) +(?:\\*[\"'])?([^\s\"'`\\;|&<>()]{4,4096})")
_SHORT = lazy(
    r" (?:-u|--user|--proxy-user)(?:=| {1,4})(?:\\*[\"'])?(?:([^\s\"':\\$<]{0,128}):(?:\\*[\"'])?([^\s\"'\\\[][^\s\"'\\]{2,511})|([^\s\"':\\$<]{8,128}):(?=[\"']))"
)
_CLIENT = lazy(r"\b(?:curl|wget|http|https|xh|httpie)\b")
_GIVEN = lazy(r" -(?P<flag>[pa])(?P<space> *)(?:\\*[\"'])?(?P<value>[^\s\"'`\\;|&$<>\-][^\s\"'`\\;|&]{3,256})")
# Whose `-p` or `-a` takes a password, and whether a space may stand between.
_TAKERS = lazy(
    r"\b(?:(?P<p_tight>mysql(?:dump|admin|sh|import)?|mariadb)|(?P<p_any>sshpass)|(?P<p_spaced>docker login|mongo(?:sh|dump)?|podman login)|(?P<a_spaced>redis-cli))\b[^|;\n]*$"
)
_SQL = lazy(
    r"(?:identified +(?:with +[\w\"'`]{2,40} +)?by|(?:with +)?(?:encrypted +)?password) +(?:\\*)'([^'\\\n]{3,256})\\*'",
    re.IGNORECASE,
)
_NETRC = lazy(r"(?:login|user|account)[ \t]+\S{1,128}[ \t]+password[ \t]+([^\s\"'\\,]{3,256})")
_ELEMENT = lazy(r"<([\w:.\-]{2,60})>([^<>\n]{4,1024})</")
_PHONE = lazy(r"\+[1-9](?:\d{7,14}|\d{0,2}(?:[ .-]\(?\d{1,4}\)?){2,5})(?![\w+/=]|[.:-]\d)")
_MENTION = lazy(r"<(?:@[!&]?|#)(\d{17,20})>")
# Calling codes that are assigned; with them, numbers that only follow a plus (a diff's, an offset's) fall out.
_CODES_AS_TEXT = """
    1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90
    91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240
    241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291
    297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389
    420 421 423 500 501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677
    678 679 680 681 682 683 685 686 687 688 689 690 691 692 800 808 850 852 853 855 856 870 878 880 881 882 883 886 888 960
    961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 979 992 993 994 995 996 998
"""
_CODES = frozenset(_CODES_AS_TEXT.split())


def at_flag(text: str, position: int) -> list[Span]:
    """`--password hunter2`: the flag's value, where the space after its name stands at that place."""
    start = line_start(text, position, 80)
    dashes = text.rfind(" -", start, position)
    dashes = dashes + 1 if dashes >= 0 else start
    match = _FLAG.match(text, dashes)
    if match is None or match.end(1) != position or match[2].startswith("-"):
        return []
    what, value = holds(match[1]), match[2].rstrip(",.")
    if what not in {Holds.PASSWORD, Holds.SECRET, Holds.TOKEN} or not literal(value) or value.isupper():
        return []
    if not (opaque(value) or (what is not Holds.TOKEN and not value.isalpha() and any(c.isdigit() for c in value))):
        return []
    return [Span(match.start(2), match.start(2) + len(value), "command-line")]


def at_command(text: str, position: int) -> list[Span]:
    """`curl -u user:password`, `sshpass -p password`, `mysql -ppassword`."""
    start = line_start(text, position, 400)
    short = _SHORT.match(text, position)
    if short is not None:
        group = 2 if short[2] is not None else 3
        value = short[group]
        if value.startswith("//") or not literal(value):
            return []
        # A command goes on over lines; without its name in sight, only what is surely no port or word.
        good = _CLIENT.search(text, start, position) is not None or opaque(value)
        return [Span(short.start(group), short.end(group), "command-line")] if good else []
    given = _GIVEN.match(text, position)
    if given is None or not literal(given["value"]):
        return []
    taker = _TAKERS.search(text, start, position)
    if taker is None or not _takes(taker, given["flag"], bool(given["space"])):
        return []
    if given["value"].isalpha() and wordy(given["value"]) and taker["p_any"] is None:
        return []
    return [Span(given.start("value"), given.end("value"), "command-line")]


def _takes(taker: re.Match[str], flag: str, spaced: bool) -> bool:
    if flag == "a":
        return taker["a_spaced"] is not None and spaced
    if taker["p_any"] is not None:
        return True
    return taker["p_spaced"] is not None if spaced else taker["p_tight"] is not None


def at_sql(text: str, position: int) -> list[Span]:
    """`IDENTIFIED BY '…'`, `PASSWORD '…'`."""
    match = _SQL.match(text, position)
    if match is None or not quoted_secret(Holds.PASSWORD, "password", match[1]):
        return []
    return [Span(match.start(1), match.end(1), "sql")]


def at_netrc(text: str, position: int) -> list[Span]:
    """`login NAME password …`."""
    match = _NETRC.match(text, position)
    if match is None or not literal(match[1]) or (match[1].isalpha() and wordy(match[1])):
        return []
    return [Span(match.start(1), match.end(1), "netrc")]


def at_element(text: str, position: int) -> list[Span]:
    """`<password>…</password>`, where the `>` of the opening tag stands at that place."""
    start = text.rfind("<", max(0, position - 64), position)
    match = _ELEMENT.match(text, start) if start >= 0 else None
    if match is None or match.end(1) != position or not quoted_secret(holds(match[1]), match[1], match[2]):
        return []
    return [Span(match.start(2), match.end(2), "xml-element")]


def at_phone(text: str, position: int) -> list[Span]:
    """A phone number in international form."""
    match = _PHONE.match(text, position)
    before = text[position - 1 : position]
    if match is None or before.isalnum() or before in {"+", ")", "]", "=", "/", "_", ".", "-"}:
        return []
    digits = re.sub(r"\D", "", match[0])
    if not 8 <= len(digits) <= 15 or not any(digits[:n] in _CODES for n in (1, 2, 3)):
        return []
    if digits[0] == "1" and (len(digits) != 11 or digits[1] in "01"):
        return []
    return [Span(position, match.end(), "phone")]


def at_mention(text: str, position: int) -> list[Span]:
    """A Discord mention: the id of a person, a role or a channel."""
    match = _MENTION.match(text, position)
    return [] if match is None else [Span(match.start(1), match.end(1), "discord-mention")]
