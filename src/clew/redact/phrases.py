"""Secrets that follow no separator: command-line flags, SQL, XML elements; and people: phones, mentions."""

from __future__ import annotations

import re

from clew.redact.found import REACH, Span, line_start
from clew.redact.headers import cookie
from clew.redact.lazy import lazy
from clew.redact.names import Holds, holds
from clew.redact.plausible import algorithm, quoted_secret, thought_up
from clew.redact.values import literal, opaque, wordy

_FLAG = lazy(r"-{1,2}([A-Za-z][A-Za-z0-9_\-]{2,60}) +(?:\\*[\"'])?([^\s\"'`\\;|&<>()]{4,4096})")
_SHORT = lazy(
    r" (?:-u|--user|--proxy-user|-a|--auth)(?:=| {1,4})(?:\\*[\"'])?(?:([^\s\"':\\$<]{0,128}):(?:\\*[\"'])?([^\s\"'\\\[][^\s\"'\\]{2,511})|([^\s\"':\\$<]{8,128}):(?=[\"']))"
)
_HTTPIE = lazy(r"(?<![\w./:\-])(?:https?|xhs?|httpie)(?: [^|;\n]*)?$")
_CLIENT = lazy(r"\b(?:curl|wget|http|https|xh|httpie)\b")
_GIVEN = lazy(r" -(?P<flag>[paPwUk]|pw)(?P<space> *)(?:\\*[\"'])?(?P<value>[^\s\"'`\\;|&$<>\-][^\s\"'`\\;|&]{3,256})")
# Whose `-p` or `-a` takes a password, and whether a space may stand between.
_TAKERS = lazy(
    r"\b(?:(?P<p_tight>mysql(?:dump|admin|sh|import)?|mariadb(?:-dump|-admin)?|7za?|7zr|(?:un)?rar)|(?P<p_any>sshpass)"
    r"|(?P<p_spaced>(?:docker|podman|nerdctl|buildah|skopeo|helm registry|az|oc|cf|npm|ibmcloud|auth|oras) login|mongo(?:sh|dump|restore|export|import)?"
    r"|twine upload|crackmapexec|netexec|nxc|evil-winrm|psexec|impacket-\w+|net use)"
    r"|(?P<a_spaced>redis-cli)|(?P<P_spaced>unzip|zip|sqlcmd|bcp|isql|mosquitto_(?:pub|sub)|osql|evil-winrm)"
    r"|(?P<w_spaced>ldap(?:search|modify|add|delete|passwd|whoami))|(?P<U_user>smbclient|rpcclient|curlftpfs|net rpc)|(?P<pw_spaced>plink|pscp|psftp)|(?P<k_spaced>openssl enc))\b[^|;\n]*$"
)
_HTPASSWD = lazy(r" -b[cmBd]{0,3} +(?:[^\s\-]\S{0,200} +)?[^\s\-]\S{0,100} +(?:\\*[\"'])?([^\s\"'`\\;|&$<>]{3,256})")
_JAR = lazy(r" (?:-b|--cookie) +(?:\\*[\"'])(?=[^\"'\\]{1,80}=)")
_SQL = lazy(
    r"(?:identified +(?:with +[\w\"'`]{2,40} +)?by|(?:with +)?(?:encrypted +)?password) +\\*(?P<q>[\"'])(?P<value>(?:(?!(?P=q)|\"[ \t]{0,4}[,:}\]])[^\\\n]){3,256})\\*(?P=q)",
    re.IGNORECASE,
)
_SET_PASSWORD = lazy(
    r"password +for +[^\s=]{1,128} *= *(?:password\()?(?:\\*)'(?P<value>[^'\\\n]{3,256})\\*'", re.IGNORECASE
)
# What stands before the blank, and after it.
_DEFINES = lazy(
    r"(?<![\w.\-$])(?:setx|set -g?x|setenv|config(?:ure)? set|env|arg|#define) {1,8}(?P<name>[\w./:\-@]{2,120})\Z",
    re.IGNORECASE | re.ASCII,
)
_DEFINED = lazy(r"[ \t]+(?:\\{0,7}[\"'])?([^\s\"'`\\]{4,4096})")
_PIPED = lazy(
    r"\b(?:echo|printf)(?: +-[ne]{1,2})?(?: +\\*[\"']%s(?:\\+n)?\\*[\"'])? +\\*[\"']?([^\s\"'`\\|$<>-][^\s\"'`\\|]{3,256})\\*[\"']? *\|[^|]*\Z"
)
_SECURE = lazy(r"convertto-securestring +(?:-String +)?\\*[\"'](?![,:}\]])([^\"'\\\n]{4,256})\\*[\"']", re.IGNORECASE)
_SAID = lazy(
    r"\b(?P<name>[\w.\-]{0,40}(?:password|passwd|passphrase|passcode|pwd|secret|token|(?:api|access|secret|private|license|account|auth)[ _-]?key))(?P<prose>(?: [A-Za-z0-9@.'\-]{1,40}){0,8}?)(?P<says> is:?| to|:)\Z",
    re.IGNORECASE,
)
_SEPARATED = lazy(r"[._/:-]")
_SAID_VALUE = lazy(r" {1,4}(?:\\{0,7}[\"'])?[`*]{0,2}([^\s\"'`*<>\\]{6,256})")
_LAST_WORD = lazy(r"[A-Za-z0-9_.\-]{2,80}\Z")
_CELL = lazy(r"\|[ `*]{0,42}([^\s|`*\"'\\]{4,4096})[ `*]{0,200}(?:\||\\+[nrt]|[\"'\r\n]|\Z)")
_MIXED = lazy(r"[A-Za-z][^()]{0,60}\d|\d[^()]{0,60}[A-Za-z]")
_JWK_PRIVATE = lazy(r"\\*\"(?:d|k|p|q|dp|dq|qi)\\*\"[ \t]{0,4}:[ \t]{0,4}\\*\"([A-Za-z0-9_\-=]{16,2048})")
_ELEMENT = lazy(r"<(?:[\w:.\-]{2,40}[ \t]+(?:key|name|id)=\\*[\"'])?([\w:.\-]{2,60})(?:\\*[\"'])?>([^<>\n]{4,1024})</")
_PHONE = lazy(
    r"(?:\+[1-9](?:\d{7,14}|\d{0,2}(?:[ .-]?\(0\)[ .-]?\d{1,4})?(?:[ .\-\u2010-\u2013\u00a0]\(?\d{1,8}\)?){2,5})"
    r"|\+[1-9]\d{0,2}-\d{9,11}|%2[Bb][1-9]\d{7,14}|\([2-9]\d\d\) ?[2-9]\d\d[ .-]\d{4})(?![\w+/=]|[.:-]\d)"
)
_PHONE_NAME = lazy(r"(?:phone|tel|mobile|cell|contact|fax|sms|whatsapp|from|to|number)=\Z", re.IGNORECASE)
# Also as Go's JSON spells the brackets.
_MENTION = lazy(r"(?:<|u003[Cc])(?:@(?:!|&|\\+u0026)?|#)(\d{17,20})(?:>|\\+u003[Ee])")
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
    if match[1] == "auth" and len(value) >= 20:
        what = Holds.TOKEN
    if what not in {Holds.PASSWORD, Holds.SECRET, Holds.TOKEN} or not literal(value) or value.isupper():
        return []
    plain = what is Holds.PASSWORD and thought_up(value)
    if not (plain or opaque(value) or (what is not Holds.TOKEN and _MIXED.search(value) is not None)):
        return []
    return [Span(match.start(2), match.start(2) + len(value), "command-line")]


def at_command(text: str, position: int) -> list[Span]:
    """`curl -u user:password`, `sshpass -p password`, `mysql -ppassword`."""
    start = line_start(text, position, 400)
    short = _SHORT.match(text, position)
    if short is not None and (
        text[short.start() + 1 : short.start() + 4] != "-a " or _HTTPIE.search(text, start, position)
    ):
        group = 2 if short[2] is not None else 3
        value = short[group]
        if value.startswith("//") or not literal(value):
            return []
        # A command goes on over lines; without its name in sight, only what is surely no port or word.
        good = _CLIENT.search(text, start, position) is not None or opaque(value)
        return [Span(short.start(group), short.end(group), "command-line")] if good else []
    jar = _JAR.match(text, position)
    if jar is not None:
        return cookie(text, jar.end(), text[jar.end() - 1])
    if text.startswith(" -b", position):
        return _htpasswd(text, start, position)
    given = _GIVEN.match(text, position)
    if given is None or not literal(given["value"]):
        return []
    taker = _TAKERS.search(text, start, position)
    if taker is None:
        return []
    if given["flag"] == "U":
        user, percent, password = given["value"].partition("%")
        at = given.start("value") + len(user) + 1
        return [Span(at, at + len(password), "command-line")] if taker["U_user"] and percent and password else []
    if not _takes(taker, given["flag"], bool(given["space"])):
        return []
    if given["value"].isalpha() and wordy(given["value"]) and taker["p_any"] is None:
        return []
    return [Span(given.start("value"), given.end("value"), "command-line")]


def _htpasswd(text: str, start: int, position: int) -> list[Span]:
    match = _HTPASSWD.match(text, position)
    if match is None or text.find("htpasswd", start, position) < 0 or not literal(match[1]):
        return []
    return [Span(match.start(1), match.end(1), "command-line")]


def at_define(text: str, position: int) -> list[Span]:
    """`ENV API_TOKEN …`, `setx API_KEY …`, `#define API_KEY "…"`, `npm config set //host/:_authToken …`."""
    name = _DEFINES.search(text[line_start(text, position, 140) : position])
    given = _DEFINED.match(text, position) if name is not None else None
    if name is None or given is None:
        return []
    what, value = holds(name["name"].rsplit(":", 1)[-1]), given[1].rstrip(",;")
    if what not in {Holds.PASSWORD, Holds.SECRET, Holds.TOKEN} or not literal(value):
        return []
    plain = what is Holds.PASSWORD and thought_up(value)
    if not (
        plain or opaque(value) or (what is not Holds.TOKEN and any(c.isdigit() for c in value) and "=" not in value)
    ):
        return []
    return [Span(given.start(1), given.start(1) + len(value), "env-assignment")]


def at_piped(text: str, position: int) -> list[Span]:
    """`echo … | docker login --password-stdin`, `echo … | sudo -S`: what the pipe begins with."""
    start = line_start(text, position, 400)
    changes = text.startswith("chpasswd", position)
    if text[position - 2 : position] != "--" and text[position : position + 4] != "sudo" and not changes:
        return []
    match = _PIPED.search(text, start, position)
    if match is None or not literal(match[1]):
        return []
    user = match[1].find(":") + 1 if changes else 0
    return [Span(match.start(1) + user, match.end(1), "command-line")]


def at_secure_string(text: str, position: int) -> list[Span]:
    """`ConvertTo-SecureString "…" -AsPlainText`."""
    match = _SECURE.match(text, position)
    if match is None or not literal(match[1]):
        return []
    return [Span(match.start(1), match.end(1), "command-line")]


def at_said(text: str, position: int) -> list[Span]:
    """`A temporary password is generated for root@localhost: …`."""
    said = _SAID.search(text[line_start(text, position, 140) : position])
    given = _SAID_VALUE.match(text, position) if said is not None else None
    if said is None or given is None or not (said["prose"] or said["says"] != ":"):
        return []
    value = given[1].rstrip(".,;:)!?") if given[1][-1] in ".,;:)" else given[1]
    if len(value) < 6 or not literal(value) or "(" in value:
        return []
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    if said["name"].lower().endswith(("secret", "token", "key")):
        good = mixed and len(value) >= 16 and opaque(value)
    else:
        good = opaque(value) or (mixed and (not wordy(value) or not (_SEPARATED.search(value) or algorithm(value))))
    return [Span(given.start(1), given.start(1) + len(value), "prose")] if good else []


def at_cell(text: str, position: int) -> list[Span]:
    """`| DB_PASSWORD | … |`: a row of a table, its name's cell closed at that place."""
    lead = text[line_start(text, position, 140) : position].rstrip(" ").rstrip("`*")
    name = _LAST_WORD.search(lead)
    cell = _CELL.match(text, position)
    if name is None or cell is None:
        return []
    what, value = holds(name[0]), cell[1]
    if what not in {Holds.PASSWORD, Holds.SECRET, Holds.TOKEN} or not literal(value):
        return []
    if not (
        opaque(value)
        or (what is Holds.PASSWORD and (not wordy(value) or thought_up(value)))
        or ((name[0].isupper() or "_" in name[0]) and _MIXED.search(value))
    ):
        return []
    return [Span(cell.start(1), cell.end(1), "table-cell")]


def at_jwk(text: str, position: int) -> list[Span]:
    """The private members of a JSON Web Key, on the line where its `kty` stands."""
    low = line_start(text, position, REACH // 2)
    low = max(low, text.rfind("{", low, position))
    high = text.find("}", position, position + REACH // 2)
    high = high if high >= 0 else min(len(text), position + REACH // 2)
    return [Span(m.start(1), m.end(1), "json-field") for m in _JWK_PRIVATE.finditer(text, low, high)]


def _takes(taker: re.Match[str], flag: str, spaced: bool) -> bool:
    if flag != "p":
        return taker[f"{flag}_spaced"] is not None and spaced
    if taker["p_any"] is not None:
        return True
    return taker["p_spaced"] is not None if spaced else taker["p_tight"] is not None


def at_sql(text: str, position: int) -> list[Span]:
    """`IDENTIFIED BY '…'`, `PASSWORD '…'`."""
    match = _SQL.match(text, position) or _SET_PASSWORD.match(text, position)
    if match is None or not quoted_secret(Holds.PASSWORD, "password", match["value"]):
        return []
    return [Span(match.start("value"), match.end("value"), "sql")]


def at_element(text: str, position: int) -> list[Span]:
    """`<password>…</password>`, where the `>` of the opening tag stands at that place."""
    start = text.rfind("<", max(0, position - 64), position)
    match = _ELEMENT.match(text, start) if start >= 0 else None
    if match is None or text[match.end(1) : position].strip("\\\"'"):
        return []
    what = holds(match[1])
    if what in {Holds.QUERY, Holds.COOKIE} or not quoted_secret(what, match[1], match[2]):
        return []
    return [Span(match.start(2), match.end(2), "xml-element")]


def at_phone(text: str, position: int) -> list[Span]:
    """A phone number in international form."""
    match = _PHONE.match(text, position)
    before = text[position - 1 : position]
    if match is None or before.isalnum() or before in {"+", ")", "]", "/", "_", ".", "-"}:
        return []
    if before == "=" and _PHONE_NAME.search(text, max(0, position - 40), position) is None:
        return []
    digits = re.sub(r"\D", "", match[0].removeprefix("%2B").removeprefix("%2b"))
    if match[0][0] == "(":  # North America's own spelling
        digits = f"1{digits}"
    if not 8 <= len(digits) <= 15 or not any(digits[:n] in _CODES for n in (1, 2, 3)):
        return []
    if digits[0] == "1" and len(digits) != 11:
        return []
    return [Span(position, match.end(), "phone")]


def at_mention(text: str, position: int) -> list[Span]:
    """A Discord mention: the id of a person, a role or a channel."""
    match = _MENTION.match(text, position)
    return [] if match is None else [Span(match.start(1), match.end(1), "discord-mention")]
